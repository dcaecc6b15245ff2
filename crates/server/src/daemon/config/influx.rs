//! `[[influxdb]]`: databases that points are sent to.

use super::ConfigError;
use super::notify::SecretSource;
use crate::parse::duration::parse_span;
use danlu_core::Span;
use danlu_messages::server::metrics as msg;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InfluxConfig {
    /// Without a slash at its end.
    pub url: String,
    pub place: InfluxPlace,
    /// The password of version 1, the token of version 2.
    pub secret: Option<SecretSource>,
    pub interval: Span,
    pub names: PointNames,
}

/// Where in it, and how to be let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfluxPlace {
    /// 1.x.
    One { database: String, user: Option<String> },
    /// 2.x and later.
    Two { org: String, bucket: String },
}

/// Measurements, tags and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointNames {
    #[default]
    Danlu,
    /// Those of the master/slave manager: its panels go on working.
    MasterSlave,
}

const MOST_DATABASES: usize = 8;
const INTERVAL: Span = Span::from_secs(10);
const SHORTEST: Span = Span::from_secs(1);
const LONGEST: Span = Span::from_secs(3_600);

/// `[[influxdb]] url = "http://localhost:8086", version = 1, database = "danlu"` or `version = 2, org = "lab", bucket = "gpus"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InfluxInFile {
    url: String,
    version: Option<u8>,
    database: Option<String>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    password_env: Option<String>,
    org: Option<String>,
    bucket: Option<String>,
    token_file: Option<PathBuf>,
    token_env: Option<String>,
    interval: Option<String>,
    #[serde(default)]
    names: PointNames,
}

impl InfluxConfig {
    /// For people; nothing in it is secret.
    pub(crate) fn label(&self) -> String {
        match &self.place {
            InfluxPlace::One { database, .. } => format!("{} {database}", self.url),
            InfluxPlace::Two { org, bucket } => format!("{} {org}/{bucket}", self.url),
        }
    }
}

pub(super) fn parse(
    entries: Vec<InfluxInFile>,
    from: &str,
) -> Result<Vec<InfluxConfig>, ConfigError> {
    let wrong = |key: &str, what: &str| ConfigError::Metrics {
        path: PathBuf::from(from),
        key: format!("[[influxdb]] {key}"),
        what: what.to_owned(),
    };
    if entries.len() > MOST_DATABASES {
        return Err(wrong("", &msg::too_many_databases(&MOST_DATABASES)));
    }
    let mut known: Vec<InfluxConfig> = Vec::new();
    for entry in entries {
        let url = entry.url.clone();
        let parsed = entry.parse().map_err(|(key, what)| wrong(&format!("{url} {key}"), what))?;
        if known.iter().any(|other| other.label() == parsed.label()) {
            return Err(wrong(&url, msg::database_twice()));
        }
        known.push(parsed);
    }
    Ok(known)
}

type Wrong = (&'static str, &'static str);

impl InfluxInFile {
    fn parse(self) -> Result<InfluxConfig, Wrong> {
        let url = self.url.trim_end_matches('/').to_owned();
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let bad = |it: char| it.is_control() || " @?#".contains(it);
        if rest.is_none_or(|rest| rest.is_empty() || rest.contains(bad)) {
            return Err(("url", msg::bad_url()));
        }
        let password = secret(self.password_file, self.password_env)?;
        let token = secret(self.token_file, self.token_env)?;
        let said = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        let (place, secret) = match self.version.unwrap_or(1) {
            1 => {
                let other = self.org.is_some() || self.bucket.is_some() || token.is_some();
                let database = self.database.filter(|it| !it.is_empty() && !other);
                let database = database.ok_or(("database", msg::needs_database()))?;
                if self.user.is_some() != password.is_some() {
                    return Err(("user", msg::user_and_password()));
                }
                (InfluxPlace::One { database, user: self.user }, password)
            }
            2 => {
                let other = self.database.is_some() || self.user.is_some() || password.is_some();
                let sound = said(&self.org) && said(&self.bucket) && token.is_some() && !other;
                match (self.org, self.bucket) {
                    (Some(org), Some(bucket)) if sound => (InfluxPlace::Two { org, bucket }, token),
                    _ => return Err(("bucket", msg::needs_bucket())),
                }
            }
            _ => return Err(("version", msg::bad_version())),
        };
        let interval = match self.interval.as_deref().map(parse_span) {
            None => INTERVAL,
            Some(span) => span
                .filter(|span| (SHORTEST..=LONGEST).contains(span))
                .ok_or(("interval", msg::bad_interval()))?,
        };
        Ok(InfluxConfig { url, place, secret, interval, names: self.names })
    }
}

fn secret(file: Option<PathBuf>, variable: Option<String>) -> Result<Option<SecretSource>, Wrong> {
    match (file, variable) {
        (Some(_), Some(_)) => Err(("token_file, token_env", msg::token_twice())),
        (Some(path), None) => Ok(Some(SecretSource::File(path))),
        (None, variable) => Ok(variable.map(SecretSource::Variable)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct All {
        influxdb: Vec<InfluxInFile>,
    }

    fn parsed(text: &str) -> Result<Vec<InfluxConfig>, String> {
        let entry = |text: &str| format!("[[influxdb]]\n{}", text.replace("; ", "\n"));
        let text: String = text.split(" / ").map(|text| entry(text) + "\n").collect();
        let all: All = toml::from_str(&text).map_err(|error| error.to_string())?;
        parse(all.influxdb, "danlu.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn both_versions() {
        let told = parsed(concat!(
            "url = \"http://db:8086/\"; database = \"lab\"; user = \"danlu\"; password_env = \"P\"",
            " / url = \"https://db\"; version = 2; org = \"o\"; bucket = \"b\"; token_file = \"/t\"; ",
            "interval = \"1m\"; names = \"master-slave\""
        ));
        let told = told.expect("it is sound");
        assert_eq!(told[0].label(), "http://db:8086 lab");
        assert_eq!((told[0].interval, told[0].names), (INTERVAL, PointNames::Danlu));
        assert_eq!(told[1].label(), "https://db o/b");
        assert_eq!(
            (told[1].interval, told[1].names),
            (Span::from_secs(60), PointNames::MasterSlave)
        );
        assert_eq!(told[1].secret, Some(SecretSource::File("/t".into())));
    }

    #[test]
    fn mistakes_are_named() {
        let one = "url = \"http://db\"; database = \"x\"";
        let two =
            "url = \"http://db\"; version = 2; org = \"o\"; bucket = \"b\"; token_env = \"T\"";
        assert!(parsed(one).is_ok() && parsed(two).is_ok());
        for wrong in [
            "url = \"db:8086\"; database = \"x\"".to_owned(),
            "url = \"http://me:secret@db\"; database = \"x\"".to_owned(),
            "url = \"http://db\"".to_owned(),
            format!("{one}; org = \"o\""),
            format!("{one}; user = \"u\""),
            format!("{one}; password_env = \"P\""),
            format!("{one}; version = 3"),
            format!("{one}; interval = \"100ms\""),
            format!("{one}; names = \"other\""),
            format!("{one}; password = \"secret\""),
            format!("{two}; database = \"x\""),
            two.replace("; token_env = \"T\"", ""),
            format!("{two}; token_file = \"/t\""),
            format!("{one} / {one}"),
        ] {
            assert!(parsed(&wrong).is_err(), "{wrong}");
        }
    }
}

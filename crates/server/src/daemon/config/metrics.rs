//! `[metrics]`: who may read `/metrics`, and whether users are named there.

use super::ConfigError;
use super::notify::SecretSource;
use danlu_messages::server::metrics as msg;
use serde::Deserialize;
use std::net::IpAddr;
use std::path::PathBuf;

/// The token is read from where it is when it is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetricsConfig {
    /// The file says something about it: counting begins with the server.
    pub wanted: bool,
    pub token: Option<SecretSource>,
    pub allow: Vec<AddressRange>,
    pub per_user: bool,
}

/// `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    address: IpAddr,
    /// How many bits are the same for all in it.
    prefix: u8,
}

impl AddressRange {
    pub(crate) fn parse(text: &str) -> Option<AddressRange> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(longest);
        (prefix <= longest).then_some(AddressRange { address, prefix })
    }

    pub(crate) fn contains(&self, other: IpAddr) -> bool {
        match (self.address, other.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl std::fmt::Display for AddressRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.address, self.prefix) {
            (IpAddr::V4(address), 32) => address.fmt(f),
            (IpAddr::V6(address), 128) => address.fmt(f),
            (address, prefix) => write!(f, "{address}/{prefix}"),
        }
    }
}

const MOST_RANGES: usize = 256;

/// `[metrics] token_file = "…"`, `token_env = "…"`, `allow = ["10.0.0.0/8"]`, `per_user = true`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MetricsInFile {
    token_file: Option<PathBuf>,
    token_env: Option<String>,
    allow: Option<Vec<String>>,
    per_user: Option<bool>,
}

impl MetricsInFile {
    /// The keys that the file sets.
    pub(super) fn said(&self) -> [(&'static str, bool); 3] {
        [
            ("metrics.token", self.token_file.is_some() || self.token_env.is_some()),
            ("metrics.allow", self.allow.is_some()),
            ("metrics.per_user", self.per_user.is_some()),
        ]
    }

    pub(super) fn parse(self, from: &str) -> Result<MetricsConfig, ConfigError> {
        let wanted = self.said().iter().any(|(_, is_said)| *is_said);
        let wrong = |key: &str, what: String| ConfigError::Metrics {
            path: PathBuf::from(from),
            key: format!("[metrics] {key}"),
            what,
        };
        let token = match (self.token_file, self.token_env) {
            (Some(_), Some(_)) => {
                return Err(wrong("token_file, token_env", msg::token_twice().to_owned()));
            }
            (Some(path), None) => Some(SecretSource::File(path)),
            (None, Some(name)) => Some(SecretSource::Variable(name)),
            (None, None) => None,
        };
        let given = self.allow.unwrap_or_default();
        if given.len() > MOST_RANGES {
            return Err(wrong("allow", msg::too_many_addresses(&MOST_RANGES)));
        }
        let range = |text: &String| {
            AddressRange::parse(text).ok_or_else(|| wrong("allow", msg::bad_address(text)))
        };
        let allow = given.iter().map(range).collect::<Result<Vec<_>, _>>()?;
        Ok(MetricsConfig { wanted, token, allow, per_user: self.per_user.unwrap_or(false) })
    }
}

impl MetricsConfig {
    /// As `danlu config` lists them: where the token is, not the token.
    pub(super) fn entries(&self) -> [(&'static str, String); 3] {
        let token = self.token.as_ref().map_or_else(|| "none".to_owned(), |it| format!("{it:?}"));
        let allow: Vec<String> = self.allow.iter().map(ToString::to_string).collect();
        [
            ("metrics.token", token),
            ("metrics.allow", allow.join(", ")),
            ("metrics.per_user", self.per_user.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<MetricsConfig, String> {
        let file: MetricsInFile = toml::from_str(text).map_err(|error| error.to_string())?;
        file.parse("danlu.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn addresses_and_networks() {
        let holds = |range: &str, address: &str| {
            let range = AddressRange::parse(range).expect("a range");
            range.contains(address.parse().expect("an address"))
        };
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("192.0.2.7", "192.0.2.7") && !holds("192.0.2.7", "192.0.2.6"));
        assert!(holds("0.0.0.0/0", "203.0.113.9") && !holds("0.0.0.0/0", "2001:db8::1"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1") && !holds("::1", "::2"));
        assert!(holds("::/0", "2001:db8::1"));
    }

    #[test]
    fn mistakes_are_named() {
        for wrong in [
            "allow = [\"10.0.0.0/33\"]",
            "allow = [\"prometheus.example\"]",
            "allow = [\"10.0.0.0/\"]",
            "token_file = \"/x\"\ntoken_env = \"X\"",
            "token = \"secret\"",
            "per_user = \"yes\"",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        let told =
            parsed("allow = [\"127.0.0.1\", \"10.0.0.0/8\"]\ntoken_file = \"/etc/danlu/metrics\"");
        let told = told.expect("it is sound");
        assert!(told.wanted && !told.per_user);
        assert_eq!(told.entries()[0].1, "/etc/danlu/metrics");
        assert_eq!(told.entries()[1].1, "127.0.0.1, 10.0.0.0/8");
        assert!(!parsed("").expect("it is sound").wanted);
    }
}

//! `[notify]` as it is written, and what is wrong with it.

use super::{
    ChannelConfig, EMAIL, EmailConfig, HttpService, MailTls, NotifyConfig, SecretSource, is_known,
};
use crate::daemon::config::ConfigError;
use danlu_core::limits::NAME_BYTES;
use danlu_messages::Language;
use danlu_messages::notify::config as msg;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// More are no help to anybody, and each may have a thread.
const MOST_CHANNELS: usize = 64;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NotifyInFile {
    url: Option<String>,
    language: Option<String>,
    admins: Vec<String>,
    email: Option<EmailInFile>,
    webhook: BTreeMap<String, HttpInFile>,
    slack: BTreeMap<String, HttpInFile>,
    feishu: BTreeMap<String, HttpInFile>,
    dingtalk: BTreeMap<String, HttpInFile>,
    wecom: BTreeMap<String, HttpInFile>,
    ntfy: BTreeMap<String, HttpInFile>,
    command: BTreeMap<String, CommandInFile>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmailInFile {
    /// `smtp://HOST:PORT` or `smtps://HOST:PORT`.
    smtp: String,
    from: String,
    user: Option<String>,
    password_file: Option<PathBuf>,
    password_env: Option<String>,
    tls: Option<MailTls>,
    ca_file: Option<PathBuf>,
    subject: Option<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HttpInFile {
    url: Option<String>,
    url_file: Option<PathBuf>,
    url_env: Option<String>,
    /// For signatures, or the token of ntfy.
    secret_file: Option<PathBuf>,
    secret_env: Option<String>,
    token_file: Option<PathBuf>,
    token_env: Option<String>,
}

impl fmt::Debug for HttpInFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpInFile").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandInFile {
    /// A program with its arguments, or a line for `sh`.
    command: CommandLine,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum CommandLine {
    Line(String),
    Words(Vec<String>),
}

impl NotifyInFile {
    /// The keys that the file sets.
    pub(crate) fn said(&self) -> [(&'static str, bool); 5] {
        let http = [&self.webhook, &self.slack, &self.feishu, &self.dingtalk, &self.wecom];
        let none = http.iter().all(|named| named.is_empty()) && self.ntfy.is_empty();
        [
            ("notify.url", self.url.is_some()),
            ("notify.language", self.language.is_some()),
            ("notify.admins", !self.admins.is_empty()),
            ("notify.email", self.email.is_some()),
            ("notify.channels", !none || !self.command.is_empty()),
        ]
    }

    pub(crate) fn parse(self, from: &str) -> Result<NotifyConfig, ConfigError> {
        let wrong = |key: &str, what: &str| ConfigError::Notify {
            path: PathBuf::from(from),
            key: key.to_owned(),
            what: what.to_owned(),
        };
        let language = self.language.as_deref().map(|language| {
            Language::named(language).ok_or_else(|| wrong("language", msg::language()))
        });
        let url = self.url.map(|url| url.trim_end_matches('/').to_owned());
        if url.as_deref().is_some_and(|url| !is_http(url)) {
            return Err(wrong("url", msg::http_address()));
        }
        let email = self.email.map(EmailInFile::parse).transpose();
        let email = email.map_err(|what| wrong(EMAIL, what))?;
        let mut channels = BTreeMap::new();
        let mut add = |kind: &str, name: String, channel| {
            let key = format!("{kind}.{name}");
            check_name(&name).map_err(|what| wrong(&key, what))?;
            match channels.insert(name, channel) {
                None => Ok(()),
                Some(_) => Err(wrong(&key, msg::name_twice())),
            }
        };
        let http = [
            (HttpService::Webhook, self.webhook),
            (HttpService::Slack, self.slack),
            (HttpService::Feishu, self.feishu),
            (HttpService::Dingtalk, self.dingtalk),
            (HttpService::Wecom, self.wecom),
            (HttpService::Ntfy, self.ntfy),
        ];
        for (service, named) in http {
            for (name, entry) in named {
                let kind = service.as_str();
                let parsed = entry.parse(service);
                let channel = parsed.map_err(|what| wrong(&format!("{kind}.{name}"), what))?;
                add(kind, name, channel)?;
            }
        }
        for (name, CommandInFile { command }) in self.command {
            let command = match command {
                CommandLine::Line(line) => vec!["/bin/sh".to_owned(), "-c".to_owned(), line],
                CommandLine::Words(words) => words,
            };
            if command.last().is_none_or(String::is_empty) {
                return Err(wrong(&format!("command.{name}"), msg::command_empty()));
            }
            add("command", name, ChannelConfig::Command { command })?;
        }
        if channels.len() > MOST_CHANNELS {
            return Err(wrong("channels", &msg::too_many(&MOST_CHANNELS)));
        }
        for to in &self.admins {
            if !is_known(to, email.is_some(), &channels) {
                return Err(wrong("admins", &msg::no_such_channel(to)));
            }
        }
        Ok(NotifyConfig {
            url,
            language: language.transpose()?,
            admins: self.admins,
            email,
            channels,
        })
    }
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let letter = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    let sound = !name.is_empty() && name.len() <= NAME_BYTES && name.chars().all(letter);
    if sound && name != EMAIL { Ok(()) } else { Err(msg::bad_name()) }
}

fn is_http(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

fn secret(file: Option<PathBuf>, variable: Option<String>) -> Result<Option<SecretSource>, ()> {
    match (file, variable) {
        (Some(_), Some(_)) => Err(()),
        (Some(file), None) => Ok(Some(SecretSource::File(file))),
        (None, variable) => Ok(variable.map(SecretSource::Variable)),
    }
}

impl HttpInFile {
    fn parse(self, service: HttpService) -> Result<ChannelConfig, &'static str> {
        let twice = |()| msg::secret_twice();
        let url = match (self.url, secret(self.url_file, self.url_env).map_err(twice)?) {
            (Some(url), None) if is_http(&url) => SecretSource::Here(url),
            (Some(_), None) => return Err(msg::http_address()),
            (None, Some(elsewhere)) => elsewhere,
            (Some(_), Some(_)) => return Err(msg::secret_twice()),
            (None, None) => return Err(msg::url_missing()),
        };
        let signs = secret(self.secret_file, self.secret_env).map_err(twice)?;
        let token = secret(self.token_file, self.token_env).map_err(twice)?;
        let secret = match (service, signs, token) {
            (HttpService::Ntfy, None, token) => token,
            (HttpService::Webhook | HttpService::Feishu | HttpService::Dingtalk, signs, None) => {
                signs
            }
            (_, None, None) => None,
            (_, _, _) => return Err(msg::secret_unused()),
        };
        Ok(ChannelConfig::Http { service, url, secret })
    }
}

impl EmailInFile {
    fn parse(self) -> Result<EmailConfig, &'static str> {
        let (implicit, rest) = match (self.smtp.strip_prefix("smtps://"), &self.smtp) {
            (Some(rest), _) => (true, rest),
            (None, plain) => (false, plain.strip_prefix("smtp://").ok_or(msg::smtp_address())?),
        };
        let rest = rest.trim_end_matches('/');
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| msg::smtp_address())?),
            None => (rest, if implicit { 465 } else { 25 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() || host.contains(['@', '/', ' ']) {
            return Err(msg::smtp_address());
        }
        let password =
            secret(self.password_file, self.password_env).map_err(|()| msg::secret_twice())?;
        if self.user.is_some() != password.is_some() {
            return Err(msg::user_and_password());
        }
        let usual = match (implicit, &self.user) {
            (true, _) => MailTls::Tls,
            (false, Some(_)) => MailTls::Required,
            (false, None) => MailTls::Starttls,
        };
        let tls = self.tls.unwrap_or(usual);
        let local =
            host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        let open = matches!(tls, MailTls::None | MailTls::Starttls);
        if self.user.is_some() && open && !local {
            return Err(msg::password_in_the_open());
        }
        if self.from.parse::<lettre::message::Mailbox>().is_err() {
            return Err(msg::bad_from());
        }
        let (user, ca_file, subject) = (self.user, self.ca_file, self.subject);
        Ok(EmailConfig { host, port, tls, from: self.from, user, password, ca_file, subject })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<NotifyConfig, String> {
        let file: NotifyInFile = toml::from_str(text).map_err(|error| error.to_string())?;
        file.parse("danlu.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn channels_of_all_kinds() {
        let config = parsed(
            r#"
            url = "https://gpu.example/"
            admins = ["ops", "root@example.org"]
            [email]
            smtp = "smtp://mail.example:587"
            from = "Danlu <danlu@example.org>"
            user = "danlu"
            password_file = "/etc/danlu/smtp"
            [webhook.hook]
            url = "https://example.org/?token=abc"
            secret_file = "/etc/danlu/hook"
            [slack.ops]
            url = "https://hooks.slack.com/services/T/B/x"
            [ntfy.phone]
            url = "https://ntfy.sh/topic"
            token_env = "NTFY"
            [command.log]
            command = "cat >> /tmp/log"
            "#,
        )
        .expect("it is sound");
        assert_eq!(config.url.as_deref(), Some("https://gpu.example"));
        let email = config.email.clone().expect("there is one");
        assert_eq!((email.port, email.tls), (587, MailTls::Required), "a password is never open");
        assert_eq!(config.channels.len(), 4);
        let shown = format!("{:?} {config:?}", config.entries());
        assert!(!shown.contains("abc") && !shown.contains("/T/B/x"), "{shown}");
    }

    #[test]
    fn mistakes_are_named() {
        let email = |more: &str| {
            format!("[email]\nsmtp = \"smtp://mail.example\"\nfrom = \"a@b.c\"\n{more}")
        };
        for wrong in [
            "[webhook.a]\nurl = \"ftp://x\"".to_owned(),
            "[webhook.a]".to_owned(),
            "[webhook.email]\nurl = \"http://x\"".to_owned(),
            "[webhook.\"a b\"]\nurl = \"http://x\"".to_owned(),
            "[webhook.a]\nurl = \"http://x\"\n[slack.a]\nurl = \"http://y\"".to_owned(),
            "[slack.a]\nurl = \"http://x\"\nsecret_file = \"/x\"".to_owned(),
            "[webhook.a]\nurl = \"http://x\"\nsecrets = \"x\"".to_owned(),
            "[command.a]\ncommand = \"\"".to_owned(),
            "admins = [\"ops\"]".to_owned(),
            "language = \"fr\"".to_owned(),
            "[email]\nsmtp = \"mail.example\"\nfrom = \"a@b.c\"".to_owned(),
            "[email]\nsmtp = \"smtp://mail.example\"\nfrom = \"nobody\"".to_owned(),
            email("user = \"a\""),
            email("user = \"a\"\npassword_env = \"P\"\ntls = \"none\""),
            email("tls = \"maybe\""),
        ] {
            assert!(parsed(&wrong).is_err(), "{wrong}");
        }
        assert!(parsed(&email("")).is_ok());
    }
}

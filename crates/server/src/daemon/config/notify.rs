//! `[notify]`: the channels over which people are told, and who is told about the server itself.

mod in_file;

pub(super) use in_file::NotifyInFile;

use danlu_messages::Language;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// As the file says it. Secrets are read from where they are when the channels are opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifyConfig {
    /// Of the web pages, for links; without a slash at its end.
    pub url: Option<String>,
    /// Of messages to nobody in particular, and to people who have chosen none.
    pub language: Option<Language>,
    /// Channels and addresses for what concerns administrators; empty: their own addresses.
    pub admins: Vec<String>,
    pub email: Option<EmailConfig>,
    /// By name. Names are unique over all kinds.
    pub channels: BTreeMap<String, ChannelConfig>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailConfig {
    pub host: String,
    pub port: u16,
    pub tls: MailTls,
    pub from: String,
    pub user: Option<String>,
    pub password: Option<SecretSource>,
    /// Certificates that are trusted instead of the system's.
    pub ca_file: Option<PathBuf>,
    pub subject: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailTls {
    None,
    /// If the server offers it.
    Starttls,
    /// STARTTLS, or no mail.
    Required,
    /// From the first byte on.
    Tls,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelConfig {
    Http { service: HttpService, url: SecretSource, secret: Option<SecretSource> },
    Command { command: Vec<String> },
}

/// What is spoken over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpService {
    Webhook,
    Slack,
    Feishu,
    Dingtalk,
    Wecom,
    Ntfy,
}

/// Where a secret is, or the secret itself: addresses of chat services contain one.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    Here(String),
    File(PathBuf),
    Variable(String),
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Here(_) => f.write_str("a secret"),
            SecretSource::File(path) => write!(f, "{}", path.display()),
            SecretSource::Variable(name) => write!(f, "${name}"),
        }
    }
}

impl HttpService {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            HttpService::Webhook => "webhook",
            HttpService::Slack => "slack",
            HttpService::Feishu => "feishu",
            HttpService::Dingtalk => "dingtalk",
            HttpService::Wecom => "wecom",
            HttpService::Ntfy => "ntfy",
        }
    }
}

/// The name that stands for a person's own mail address.
pub(crate) const EMAIL: &str = "email";

impl NotifyConfig {
    /// As `danlu config` lists them: no addresses with secrets in them.
    pub(super) fn entries(&self) -> [(&'static str, String); 5] {
        let none = || String::from("none");
        let email = self
            .email
            .as_ref()
            .map_or_else(none, |email| format!("{}:{}, {}", email.host, email.port, email.from));
        let channel = |(name, channel): (&String, &ChannelConfig)| match channel {
            ChannelConfig::Http { service, .. } => format!("{name} ({})", service.as_str()),
            ChannelConfig::Command { .. } => format!("{name} (command)"),
        };
        let channels: Vec<String> = self.channels.iter().map(channel).collect();
        let language = match self.language {
            Some(Language::English) => "en",
            Some(Language::Chinese) => "zh",
            None => "of the server",
        };
        [
            ("notify.url", self.url.clone().unwrap_or_else(none)),
            ("notify.language", language.to_owned()),
            ("notify.admins", self.admins.join(", ")),
            ("notify.email", email),
            ("notify.channels", channels.join(", ")),
        ]
    }

    /// Whether messages of tasks can go there.
    pub(super) fn has(&self, to: &str) -> bool {
        to == EMAIL && self.email.is_some() || is_known(to, self.email.is_some(), &self.channels)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.email.is_none() && self.channels.is_empty()
    }
}

/// A channel by its name, or an address.
fn is_known(to: &str, has_mail: bool, channels: &BTreeMap<String, ChannelConfig>) -> bool {
    if to.contains('@') { has_mail } else { channels.contains_key(to) }
}

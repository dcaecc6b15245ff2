//! The channels: each makes a request of a message and delivers it.

mod command;
mod dingtalk;
mod email;
mod feishu;
mod http;
mod ntfy;
mod secret;
mod slack;
mod webhook;
mod wecom;

pub(crate) use http::{HttpAnswer, HttpClient, Request as HttpRequest, shown};
pub(crate) use secret::{SecretError, SecretText};

use super::document::document;
use super::html::html;
use super::letter::Letter;
use super::recipients::{KnownChannels, Target};
use super::render::Rendered;
use crate::daemon::config::{ChannelConfig, HttpService, NotifyConfig};
use command::CommandHook;
use danlu_core::{Span, Time};
use danlu_messages::notify::channels as msg;
use danlu_wire::api::Efficiency;
use email::Mailer;
use http::Request;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A message that is ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    /// The same each time it is tried: receivers tell by it that they have it already.
    pub(crate) id: String,
    pub(crate) letter: Letter,
    pub(crate) rendered: Rendered,
    pub(crate) last_lines: Vec<String>,
    /// What the last run of a task has made of what it held.
    pub(crate) efficiency: Option<Efficiency>,
    /// Of mail.
    pub(crate) subject: String,
    pub(crate) now: Time,
}

/// What came of it, with what the other side said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivered {
    Yes {
        answer: String,
    },
    /// To be tried again, not before so long.
    Later {
        answer: String,
        after: Option<Span>,
    },
    /// It would be refused again.
    Never {
        answer: String,
    },
}

/// All of them, with their secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Channels {
    config: NotifyConfig,
    mailer: Option<Arc<Mailer>>,
    named: BTreeMap<String, Arc<OpenChannel>>,
}

#[derive(Debug)]
enum OpenChannel {
    Http { service: HttpService, url: SecretText, secret: Option<SecretText>, client: HttpClient },
    Command(CommandHook),
}

impl Channels {
    pub(crate) fn open(config: &NotifyConfig) -> Result<Channels, SecretError> {
        let mailer = config.email.as_ref().map(Mailer::open).transpose()?.map(Arc::new);
        let mut named = BTreeMap::new();
        // Reading the trusted certificates takes some milliseconds: once, and only if need be.
        let mut client = None;
        for (name, channel) in &config.channels {
            let opened = match channel {
                ChannelConfig::Http { service, url, secret } => OpenChannel::Http {
                    service: *service,
                    url: SecretText::read(url)?,
                    secret: secret.as_ref().map(SecretText::read).transpose()?,
                    client: client.get_or_insert_with(HttpClient::new).clone(),
                },
                ChannelConfig::Command { command } => {
                    OpenChannel::Command(CommandHook::new(command))
                }
            };
            named.insert(name.clone(), Arc::new(opened));
        }
        Ok(Channels { config: config.clone(), mailer, named })
    }

    pub(crate) fn config(&self) -> &NotifyConfig {
        &self.config
    }

    pub(crate) fn known(&self) -> KnownChannels {
        KnownChannels {
            email: self.mailer.is_some(),
            names: self.named.keys().cloned().collect(),
            admins: self.config.admins.clone(),
        }
    }

    /// What keeps us from sending mail, where something does. No mail is sent.
    pub(crate) fn check_mail(&self) -> Option<String> {
        let email = self.config.email.as_ref()?;
        match Mailer::open(email) {
            Ok(mailer) => mailer.check().err(),
            // Its password may have become unreadable.
            Err(error) => Some(error.to_string()),
        }
    }

    /// Takes as long as the other side does, within limits: for a thread of its own.
    pub(crate) fn deliver(&self, target: &Target, message: &Outgoing) -> Delivered {
        let gone = || Delivered::Never { answer: msg::channel_gone().to_owned() };
        match target {
            Target::Email(address) => match &self.mailer {
                Some(mailer) => mailer.deliver(address, message),
                None => gone(),
            },
            Target::Channel(name) => match self.named.get(name).map(|it| &**it) {
                Some(OpenChannel::Command(hook)) => hook.deliver(name, message),
                Some(OpenChannel::Http { service, url, secret, client }) => {
                    let secret = secret.as_ref().map(SecretText::as_str);
                    let request = match service {
                        HttpService::Webhook => {
                            webhook::request(url.as_str(), secret, name, message)
                        }
                        HttpService::Slack => slack::request(url.as_str(), message),
                        HttpService::Feishu => feishu::request(url.as_str(), secret, message),
                        HttpService::Dingtalk => dingtalk::request(url.as_str(), secret, message),
                        HttpService::Wecom => wecom::request(url.as_str(), message),
                        HttpService::Ntfy => ntfy::request(url.as_str(), secret, message),
                    };
                    let answered = client.send(&request);
                    // Some services refuse with 200 and a number in the body.
                    match service {
                        HttpService::Feishu => feishu::judge(answered),
                        HttpService::Dingtalk => dingtalk::judge(answered),
                        HttpService::Wecom => wecom::judge(answered),
                        HttpService::Webhook | HttpService::Slack | HttpService::Ntfy => {
                            answered.into()
                        }
                    }
                }
                None => gone(),
            },
        }
    }
}

/// HMAC-SHA256.
fn signature(key: &[u8], message: &[u8]) -> Vec<u8> {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mac = Hmac::<sha2::Sha256>::new_from_slice(key);
    let Ok(mut mac) = mac else { return Vec::new() };
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::digest::tests::ended;
    use super::super::render::{RenderContext, render};
    use super::*;
    use danlu_messages::Language;
    use danlu_wire::api::TaskStateName;

    pub(crate) fn outgoing() -> Outgoing {
        let letter = ended(12, None, TaskStateName::Failed);
        let context =
            RenderContext { url: Some("https://gpu.example".into()), ..Default::default() };
        let rendered = Language::English.within(|| render(&letter, &context));
        Outgoing {
            id: "1-42-7-ops".into(),
            letter,
            rendered,
            last_lines: vec!["RuntimeError".into()],
            efficiency: None,
            subject: "[Danlu] Task 12".into(),
            now: Time(1_599_360_473_000),
        }
    }
}

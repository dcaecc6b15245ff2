//! Mail over SMTP: text and HTML, one message for each recipient.

use super::secret::{SecretError, SecretText};
use super::{Delivered, Outgoing, html};
use crate::daemon::config::{EmailConfig, MailTls};
use danlu_messages::notify::channels as msg;
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::{Message, SmtpTransport, Transport as _};
use std::fmt;
use std::time::Duration;

/// For each answer of the server.
const LONGEST: Duration = Duration::from_secs(20);

pub(super) struct Mailer {
    transport: SmtpTransport,
    from: Mailbox,
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("from", &self.from).finish_non_exhaustive()
    }
}

impl Mailer {
    pub(super) fn open(config: &EmailConfig) -> Result<Mailer, SecretError> {
        let tls = match config.tls {
            MailTls::None => Tls::None,
            MailTls::Starttls => Tls::Opportunistic(parameters(config)?),
            MailTls::Required => Tls::Required(parameters(config)?),
            MailTls::Tls => Tls::Wrapper(parameters(config)?),
        };
        let mut builder = SmtpTransport::builder_dangerous(config.host.as_str())
            .port(config.port)
            .tls(tls)
            .timeout(Some(LONGEST));
        if let Some((user, password)) = config.user.as_ref().zip(config.password.as_ref()) {
            let password = SecretText::read(password)?;
            builder =
                builder.credentials(Credentials::new(user.clone(), password.as_str().to_owned()));
        }
        let from =
            config.from.parse().map_err(|_| SecretError::Unset { name: "from".to_owned() })?;
        Ok(Mailer { transport: builder.build(), from })
    }

    /// Whether the server lets us in: greeting, encryption, password.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.transport.test_connection() {
            Ok(true) => Ok(()),
            Ok(false) => Err(msg::connection_refused().to_owned()),
            Err(error) => Err(answer(&error)),
        }
    }

    pub(super) fn deliver(&self, address: &str, message: &Outgoing) -> Delivered {
        let mail = match self.mail(address, message) {
            Ok(mail) => mail,
            Err(error) => return Delivered::Never { answer: error },
        };
        match self.transport.send_raw(&mail.0, &mail.1) {
            Ok(response) => {
                let words: Vec<&str> = response.message().collect();
                let answer = format!("{} {}", response.code(), words.join(" "));
                Delivered::Yes { answer: super::http::shown(&answer) }
            }
            Err(error) => {
                let answer = answer(&error);
                match error.is_permanent() {
                    true => Delivered::Never { answer },
                    false => Delivered::Later { answer, after: None },
                }
            }
        }
    }

    fn mail(&self, address: &str, message: &Outgoing) -> Result<(Envelope, Vec<u8>), String> {
        let to: Mailbox = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let text = format!("{}\n-- \n{}\n", message.rendered.plain(), message.rendered.footer);
        let host = self.from.email.domain();
        let built = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(message.subject.clone())
            .message_id(Some(format!("<{}@{host}>", message_id(&message.id))))
            .multipart(MultiPart::alternative_plain_html(text, html(&message.rendered)));
        let mut built = built.map_err(|error| error.to_string())?;
        let mut put = |name: &'static str, value: &str| {
            if let Ok(name) = HeaderName::new_from_ascii(name.to_owned()) {
                built.headers_mut().insert_raw(HeaderValue::new(name, value.to_owned()));
            }
        };
        put("Danlu-Id", &message_id(&message.id));
        // Programs that answer mail by themselves leave it alone.
        put("Auto-Submitted", "auto-generated");
        Ok((built.envelope().clone(), built.formatted()))
    }
}

fn answer(error: &lettre::transport::smtp::Error) -> String {
    match error.is_timeout() {
        true => msg::timed_out().to_owned(),
        false => super::http::shown(&whole(error)),
    }
}

/// Letters that a Message-ID may have.
fn message_id(id: &str) -> String {
    let letter = |it: char| if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '.' };
    id.chars().map(letter).collect()
}

/// With what caused it: the outermost error says only that the connection failed.
fn whole(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_words = inner.to_string();
        if !words.ends_with(&inner_words) {
            words += &format!(": {inner_words}");
        }
        cause = inner.source();
    }
    words
}

fn parameters(config: &EmailConfig) -> Result<TlsParameters, SecretError> {
    let mut builder = TlsParameters::builder(config.host.clone());
    if let Some(path) = &config.ca_file {
        let unreadable = |error| SecretError::Unreadable { path: path.clone(), error };
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let bad = |_| SecretError::Certificates { path: path.clone() };
        builder = builder
            .certificate_store(CertificateStore::None)
            .add_root_certificate(Certificate::from_pem(&bytes).map_err(bad)?);
    }
    let path = config.ca_file.clone().unwrap_or_default();
    builder.build().map_err(|_| SecretError::Certificates { path })
}

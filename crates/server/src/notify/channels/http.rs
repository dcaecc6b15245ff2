//! Sends one request over HTTP, with limits on time and answer, and judges the status.

use super::Delivered;
use danlu_core::Span;
use danlu_messages::notify::channels as msg;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// For everything, from the name of the host to the end of the answer.
const LONGEST: Duration = Duration::from_secs(20);
const CONNECT: Duration = Duration::from_secs(10);
/// Of an answer, that is looked at.
const MOST_BYTES: u64 = 16 << 10;
/// Of an answer, that administrators are shown.
const SHOWN_CHARS: usize = 200;

/// Where systems keep the certificates that they trust.
const USUAL: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HttpAnswer {
    Status {
        status: u16,
        body: String,
        retry_after: Option<Span>,
    },
    /// Nobody answered.
    Nothing {
        why: String,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct HttpClient(ureq::Agent);

impl HttpClient {
    pub(crate) fn new() -> HttpClient {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(trusted())))
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(LONGEST))
            .timeout_connect(Some(CONNECT))
            // Who is to be told is what the administrator has written, and nobody else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .user_agent(concat!("danlu/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        HttpClient(config.new_agent())
    }

    pub(crate) fn send(&self, request: &Request) -> HttpAnswer {
        let mut call = self.0.post(&request.url);
        for (name, value) in &request.headers {
            call = call.header(*name, value);
        }
        let mut answer = match call.send(request.body.as_slice()) {
            Ok(answer) => answer,
            // The error may name the address, which may have a secret in it.
            Err(error) => return HttpAnswer::Nothing { why: cause(&error) },
        };
        let header = answer.headers().get("retry-after");
        let seconds: Option<u64> = header.and_then(|it| it.to_str().ok()?.trim().parse().ok());
        let retry_after = seconds.map(Span::from_secs);
        let status = answer.status().as_u16();
        let read = answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
        let body = String::from_utf8_lossy(&read.unwrap_or_default()).into_owned();
        HttpAnswer::Status { status, body, retry_after }
    }
}

fn cause(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => msg::timed_out().to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::HostNotFound => "host not found".to_owned(),
        ureq::Error::ConnectionFailed => "connection failed".to_owned(),
        ureq::Error::Tls(what) => (*what).to_owned(),
        ureq::Error::Rustls(error) => error.to_string(),
        _ => "the request could not be sent".to_owned(),
    }
}

fn trusted() -> Vec<ureq::tls::Certificate<'static>> {
    let named = std::env::var("SSL_CERT_FILE").ok();
    let paths = named.iter().map(String::as_str).chain(USUAL);
    let bytes = paths.into_iter().find_map(|path| std::fs::read(path).ok()).unwrap_or_default();
    let certificates = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    certificates.collect()
}

/// What was said, in one line.
pub(crate) fn shown(body: &str) -> String {
    let words: Vec<&str> = body.split(|it: char| it.is_control() || it.is_whitespace()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(SHOWN_CHARS).collect()
}

impl From<HttpAnswer> for Delivered {
    fn from(answered: HttpAnswer) -> Delivered {
        let (status, body, after) = match answered {
            HttpAnswer::Nothing { why } => return Delivered::Later { answer: why, after: None },
            HttpAnswer::Status { status, body, retry_after } => (status, body, retry_after),
        };
        let words = shown(&body);
        let answer = match words.is_empty() {
            true => msg::http_status(&status),
            false => format!("{} {words}", msg::http_status(&status)),
        };
        match status {
            200..=299 => Delivered::Yes { answer },
            300..=399 => Delivered::Never { answer: format!("{answer}: {}", msg::redirected()) },
            408 | 425 | 429 | 500.. => Delivered::Later { answer, after },
            _ => Delivered::Never { answer },
        }
    }
}

/// Of services that answer 200 with `errcode` or `code`: a number that is not 0 is a refusal, and `busy` ones pass.
pub(super) fn judge_code(answered: HttpAnswer, keys: &[&str], busy: &[i64]) -> Delivered {
    if let HttpAnswer::Status { status: 200, body, retry_after } = &answered
        && let Ok(said) = serde_json::from_str::<serde_json::Value>(body)
        && let Some(code) = keys.iter().find_map(|key| said[*key].as_i64())
        && code != 0
    {
        let (answer, after) = (shown(body), *retry_after);
        return match busy.contains(&code) {
            true => Delivered::Later { answer, after },
            false => Delivered::Never { answer },
        };
    }
    answered.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> Delivered {
        HttpAnswer::Status { status, body: "no".into(), retry_after: None }.into()
    }

    #[test]
    fn which_answers_are_final() {
        assert!(matches!(status(204), Delivered::Yes { .. }));
        for later in [408, 429, 500, 502, 503] {
            assert!(matches!(status(later), Delivered::Later { .. }), "{later}");
        }
        for never in [301, 400, 401, 404, 410, 422] {
            assert!(matches!(status(never), Delivered::Never { .. }), "{never}");
        }
    }
}

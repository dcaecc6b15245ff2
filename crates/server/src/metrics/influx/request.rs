//! How points are sent to a database, and what its answer means.

use crate::daemon::config::{InfluxConfig, InfluxPlace};
use crate::notify::{HttpAnswer, HttpClient, HttpRequest, SecretError, SecretText, shown};
use danlu_messages::notify::channels as msg;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A database, with what it takes to be let in.
#[derive(Debug)]
pub(crate) struct InfluxTarget {
    pub(crate) config: InfluxConfig,
    secret: Option<SecretText>,
    client: HttpClient,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    Yes,
    /// The database does not read compressed bodies.
    NotCompressed,
    /// These points would be refused again.
    Refused {
        answer: String,
    },
    /// It is away, busy, or not set up yet.
    Later {
        answer: String,
    },
}

impl InfluxTarget {
    pub(crate) fn open(config: &InfluxConfig) -> Result<InfluxTarget, SecretError> {
        let secret = config.secret.as_ref().map(SecretText::read).transpose()?;
        Ok(InfluxTarget { config: config.clone(), secret, client: HttpClient::new() })
    }

    pub(crate) fn send(&self, body: Vec<u8>, compressed: bool) -> Written {
        let request = self.request(body, compressed);
        judge(self.client.send(&request), compressed)
    }

    fn request(&self, body: Vec<u8>, compressed: bool) -> HttpRequest {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let base = &self.config.url;
        let secret = self.secret.as_ref().map(SecretText::as_str);
        let (url, authorization) = match &self.config.place {
            InfluxPlace::One { database, user } => {
                let url = format!("{base}/write?db={}&precision=ms", encoded(database));
                let basic = user.as_ref().zip(secret).map(|(user, password)| {
                    let both = base64(format!("{user}:{password}").as_bytes());
                    format!("Basic {both}")
                });
                (url, basic)
            }
            InfluxPlace::Two { org, bucket } => {
                let (org, bucket) = (encoded(org), encoded(bucket));
                let url = format!("{base}/api/v2/write?org={org}&bucket={bucket}&precision=ms");
                (url, secret.map(|token| format!("Token {token}")))
            }
        };
        let mut headers = vec![("content-type", "text/plain; charset=utf-8".to_owned())];
        headers.extend(authorization.map(|words| ("authorization", words)));
        if compressed {
            headers.push(("content-encoding", "gzip".to_owned()));
        }
        HttpRequest { url, headers, body }
    }
}

/// A database that is not there yet, or does not let us in, may do so once the administrator has seen to it: what waits is kept.
fn judge(answered: HttpAnswer, compressed: bool) -> Written {
    let (status, body) = match answered {
        HttpAnswer::Nothing { why } => return Written::Later { answer: why },
        HttpAnswer::Status { status, body, .. } => (status, body),
    };
    let answer = format!("{} {}", msg::http_status(&status), shown(&body)).trim().to_owned();
    match status {
        200..=299 => Written::Yes,
        415 if compressed => Written::NotCompressed,
        400 | 413 | 422 => Written::Refused { answer },
        _ => Written::Later { answer },
    }
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::config::{PointNames, SecretSource};
    use danlu_core::Span;

    fn request(place: InfluxPlace, secret: &str) -> HttpRequest {
        let target = InfluxTarget::open(&InfluxConfig {
            url: "http://db:8086".to_owned(),
            place,
            secret: Some(SecretSource::Here(secret.to_owned())),
            interval: Span::from_secs(10),
            names: PointNames::Danlu,
        });
        target.expect("it can be opened").request(b"m v=1 7\n".to_vec(), true)
    }

    fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
        request.headers.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn version_1_has_the_password_in_a_header() {
        let user = Some("python".to_owned());
        let request = request(InfluxPlace::One { database: "my db&x".to_owned(), user }, "pass");
        assert_eq!(request.url, "http://db:8086/write?db=my%20db%26x&precision=ms");
        assert_eq!(header(&request, "authorization"), Some("Basic cHl0aG9uOnBhc3M="));
        assert_eq!(header(&request, "content-encoding"), Some("gzip"));
    }

    #[test]
    fn version_2_has_organisation_bucket_and_token() {
        let place = InfluxPlace::Two { org: "lab 1".to_owned(), bucket: "gpus".to_owned() };
        let request = request(place, "t0ken");
        assert_eq!(request.url, "http://db:8086/api/v2/write?org=lab%201&bucket=gpus&precision=ms");
        assert_eq!(header(&request, "authorization"), Some("Token t0ken"));
    }

    #[test]
    fn what_waits_is_kept_unless_it_would_be_refused_again() {
        let judged = |status, compressed| {
            judge(HttpAnswer::Status { status, body: "no".into(), retry_after: None }, compressed)
        };
        assert_eq!(judged(204, true), Written::Yes);
        assert_eq!(judged(415, true), Written::NotCompressed);
        for refused in [400, 413, 422] {
            assert!(matches!(judged(refused, true), Written::Refused { .. }), "{refused}");
        }
        for later in [401, 403, 404, 415, 429, 500, 503] {
            assert!(matches!(judged(later, false), Written::Later { .. }), "{later}");
        }
        let away = HttpAnswer::Nothing { why: "connection failed".into() };
        assert!(matches!(judge(away, true), Written::Later { .. }));
    }
}

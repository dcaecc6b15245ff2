//! Forms that pages send: their fields, and the proof that it was one of our pages.

use super::look::Visit;
use super::page::PageError;
use crate::api::{Api, ApiError};
use axum::extract::{Form, FromRequest, Request};
use axum::http::header;

/// What was sent, by whom. Fields may come more than once.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) visit: Visit,
    fields: Vec<(String, String)>,
}

impl Sent {
    /// The last one of that name, or nothing.
    pub(super) fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().rev().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The page to go back to: one of ours, whatever the form says.
    pub(super) fn back(&self) -> &str {
        own_path(self.field("back")).unwrap_or("/")
    }
}

impl FromRequest<Api> for Sent {
    type Rejection = PageError;

    async fn from_request(request: Request, api: &Api) -> Result<Sent, PageError> {
        let (mut parts, body) = request.into_parts();
        let visit = <Visit as axum::extract::FromRequestParts<Api>>::from_request_parts(&mut parts, api)
            .await?;
        let foreign = parts.headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
        let is_form = parts
            .headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
        if foreign || !is_form {
            let error = ApiError::bad_request("this was not sent by one of our pages", "go back and send it again");
            return Err(PageError::new(visit.look, error));
        }
        let request = Request::from_parts(parts, body);
        let read = Form::<Vec<(String, String)>>::from_request(request, api).await;
        match read {
            Ok(Form(fields)) => Ok(Sent { visit, fields }),
            Err(rejection) => {
                let error = ApiError::bad_request(rejection.body_text(), "go back and send it again");
                Err(PageError::new(visit.look, error))
            }
        }
    }
}

/// A path on this server and nothing else: `//host` and `/\host` lead elsewhere.
pub(super) fn own_path(path: &str) -> Option<&str> {
    let own = path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    own.then_some(path)
}

/// For a value in an address.
pub(super) fn encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b',' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_paths_are_gone_back_to() {
        for own in ["/", "/tasks?state=failed", "/tasks/7#log", "/a//b"] {
            assert_eq!(own_path(own), Some(own));
        }
        for other in
            ["", "//evil.example", "/\\evil.example", "https://evil.example", "tasks", "/a\r\nb", "/ a", "javascript:x"]
        {
            assert_eq!(own_path(other), None, "{other}");
        }
    }

    #[test]
    fn values_are_safe_in_addresses() {
        assert_eq!(encode("a b&c=d/é"), "a%20b%26c%3Dd%2F%C3%A9");
    }
}

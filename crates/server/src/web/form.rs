//! Submitted forms: their fields, and the check of the CSRF token.

use super::page::PageError;
use super::page_context::Visit;
use crate::api::caller::CSRF_HEADER;
use crate::api::{Api, ApiError};
use axum::extract::{Form, FromRequest, FromRequestParts as _, Request};
use axum::http::HeaderMap;
use danlu_messages::errors;

/// A submitted form and its sender. Fields may occur more than once.
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

    /// The page to go back to. Always a page of this server, also if the form names another.
    pub(super) fn back(&self) -> &str {
        own_path(self.field("back")).unwrap_or("/")
    }
}

impl FromRequest<Api> for Sent {
    type Rejection = PageError;

    async fn from_request(request: Request, api: &Api) -> Result<Sent, PageError> {
        let (mut parts, body) = request.into_parts();
        let visit = Visit::from_request_parts(&mut parts, api).await?;
        let path = parts.uri.path().to_owned();
        let header =
            parts.headers.get(CSRF_HEADER).and_then(|it| it.to_str().ok()).map(str::to_owned);
        let request = Request::from_parts(parts, body);
        let fields = match Form::<Vec<(String, String)>>::from_request(request, api).await {
            Ok(Form(fields)) => fields,
            Err(rejection) => {
                let error = ApiError::bad_request(
                    rejection.body_text(),
                    errors::go_back_and_send_it_again(),
                );
                return Err(PageError::new(visit.context, error));
            }
        };
        let sent = Sent { visit, fields };
        let given = header.as_deref().unwrap_or_else(|| sent.field("csrf"));
        let caller = &sent.visit.caller;
        let allowed = caller.check_csrf(Some(given)).and_then(|()| caller.may_change(&path));
        allowed.map_err(sent.visit.no())?;
        Ok(sent)
    }
}

/// Whether the browser says that another site made it ask. Old browsers say nothing.
pub(super) fn is_of_another_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
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
        for other in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "tasks",
            "/a\r\nb",
            "/ a",
            "javascript:x",
        ] {
            assert_eq!(own_path(other), None, "{other}");
        }
    }

    #[test]
    fn values_are_safe_in_addresses() {
        assert_eq!(encode("a b&c=d/é"), "a%20b%26c%3Dd%2F%C3%A9");
    }
}

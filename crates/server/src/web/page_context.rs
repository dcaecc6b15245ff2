//! What every page needs to know about its reader: account, language, theme.

use super::form::own_path;
use super::page::PageError;
use super::preferences::Theme;
use crate::api::caller::{Peer, cookie};
use crate::api::{Api, ApiError, Caller};
use crate::daemon::notices;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri, header};
use danlu_core::Time;
use danlu_messages::Language;
use danlu_messages::errors;
use danlu_wire::api::ErrorCode;

/// A request for a page by a known account.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) caller: Caller,
    pub(super) context: PageContext,
}

#[derive(Debug, Clone)]
pub(super) struct PageContext {
    pub(super) language: Language,
    pub(super) theme: Theme,
    /// The page itself, to come back to.
    pub(super) path: String,
    pub(super) user: Option<String>,
    pub(super) admin: bool,
    pub(super) csrf: String,
    pub(super) announcement: Option<String>,
    pub(super) queue_paused: bool,
    /// Notices about the server: id and text.
    pub(super) notices: Vec<(String, String)>,
    pub(super) now: Time,
}

impl PageContext {
    pub(super) fn new(
        api: &Api,
        headers: &HeaderMap,
        uri: &Uri,
        caller: Option<&Caller>,
    ) -> PageContext {
        let model = api.handle.model();
        let settings = &model.ledger.settings;
        let notices = match caller {
            Some(caller) => api.handle.notices().seen_by(caller.admin),
            None => Vec::new(),
        };
        PageContext {
            notices: notices
                .iter()
                .map(|notice| (notice.id.clone(), notices::line(notice)))
                .collect(),
            language: Language::current(),
            theme: cookie(headers, "theme").and_then(Theme::named).unwrap_or_default(),
            path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            user: caller.map(|caller| caller.name.clone()),
            admin: caller.is_some_and(|caller| caller.admin),
            csrf: caller.and_then(Caller::csrf_on_pages).unwrap_or_default().to_owned(),
            announcement: Some(settings.announcement.clone()).filter(|words| !words.is_empty()),
            queue_paused: settings.queue_paused,
            now: crate::daemon::clock::now(),
        }
    }

    /// Whether the page belongs to this entry of the menu.
    pub(super) fn is_at(&self, section: &str) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        path == section || (section != "/" && path.starts_with(&format!("{section}/")))
    }

    pub(super) fn asset(&self, name: &str) -> String {
        super::assets::address(name)
    }
}

impl FromRequestParts<Api> for Visit {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Visit, PageError> {
        let unknown_caller = |error: ApiError| {
            let error = count_unknown_caller(api, parts, error);
            let mut context = PageContext::new(api, &parts.headers, &parts.uri, None);
            // A form cannot be sent again by going there: the page that it is on can be shown.
            if parts.method != Method::GET && parts.method != Method::HEAD {
                context.path = page_of_form(&parts.headers).unwrap_or("/").to_owned();
            }
            PageError::new(context, error)
        };
        let caller = Caller::identify(parts, api).await.map_err(unknown_caller)?;
        let context = PageContext::new(api, &parts.headers, &parts.uri, Some(&caller));
        // Submitted forms are checked by their handlers.
        let elsewhere = parts.method == Method::GET && !context.is_at("/me");
        if caller.must_change_password && elsewhere {
            return Err(PageError::go_to(context, "/me#password"));
        }
        Ok(Visit { caller, context })
    }
}

/// From what a browser says about where a request comes from, if that is a page of this server.
fn page_of_form(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (_, rest) = text(header::REFERER)?.split_once("://")?;
    own_path(rest.strip_prefix(text(header::HOST)?)?)
}

fn count_unknown_caller(api: &Api, parts: &Parts, error: ApiError) -> ApiError {
    if error.0.code != ErrorCode::Unauthenticated {
        return error;
    }
    let address = Peer::of(parts).and_then(Peer::address);
    match api.auth.unknown_callers.count(address) {
        Ok(()) => error,
        Err(wait) => {
            let message = errors::too_many_anonymous_requests(&wait);
            ApiError::new(ErrorCode::TooOften, message, errors::log_in())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_form_is_on_a_page_of_this_server() {
        let check = |referer: &'static str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("gpu.lab:8787"));
            headers.insert(header::REFERER, HeaderValue::from_static(referer));
            assert_eq!(page_of_form(&headers), expect, "{referer}");
        };
        check("http://gpu.lab:8787/tasks/12?run=2", Some("/tasks/12?run=2"));
        check("https://gpu.lab:8787/", Some("/"));
        check("http://gpu.lab:8787//evil.example/", None);
        check("http://evil.example/tasks/12", None);
        check("http://gpu.lab:87871/tasks", None);
        check("nonsense", None);
    }
}

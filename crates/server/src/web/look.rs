//! What every page needs to know about its reader: who, in which language, light or dark.

use super::language::Language;
use super::page::PageError;
use crate::api::{Api, Caller};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use danlu_core::Time;

/// Somebody with an account who looks at a page.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) caller: Caller,
    pub(super) look: Look,
}

#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) language: Language,
    pub(super) theme: &'static str,
    /// The page itself, to come back to.
    pub(super) path: String,
    pub(super) user: Option<String>,
    pub(super) admin: bool,
    pub(super) csrf: String,
    pub(super) announcement: Option<String>,
    pub(super) queue_paused: bool,
    pub(super) now: Time,
}

impl Look {
    pub(super) fn new(api: &Api, headers: &HeaderMap, uri: &Uri, caller: Option<&Caller>) -> Look {
        Look {
            language: Language::of(headers, None),
            theme: theme(cookie(headers, "theme")),
            path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            user: caller.map(|caller| caller.name.clone()),
            admin: caller.is_some_and(|caller| caller.admin),
            csrf: String::new(),
            announcement: None,
            queue_paused: api.handle.model().ledger.settings.queue_paused,
            now: crate::clock::now(),
        }
    }

    pub(super) fn say<'a>(&self, english: &'a str, chinese: &'a str) -> &'a str {
        self.language.say(english, chinese)
    }

    /// For the entry of the menu that leads here.
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
        let caller = Caller::from_request_parts(parts, api).await.map_err(|error| {
            let look = Look::new(api, &parts.headers, &parts.uri, None);
            PageError::new(look, error)
        })?;
        let look = Look::new(api, &parts.headers, &parts.uri, Some(&caller));
        Ok(Visit { caller, look })
    }
}

pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|list| list.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

fn theme(chosen: Option<&str>) -> &'static str {
    match chosen {
        Some("light") => "light",
        Some("dark") => "dark",
        _ => "auto",
    }
}

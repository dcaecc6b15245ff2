//! Chooses the language of a response.

use crate::api::caller::cookie;
use axum::http::{HeaderMap, header};
use danlu_messages::Language;

/// From the cookie, or else from `Accept-Language`.
pub(crate) fn of(headers: &HeaderMap) -> Language {
    let chosen = cookie(headers, "lang").and_then(Language::named);
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    chosen.unwrap_or_else(|| Language::accepted(accepted.unwrap_or_default()))
}

/// The rest of this request is answered in the language of the account, if the request itself asks for none. A browser
/// always asks for one, which people rarely have chosen: their account counts more.
pub(crate) fn prefer(account: Option<&str>, headers: &HeaderMap, browser: bool) {
    let asked = cookie(headers, "lang").is_some()
        || (!browser && headers.contains_key(header::ACCEPT_LANGUAGE));
    if let Some(language) = account.and_then(Language::named).filter(|_| !asked) {
        language.go_on();
    }
}

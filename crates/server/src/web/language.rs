//! English or Chinese: as the person chose, or as their browser asks.

pub(crate) use crate::language::Language;
use axum::http::{HeaderMap, header};

/// The cookie, then the account, then the browser.
pub(crate) fn language_of(headers: &HeaderMap, account: Option<Language>) -> Language {
    let chosen = crate::api::caller::cookie(headers, "lang");
    let chosen = chosen.and_then(Language::named).or(account);
    chosen.unwrap_or_else(|| asked(headers.get(header::ACCEPT_LANGUAGE)))
}

/// The first of the two that the list names, in the order of preference.
fn asked(list: Option<&axum::http::HeaderValue>) -> Language {
    let list = list.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let weight = |language: &str| {
        let parts = list.split(',').map(str::trim).filter(|part| part.starts_with(language));
        let quality = |part: &str| match part.split_once(";q=") {
            Some((_, quality)) => quality.trim().parse::<f32>().unwrap_or(0.0),
            None => 1.0,
        };
        parts.map(quality).fold(0.0, f32::max)
    };
    if weight("zh") > weight("en") { Language::Chinese } else { Language::English }
}

/// The same sentence in both, with values in it.
macro_rules! tell {
    ($language:expr, $english:literal, $chinese:literal $(, $value:expr)* $(,)?) => {
        match $language {
            $crate::web::language::Language::English => format!($english $(, $value)*),
            $crate::web::language::Language::Chinese => format!($chinese $(, $value)*),
        }
    };
}
pub(super) use tell;

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn the_browser_is_asked_in_its_order() {
        let check = |list: &str, expect| {
            let value = HeaderValue::from_str(list).expect("a header");
            assert_eq!(asked(Some(&value)), expect, "{list}");
        };
        check("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese);
        check("en-US,en;q=0.9,zh;q=0.8", Language::English);
        check("de,zh;q=0.5", Language::Chinese);
        check("fr", Language::English);
        assert_eq!(asked(None), Language::English);
    }
}

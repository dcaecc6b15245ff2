//! `ETag` and gzip for responses.
//!
//! Invariant: no response that contains a CSRF token is compressed, because the length of a compressed response can reveal it
//! (BREACH).

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use std::sync::{Arc, OnceLock};

/// Shorter responses fit into one packet anyway.
const TINY: usize = 1_024;
/// Longer responses are not compressed on the thread that serves all requests.
const LONG: usize = 64 << 10;

/// Private responses must not be cached by proxies, and are revalidated each time.
const OWN: &str = "private, no-cache";
pub(crate) const FOR_EVER: &str = "public, max-age=31536000, immutable";

#[derive(Debug)]
pub(crate) struct EncodedBody {
    kind: &'static str,
    cache: &'static str,
    tag: HeaderValue,
    plain: Bytes,
    gzip: OnceLock<Bytes>,
}

/// `If-None-Match` and `Accept-Encoding` of a request.
#[derive(Debug, Default)]
pub(crate) struct ContentNegotiation {
    has: Option<HeaderValue>,
    gzip: bool,
}

impl ContentNegotiation {
    pub(crate) fn of(headers: &HeaderMap) -> ContentNegotiation {
        let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        ContentNegotiation {
            has: headers.get(header::IF_NONE_MATCH).cloned(),
            gzip: accepted.is_some_and(takes_gzip),
        }
    }

    fn has(&self, tag: &HeaderValue) -> bool {
        let Some(has) = self.has.as_ref().and_then(|value| value.to_str().ok()) else {
            return false;
        };
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let Ok(tag) = tag.to_str() else { return false };
        has.trim() == "*" || has.split(',').any(|one| opaque(one) == opaque(tag))
    }
}

fn takes_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|one| {
        let mut words = one.split(';').map(str::trim);
        let name = words.next().unwrap_or_default();
        let refused = words.any(|word| {
            let quality = word.strip_prefix("q=").and_then(|number| number.parse::<f32>().ok());
            quality == Some(0.0)
        });
        (name.eq_ignore_ascii_case("gzip") || name == "*") && !refused
    })
}

impl EncodedBody {
    pub(crate) fn json(plain: impl Into<Bytes>) -> EncodedBody {
        EncodedBody::new("application/json", OWN, plain.into())
    }

    pub(crate) fn new(kind: &'static str, cache: &'static str, plain: Bytes) -> EncodedBody {
        let digest = Sha256::digest(&plain);
        // Weak: the same for the plain and the compressed form.
        let tag = format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&digest[..12]));
        // Letters and digits only.
        let tag = HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("W/\"\""));
        EncodedBody { kind, cache, tag, plain, gzip: OnceLock::new() }
    }

    pub(crate) async fn answer(self: &Arc<Self>, wish: &ContentNegotiation) -> Response {
        let mut answer = if wish.has(&self.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else if wish.gzip && self.plain.len() >= TINY {
            let kind = [(header::CONTENT_TYPE, self.kind), (header::CONTENT_ENCODING, "gzip")];
            (kind, self.compressed().await).into_response()
        } else {
            ([(header::CONTENT_TYPE, self.kind)], self.plain.clone()).into_response()
        };
        let headers = answer.headers_mut();
        headers.insert(header::ETAG, self.tag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.cache));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        answer
    }

    async fn compressed(self: &Arc<Self>) -> Bytes {
        if let Some(bytes) = self.gzip.get() {
            return bytes.clone();
        }
        let forms = Arc::clone(self);
        let work = move || forms.gzip.get_or_init(|| compress(&forms.plain)).clone();
        if self.plain.len() < LONG {
            return work();
        }
        // It does not panic, and a server that ends needs no answer.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }
}

fn compress(plain: &[u8]) -> Bytes {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    // Into memory, which does not fail.
    let _ = gzip.write_all(plain);
    gzip.finish().unwrap_or_default().into()
}

/// For responses that were made for this request only.
pub(super) async fn shaped(answer: Response, wish: &ContentNegotiation) -> Response {
    let whole = answer.body().size_hint().exact().is_some();
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let json = kind.is_some_and(|kind| kind == "application/json");
    let done = answer.headers().contains_key(header::ETAG);
    if answer.status() != StatusCode::OK || !whole || !json || done {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    match to_bytes(body, usize::MAX).await {
        Ok(plain) => Arc::new(EncodedBody::json(plain)).answer(wish).await,
        // A body that is there as a whole does not fail.
        Err(_) => Response::from_parts(parts, Body::empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_gzip_says_so() {
        for yes in ["gzip", "br, gzip;q=0.8", "GZIP", "*", "deflate , gzip"] {
            assert!(takes_gzip(yes), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "identity;q=1, *;q=0", "gzipped"] {
            assert!(!takes_gzip(no), "{no}");
        }
    }

    #[test]
    fn what_somebody_has_is_not_sent_again() {
        let forms = EncodedBody::json("{}");
        let wish =
            |has: &str| ContentNegotiation { has: HeaderValue::try_from(has).ok(), gzip: false };
        let tag = forms.tag.to_str().expect("letters").to_owned();
        let strong = tag.trim_start_matches("W/").to_owned();
        for has in [tag.as_str(), &strong, "*", &format!("\"other\", {tag}")] {
            assert!(wish(has).has(&forms.tag), "{has}");
        }
        assert!(!wish("\"other\"").has(&forms.tag));
        assert_ne!(EncodedBody::json("[]").tag, forms.tag);
    }
}

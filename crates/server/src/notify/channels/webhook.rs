//! A webhook: JSON, signed with HMAC-SHA256 where there is a secret.

use super::{Outgoing, Request, document, signature};
use std::fmt::Write as _;

pub(super) fn request(url: &str, secret: Option<&str>, name: &str, message: &Outgoing) -> Request {
    let Outgoing { id, letter, rendered, last_lines, efficiency, now, .. } = message;
    let body = document((id, name), letter, rendered, last_lines, efficiency.as_ref()).to_string();
    let mut headers =
        vec![("content-type", "application/json".to_owned()), ("danlu-id", id.clone())];
    if let Some(secret) = secret {
        headers.push(("danlu-signature", sign(secret, now.0 / 1_000, &body)));
    }
    Request { url: url.to_owned(), headers, body: body.into_bytes() }
}

/// `t=UNIX,v1=HEX` of `UNIX.BODY`.
fn sign(secret: &str, at: i64, body: &str) -> String {
    let signed = signature(secret.as_bytes(), format!("{at}.{body}").as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in signed {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    format!("t={at},v1={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    #[test]
    fn signatures_are_of_time_and_body() {
        // printf '1599360473.{}' | openssl dgst -sha256 -hmac secret
        let expect =
            "t=1599360473,v1=96d2b44618e0f0fd303094a589939888c6de4f7926978b4ca445efdc9b8a32f9";
        assert_eq!(sign("secret", 1_599_360_473, "{}"), expect);
        let request = request("https://x.org/h", Some("secret"), "ops", &outgoing());
        let header =
            |name| request.headers.iter().find(|(it, _)| *it == name).map(|(_, it)| it.as_str());
        assert_eq!(header("danlu-id"), Some("1-42-7-ops"));
        assert!(header("danlu-signature").is_some_and(|it| it.starts_with("t=1599360473,v1=")));
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!((&body["id"], &body["kind"]), (&"1-42-7-ops".into(), &"end".into()));
        assert_eq!(body["task"]["state"], "failed");
        assert_eq!(body["last_lines"][0], "RuntimeError");
    }
}

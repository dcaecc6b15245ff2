//! DingTalk's custom robots: <https://open.dingtalk.com/document/robots/custom-robot-access>.

use super::http::judge_code;
use super::{Delivered, HttpAnswer, Outgoing, Request, base64, signature};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

pub(super) fn request(url: &str, secret: Option<&str>, message: &Outgoing) -> Request {
    let rendered = &message.rendered;
    // A line ends a paragraph in its Markdown only with an empty one.
    let text = rendered.body().replace('\n', "\n\n");
    let body = json!({
        "msgtype": "markdown",
        "markdown": { "title": rendered.headline, "text": format!("#### {}\n\n{text}", rendered.headline) },
    });
    let url = match secret {
        Some(secret) => {
            let (at, and) = (message.now.0, if url.contains('?') { '&' } else { '?' });
            format!("{url}{and}timestamp={at}&sign={}", sign(secret, at))
        }
        None => url.to_owned(),
    };
    let headers = vec![("content-type", "application/json".to_owned())];
    Request { url, headers, body: body.to_string().into_bytes() }
}

/// Of time and secret, with the secret as the key; for an address.
fn sign(secret: &str, at: i64) -> String {
    let signed = base64(&signature(secret.as_bytes(), format!("{at}\n{secret}").as_bytes()));
    utf8_percent_encode(&signed, NON_ALPHANUMERIC).to_string()
}

/// -1: its system is busy; 130101 and 410100: too many messages.
pub(super) fn judge(answered: HttpAnswer) -> Delivered {
    judge_code(answered, &["errcode"], &[-1, 130_101, 410_100])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    /// Not sent to DingTalk, which cannot be run here: form and signature are those of its documentation.
    #[test]
    fn markdown_with_time_and_signature_in_the_address() {
        let url = "https://oapi.dingtalk.com/robot/send?access_token=x";
        let request = request(url, Some("this is secret"), &outgoing());
        let rest = request.url.strip_prefix(url).expect("the address begins so");
        assert_eq!(rest, format!("&timestamp=1599360473000&sign={EXPECTED}"));
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!(body["msgtype"], "markdown");
        assert_eq!(body["markdown"]["title"], "Task 12 (train) has failed");
    }

    const EXPECTED: &str = "hXZTWifRGHclNuZSKxoXc%2F%2Fsh51SWfVfRIhcdeKs63I%3D";

    #[test]
    fn a_refusal_comes_with_200() {
        let said = |body: &str| {
            judge(HttpAnswer::Status { status: 200, body: body.into(), retry_after: None })
        };
        assert!(matches!(said(r#"{"errcode":0,"errmsg":"ok"}"#), Delivered::Yes { .. }));
        assert!(matches!(
            said(r#"{"errcode":310000,"errmsg":"sign not match"}"#),
            Delivered::Never { .. }
        ));
        assert!(matches!(
            said(r#"{"errcode":130101,"errmsg":"send too fast"}"#),
            Delivered::Later { .. }
        ));
    }
}

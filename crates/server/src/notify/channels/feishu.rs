//! Feishu's custom bots: <https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot>.

use super::http::judge_code;
use super::{Delivered, HttpAnswer, Outgoing, Request, base64, signature};
use serde_json::json;

pub(super) fn request(url: &str, secret: Option<&str>, message: &Outgoing) -> Request {
    let text = message.rendered.plain();
    let mut body = json!({ "msg_type": "text", "content": { "text": text } });
    if let Some(secret) = secret {
        let at = (message.now.0 / 1_000).to_string();
        body["sign"] = json!(sign(secret, &at));
        body["timestamp"] = json!(at);
    }
    let headers = vec![("content-type", "application/json".to_owned())];
    Request { url: url.to_owned(), headers, body: body.to_string().into_bytes() }
}

/// Time and secret are the key; what is signed is empty.
fn sign(secret: &str, at: &str) -> String {
    base64(&signature(format!("{at}\n{secret}").as_bytes(), b""))
}

/// 11232 and 9499: too many messages.
pub(super) fn judge(answered: HttpAnswer) -> Delivered {
    judge_code(answered, &["code", "StatusCode"], &[11_232, 9_499])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    /// Not sent to Feishu, which cannot be run here: form and signature are those of its documentation.
    #[test]
    fn text_with_time_and_signature() {
        let request =
            request("https://open.feishu.cn/open-apis/bot/v2/hook/x", Some("demo"), &outgoing());
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!((&body["msg_type"], &body["timestamp"]), (&"text".into(), &"1599360473".into()));
        // base64(hmac_sha256(key="1599360473\ndemo", message=""))
        assert_eq!(body["sign"], EXPECTED);
    }

    const EXPECTED: &str = "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=";

    #[test]
    fn a_refusal_comes_with_200() {
        let said = |body: &str| {
            judge(HttpAnswer::Status { status: 200, body: body.into(), retry_after: None })
        };
        assert!(matches!(said(r#"{"code":0,"msg":"success"}"#), Delivered::Yes { .. }));
        let refused =
            said(r#"{"code":19021,"msg":"sign match fail or timestamp is not within one hour"}"#);
        assert!(matches!(refused, Delivered::Never { .. }));
        assert!(matches!(
            said(r#"{"code":11232,"msg":"frequency limited"}"#),
            Delivered::Later { .. }
        ));
    }
}

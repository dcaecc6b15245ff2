//! WeCom's group robots: <https://developer.work.weixin.qq.com/document/path/91770>.

use super::http::judge_code;
use super::{Delivered, HttpAnswer, Outgoing, Request};
use serde_json::json;

/// Bytes of a text that it takes.
const MOST_BYTES: usize = 2_048;

pub(super) fn request(url: &str, message: &Outgoing) -> Request {
    let mut text = message.rendered.plain();
    text.truncate(text.floor_char_boundary(MOST_BYTES));
    let body = json!({ "msgtype": "text", "text": { "content": text } });
    let headers = vec![("content-type", "application/json".to_owned())];
    Request { url: url.to_owned(), headers, body: body.to_string().into_bytes() }
}

/// -1: its system is busy; 45009: too many messages.
pub(super) fn judge(answered: HttpAnswer) -> Delivered {
    judge_code(answered, &["errcode"], &[-1, 45_009])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    /// Not sent to WeCom, which cannot be run here: the form is that of its documentation.
    #[test]
    fn a_text_of_a_length_that_it_takes() {
        let url = "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x";
        let mut message = outgoing();
        message.rendered.text = "长".repeat(2_000);
        let request = request(url, &message);
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        let text = body["text"]["content"].as_str().expect("a text");
        assert_eq!(body["msgtype"], "text");
        assert!(text.len() <= MOST_BYTES && text.len() > MOST_BYTES - 3, "{}", text.len());
        let said = |body: &str| {
            judge(HttpAnswer::Status { status: 200, body: body.into(), retry_after: None })
        };
        assert!(matches!(said(r#"{"errcode":0,"errmsg":"ok"}"#), Delivered::Yes { .. }));
        assert!(matches!(
            said(r#"{"errcode":93000,"errmsg":"invalid webhook url"}"#),
            Delivered::Never { .. }
        ));
        assert!(matches!(
            said(r#"{"errcode":45009,"errmsg":"freq out of limit"}"#),
            Delivered::Later { .. }
        ));
    }
}

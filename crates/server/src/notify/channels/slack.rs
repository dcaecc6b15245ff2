//! Slack's incoming webhooks: <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/>.

use super::{Outgoing, Request};
use serde_json::json;

/// `text` is what notifications show; Slack asks to escape three characters in it.
pub(super) fn request(url: &str, message: &Outgoing) -> Request {
    let rendered = &message.rendered;
    let mut text = format!("*{}*\n{}", escaped(&rendered.headline), escaped(&rendered.body()));
    // Longer texts are cut there.
    text.truncate(text.floor_char_boundary(3_000));
    let body = json!({ "text": text });
    let headers = vec![("content-type", "application/json".to_owned())];
    Request { url: url.to_owned(), headers, body: body.to_string().into_bytes() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    /// Not sent to Slack, which cannot be run here: the form is that of its documentation.
    #[test]
    fn one_text_in_its_markup() {
        let request = request("https://hooks.slack.com/services/T/B/x", &outgoing());
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        let text = body["text"].as_str().expect("a text");
        assert!(text.starts_with("*Task 12 (train) has failed*\n"), "{text}");
        assert!(text.contains("https://gpu.example/tasks/12"), "{text}");
        assert_eq!(escaped("<!channel> & co"), "&lt;!channel&gt; &amp; co");
    }
}

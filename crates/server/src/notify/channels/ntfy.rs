//! ntfy: <https://docs.ntfy.sh/publish/>.

use super::super::render::Tone;
use super::{Outgoing, Request};

/// Longer ones become attachments there.
const MOST_BYTES: usize = 4_000;

pub(super) fn request(url: &str, token: Option<&str>, message: &Outgoing) -> Request {
    let rendered = &message.rendered;
    let mut body = rendered.body();
    body.truncate(body.floor_char_boundary(MOST_BYTES));
    let (priority, tag) = match rendered.tone {
        Tone::Good => ("3", "white_check_mark"),
        Tone::Bad => ("4", "x"),
        Tone::Neutral => ("3", "information_source"),
    };
    let mut headers = vec![
        ("title", encoded(&rendered.headline)),
        ("priority", priority.to_owned()),
        ("tags", tag.to_owned()),
    ];
    headers.extend(rendered.link.clone().map(|link| ("click", link)));
    headers.extend(token.map(|token| ("authorization", format!("Bearer {token}"))));
    Request { url: url.to_owned(), headers, body: body.into_bytes() }
}

/// Headers are ASCII; what is not is written as RFC 2047 says, which ntfy reads.
fn encoded(text: &str) -> String {
    let plain = text.is_ascii() && !text.contains(|it: char| it.is_control());
    if plain { text.to_owned() } else { format!("=?UTF-8?B?{}?=", super::base64(text.as_bytes())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    /// Not sent to an ntfy server here: the headers are those of its documentation.
    #[test]
    fn title_priority_and_link_are_headers() {
        let request = request("https://ntfy.sh/topic", Some("tk_x"), &outgoing());
        let header =
            |name| request.headers.iter().find(|(it, _)| *it == name).map(|(_, it)| it.as_str());
        assert_eq!(header("title"), Some("Task 12 (train) has failed"));
        assert_eq!(header("priority"), Some("4"));
        assert_eq!(header("click"), Some("https://gpu.example/tasks/12"));
        assert_eq!(header("authorization"), Some("Bearer tk_x"));
        assert_eq!(encoded("任务"), "=?UTF-8?B?5Lu75Yqh?=");
    }
}

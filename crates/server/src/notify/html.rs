//! A message as HTML, for mail programs: one table, inline styles, readable in light and dark.

use super::render::{Rendered, Tone};
use danlu_messages::Language;
use danlu_messages::notify::letters as msg;

pub(crate) fn html(message: &Rendered) -> String {
    let colour = match message.tone {
        Tone::Good => "#1a7f37",
        Tone::Bad => "#cf222e",
        Tone::Neutral => "#0969da",
    };
    let mut body = format!(
        "<div style=\"border-left:4px solid {colour};padding:2px 0 2px 14px;margin:0 0 18px\">\
         <h1 style=\"font-size:18px;line-height:1.4;margin:0;font-weight:600\">{}</h1></div>",
        escaped(&message.headline)
    );
    if !message.text.is_empty() {
        let text = escaped(&message.text).replace('\n', "<br>");
        body += &format!("<p style=\"margin:0 0 18px;line-height:1.5\">{text}</p>");
    }
    if !message.facts.is_empty() {
        body += "<table role=\"presentation\" style=\"border-collapse:collapse;margin:0 0 18px;font-size:14px\">";
        for (label, value) in &message.facts {
            body += &format!(
                "<tr><td style=\"padding:4px 18px 4px 0;opacity:.7;white-space:nowrap;vertical-align:top\">{}</td>\
                 <td style=\"padding:4px 0;word-break:break-word\">{}</td></tr>",
                escaped(label),
                escaped(value)
            );
        }
        body += "</table>";
    }
    for (heading, lines) in message.quoted.iter().chain(&message.items) {
        body += &format!(
            "<p style=\"margin:0 0 6px;font-size:14px;opacity:.7\">{}</p>\
             <pre style=\"margin:0 0 18px;padding:12px;border:1px solid #8888;border-radius:6px;font:12px/1.5 \
             ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;word-break:break-word\">{}</pre>",
            escaped(heading),
            escaped(&lines.join("\n"))
        );
    }
    if let Some(link) = &message.link {
        body += &format!(
            "<p style=\"margin:0 0 18px\"><a href=\"{}\" style=\"display:inline-block;background:{colour};\
             color:#ffffff;text-decoration:none;padding:8px 16px;border-radius:6px;font-size:14px\">{}</a></p>",
            escaped(link),
            msg::open()
        );
    }
    if let Some(hint) = &message.hint {
        body += &format!("<p style=\"margin:0 0 18px;font-size:14px\">{}</p>", escaped(hint));
    }
    format!(
        "<!DOCTYPE html><html lang=\"{}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>:root{{color-scheme:light dark}}</style></head>\
         <body style=\"margin:0;padding:24px 16px;font-family:-apple-system,'Segoe UI',Roboto,'Noto Sans CJK SC',\
         'PingFang SC','Microsoft YaHei',sans-serif\"><div style=\"max-width:640px;margin:0 auto\">{body}\
         <p style=\"margin:24px 0 0;padding-top:12px;border-top:1px solid #8888;font-size:12px;opacity:.7\">\
         {} · {}</p></div></body></html>",
        Language::current().code(),
        msg::brand(),
        escaped(&message.footer)
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_prints_is_text() {
        let message = Rendered {
            headline: "<script>".into(),
            facts: vec![("Evidence", "a\" onload=\"b & c".into())],
            ..Rendered::default()
        };
        let html = html(&message);
        assert!(html.contains("&lt;script&gt;") && html.contains("a&quot; onload=&quot;b &amp; c"));
    }
}

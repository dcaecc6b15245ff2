//! The subject of mail, from a template of the administrator's.

use super::letter::Letter;
use super::render::Rendered;
use danlu_messages::states;

/// `{id}`, `{name}`, `{state}`, `{user}`, `{node}`, `{headline}` and so on, as the subject of mail has them.
pub(crate) fn subject(template: Option<&str>, letter: &Letter, rendered: &Rendered) -> String {
    let usual = "[Danlu] {headline}";
    let task = letter.task();
    let text = |value: Option<String>| value.unwrap_or_default();
    let values = [
        ("{headline}", rendered.headline.clone()),
        ("{id}", text(task.map(|task| task.id.to_string()))),
        ("{name}", text(task.map(|task| task.name.clone()))),
        ("{state}", text(task.map(|task| states::task(task.state).to_owned()))),
        ("{user}", text(task.map(|task| task.user.clone()))),
        ("{node}", text(task.map(|task| task.nodes.join(",")))),
        ("{kind}", letter.kind().to_owned()),
    ];
    let mut subject = template.unwrap_or(usual).to_owned();
    // A task's name may look like a placeholder: each is replaced in the template's own text only.
    let mut out = String::new();
    while let Some(at) = subject.find('{') {
        out += &subject[..at];
        let rest = subject.split_off(at);
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out += value;
                subject = rest[name.len()..].to_owned();
            }
            None => {
                out.push('{');
                subject = rest[1..].to_owned();
            }
        }
    }
    out += &subject;
    one_line(&out)
}

/// A header has one line, of a length that mail programs show.
fn one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::super::digest::tests::ended;
    use super::super::letter::Matter;
    use super::super::render::{RenderContext, render};
    use super::*;
    use danlu_messages::Language;
    use danlu_wire::api::TaskStateName;

    #[test]
    fn subjects_are_templates_whose_values_are_not() {
        let mut letter = ended(12, None, TaskStateName::Failed);
        if let Matter::Task { task, .. } = &mut letter.matter {
            task.name = "{user}\r\nBcc: x@y.z".into();
        }
        let of = |template| {
            Language::English
                .within(|| subject(template, &letter, &render(&letter, &RenderContext::default())))
        };
        assert_eq!(of(Some("{state} {id}: {name} {odd}")), "failed 12: {user}  Bcc: x@y.z {odd}");
        assert_eq!(of(Some("服务器通知")), "服务器通知");
        assert!(of(None).starts_with("[Danlu] Task 12"), "{}", of(None));
    }
}

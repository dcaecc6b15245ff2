//! Words a message: a headline, facts, quoted lines; as text for people, in the language of whoever calls `within`.

use super::digest_words::{about_many, about_month};
use super::letter::{ForeignFacts, Letter, Matter};
use super::task_words::about_task;
use danlu_messages::notify::letters as msg;
use danlu_wire::api::Efficiency;

/// One message in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Rendered {
    pub(crate) headline: String,
    pub(crate) tone: Tone,
    /// A paragraph below the headline.
    pub(crate) text: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    /// A heading and lines as they were printed.
    pub(crate) quoted: Option<(&'static str, Vec<String>)>,
    pub(crate) items: Option<(&'static str, Vec<String>)>,
    /// What to type.
    pub(crate) hint: Option<String>,
    pub(crate) link: Option<String>,
    /// Why the recipient gets it.
    pub(crate) footer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    Good,
    Bad,
    #[default]
    Neutral,
}

/// What is known beside the letter.
#[derive(Debug, Clone, Default)]
pub(crate) struct RenderContext {
    /// Of the web pages.
    pub(crate) url: Option<String>,
    pub(crate) last_lines: Vec<String>,
    /// What its last run has made of what it held.
    pub(crate) efficiency: Option<Efficiency>,
    /// Whose settings it is because of; `None`: an administrator's.
    pub(crate) user: Option<String>,
}

pub(crate) fn render(letter: &Letter, context: &RenderContext) -> Rendered {
    let rendered = match &letter.matter {
        Matter::Task { news, task } => about_task(letter.at, news, task, context),
        Matter::Digest(facts) => about_many(facts),
        Matter::Monthly(facts) => about_month(facts, context),
        Matter::Announcement { text } => Rendered {
            headline: msg::announcement().to_owned(),
            text: text.clone(),
            link: Some("/".to_owned()),
            ..Rendered::default()
        },
        Matter::GpuQuarantined { node, gpu, model, why, tasks } => Rendered {
            headline: msg::quarantined(gpu, node),
            tone: Tone::Bad,
            facts: said(vec![
                (msg::model(), model.clone()),
                (msg::reason(), why.clone()),
                (msg::tasks_there(), numbers(tasks)),
            ]),
            hint: Some(msg::enable_with(&format!("danlu gpu enable {node}:{gpu}"))),
            link: Some(format!("/nodes/{node}")),
            ..Rendered::default()
        },
        Matter::NodeLost { node, tasks } => Rendered {
            headline: msg::node_lost(node),
            tone: Tone::Bad,
            facts: said(vec![(msg::tasks_there(), numbers(tasks))]),
            hint: Some(msg::more_with(&format!("danlu node check {node}"))),
            link: Some(format!("/nodes/{node}")),
            ..Rendered::default()
        },
        Matter::Quota { used, most } => Rendered {
            headline: msg::quota_reached(used, most),
            tone: Tone::Bad,
            hint: Some(msg::more_with(&"danlu ls")),
            ..Rendered::default()
        },
        Matter::GpusFree { wanted, free } => {
            let count: usize = free.iter().map(|(_, gpus)| gpus.len()).sum();
            let each = free.iter().map(|(node, gpus)| format!("{node}: {}", numbers(gpus)));
            Rendered {
                headline: msg::gpus_free(&count, wanted),
                tone: Tone::Good,
                facts: vec![(msg::free_now(), each.collect::<Vec<_>>().join("; "))],
                link: Some("/gpus".to_owned()),
                ..Rendered::default()
            }
        }
        Matter::ForeignProcess { facts, yours } => about_foreign(facts, *yours),
        Matter::Dropped { count } => Rendered {
            headline: msg::dropped(count),
            tone: Tone::Bad,
            hint: Some(msg::more_with(&"danlu notify list --failed")),
            ..Rendered::default()
        },
        Matter::Test { user } => Rendered {
            headline: msg::test().to_owned(),
            text: msg::test_text(user),
            tone: Tone::Good,
            ..Rendered::default()
        },
    };
    let link = context.url.as_ref().zip(rendered.link).map(|(url, path)| format!("{url}{path}"));
    let footer = match &context.user {
        Some(user) => msg::why_you(user),
        None => msg::as_admin().to_owned(),
    };
    Rendered { link, footer, ..rendered }
}

fn about_foreign(facts: &ForeignFacts, yours: bool) -> Rendered {
    let ForeignFacts { node, gpu, pid, user, command, task, owner } = facts;
    let pid = format!("pid {pid}");
    let process = [user.as_str(), &pid, command].into_iter().filter(|word| !word.is_empty());
    let holder = match owner {
        Some(owner) => format!("{}, {owner}", msg::task(task)),
        None => msg::task(task),
    };
    let words = if yours { msg::foreign_yours } else { msg::foreign };
    Rendered {
        headline: words(node, gpu),
        tone: Tone::Bad,
        facts: vec![
            (msg::process(), process.collect::<Vec<_>>().join(", ")),
            (msg::holder(), holder),
        ],
        hint: Some(msg::more_with(&"danlu gpus")),
        link: Some("/gpus".to_owned()),
        ..Rendered::default()
    }
}

pub(super) fn numbers<T: ToString>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// Without those that say nothing.
pub(super) fn said(facts: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

impl Rendered {
    pub(crate) fn plain(&self) -> String {
        let mut out = format!("{}\n", self.headline);
        if !self.text.is_empty() {
            out += &format!("\n{}\n", self.text);
        }
        if !self.facts.is_empty() {
            out.push('\n');
        }
        for (label, value) in &self.facts {
            out += &format!("{label}: {value}\n");
        }
        for (heading, lines) in self.quoted.iter().chain(&self.items) {
            out += &format!("\n{heading}:\n");
            lines.iter().for_each(|line| out += &format!("    {line}\n"));
        }
        let ends: Vec<&String> = self.hint.iter().chain(&self.link).collect();
        if !ends.is_empty() {
            out.push('\n');
        }
        ends.into_iter().for_each(|line| out += &format!("{line}\n"));
        out
    }

    /// Without the headline, for chats that show a title.
    pub(crate) fn body(&self) -> String {
        let plain = self.plain();
        plain.split_once('\n').map_or("", |(_, rest)| rest).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::tests::ended;
    use super::*;
    use danlu_messages::Language;
    use danlu_wire::api::{AdviceView, TaskStateName};

    fn worded(language: Language, letter: &Letter) -> String {
        language.within(|| render(letter, &RenderContext::default()).headline)
    }

    #[test]
    fn headlines_are_in_the_language_of_the_reader() {
        let letter = ended(12, None, TaskStateName::Succeeded);
        assert_eq!(worded(Language::English, &letter), "Task 12 (train) has succeeded");
        assert_eq!(worded(Language::Chinese, &letter), "任务 12（train） 已成功");
    }

    #[test]
    fn the_end_of_a_task_tells_what_it_made_of_its_gpus() {
        let advice = AdviceView {
            text: "3 of 4 GPUs were never used: -g 1".into(),
            ..AdviceView::default()
        };
        let seen = Efficiency {
            gpu_utilization: Some(23),
            gpu_utilization_peak: Some(90),
            gpu_seconds: 4_000,
            gpu_idle_seconds: 3_000,
            advice: vec![advice],
            ..Efficiency::default()
        };
        let context = RenderContext { efficiency: Some(seen), ..RenderContext::default() };
        let letter = ended(12, None, TaskStateName::Succeeded);
        let text = Language::English.within(|| render(&letter, &context).plain());
        assert!(text.contains("GPU use: 23 % on average, 90 % at most"), "{text}");
        assert!(text.contains("GPU held but idle: 0:50:00 (75 %)"), "{text}");
        assert!(text.contains("Next time:\n    3 of 4 GPUs were never used: -g 1"), "{text}");
        let started = Letter {
            matter: match letter.matter {
                Matter::Task { task, .. } => {
                    Matter::Task { news: super::super::letter::TaskNews::Started, task }
                }
                other => other,
            },
            ..letter
        };
        let text = Language::English.within(|| render(&started, &context).plain());
        assert!(!text.contains("90 %"), "it has only begun: {text}");
    }
}

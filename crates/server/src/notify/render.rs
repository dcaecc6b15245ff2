//! Words a message: a headline, facts, quoted lines; as text for people, in the language of whoever calls `within`.

use super::letter::{DigestFacts, ForeignFacts, Letter, Matter, RequeuedFor, TaskFacts, TaskNews};
use danlu_core::{FailureClass, Span, TaskId, Time};
use danlu_messages::notify::letters as msg;
use danlu_messages::{amounts, ends, states};
use danlu_wire::api::TaskStateName;
use jiff::Timestamp;
use jiff::tz::TimeZone;

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
    /// Whose settings it is because of; `None`: an administrator's.
    pub(crate) user: Option<String>,
}

pub(crate) fn render(letter: &Letter, context: &RenderContext) -> Rendered {
    let rendered = match &letter.matter {
        Matter::Task { news, task } => about_task(letter.at, news, task, context),
        Matter::Digest(facts) => about_many(facts),
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

fn numbers<T: ToString>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// Without those that say nothing.
fn said(facts: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

pub(crate) fn name_of(task: &TaskFacts) -> String {
    let id = match task.array.zip(task.index) {
        Some((first, index)) => format!("{} [{first}_{index}]", task.id),
        None => task.id.to_string(),
    };
    match task.name.is_empty() {
        true => msg::task(&id),
        false => msg::task_name(&id, &task.name),
    }
}

fn about_task(at: Time, news: &TaskNews, task: &TaskFacts, context: &RenderContext) -> Rendered {
    let name = name_of(task);
    let show = || msg::more_with(&format!("danlu show {}", task.id));
    let (headline, tone, hint) = match news {
        TaskNews::Started if task.attempt > 1 => {
            (msg::started_again(&name, &task.attempt), Tone::Neutral, show())
        }
        TaskNews::Started => (msg::started(&name), Tone::Neutral, show()),
        TaskNews::Ended => (ended(task, &name), tone_of(task.state), show()),
        TaskNews::Requeued { why } => {
            let words = match why {
                RequeuedFor::Failure => msg::requeued_failed(&name),
                RequeuedFor::Loss => msg::requeued_lost(&name),
                RequeuedFor::Preemption => msg::requeued_preempted(&name),
                RequeuedFor::Request => msg::requeued(&name),
                RequeuedFor::Idle => msg::requeued_idle(&name),
            };
            (words, Tone::Neutral, msg::more_with(&format!("danlu why {}", task.id)))
        }
        TaskNews::Lost { node } => (msg::lost(&name, node), Tone::Bad, show()),
        TaskNews::Expiring { ends_at } => {
            let left = amounts::two_units(ends_at.since(at).0 / 1_000);
            let more = msg::more_time_with(&format!("danlu extend {} 2h", task.id));
            (msg::expiring(&name, &left), Tone::Neutral, more)
        }
        TaskNews::Idle { since, stops, .. } => {
            let time = amounts::two_units(at.since(*since).0 / 1_000);
            let words = match stops {
                Some(_) => msg::idle_asked(&name, &time),
                None => msg::idle_told(&name, &time),
            };
            let keep = msg::keep_with(&format!("danlu keep {} 2h", task.id));
            (words, Tone::Neutral, keep)
        }
        TaskNews::InDoubt => {
            let release = msg::release_with(&format!("danlu release {}", task.id));
            (msg::in_doubt(&name), Tone::Bad, release)
        }
    };
    let ended = matches!(news, TaskNews::Ended | TaskNews::Requeued { .. });
    let mut facts = facts_of(task, ended);
    if let TaskNews::Expiring { ends_at } = news {
        facts.push((msg::ends_at(), moment(*ends_at)));
    }
    let mut path = format!("/tasks/{}", task.id);
    if let TaskNews::Idle { since, kind, stops } = news {
        facts.push((msg::idle_why(), danlu_messages::idle::kind(*kind).to_owned()));
        facts.push((msg::idle_since(), moment(*since)));
        if let Some(stop) = stops {
            let label = if stop.requeue { msg::idle_requeued_at() } else { msg::idle_ends_at() };
            facts.push((label, moment(stop.at)));
        }
        path += "/keep";
    }
    let lines = Some(context.last_lines.clone()).filter(|lines| ended && !lines.is_empty());
    Rendered {
        headline,
        tone,
        facts: said(facts),
        quoted: lines.map(|lines| (msg::last_lines(), lines)),
        hint: Some(hint),
        link: Some(path),
        ..Rendered::default()
    }
}

fn ended(task: &TaskFacts, name: &str) -> String {
    match (task.state, task.class()) {
        (TaskStateName::Succeeded, _) => msg::succeeded(&name),
        (TaskStateName::Failed, Some(class)) => msg::failed_class(&name, &class.as_str()),
        (TaskStateName::Failed, None) => msg::failed(&name),
        (TaskStateName::Cancelled, Some(FailureClass::Idle)) => msg::ended_idle(&name),
        (TaskStateName::Cancelled, _) => msg::cancelled(&name),
        (TaskStateName::TimedOut, _) => msg::timed_out(&name),
        (_, _) => msg::ended(&name),
    }
}

fn tone_of(state: TaskStateName) -> Tone {
    match state {
        TaskStateName::Succeeded => Tone::Good,
        TaskStateName::Failed | TaskStateName::TimedOut => Tone::Bad,
        TaskStateName::Held
        | TaskStateName::Blocked
        | TaskStateName::Queued
        | TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Cancelled
        | TaskStateName::Unknown => Tone::Neutral,
    }
}

fn facts_of(task: &TaskFacts, ended: bool) -> Vec<(&'static str, String)> {
    let node = task.nodes.join(", ");
    let place = match task.gpus.is_empty() || node.is_empty() {
        true => node,
        false => msg::machine_gpus(&node, &numbers(&task.gpus)),
    };
    let ran = task.started_at.zip(task.ended_at.filter(|_| ended));
    let waited = task.started_at.map(|started| started.since(task.submitted_at));
    let words = |span: Span| amounts::two_units(span.0 / 1_000);
    let exit = task.exit.as_ref().filter(|exit| ended && !exit.is_success());
    vec![
        (msg::owner(), task.user.clone()),
        (msg::command(), task.command.clone()),
        (msg::machine(), place),
        (msg::exit(), exit.map(ends::exit).unwrap_or_default()),
        (msg::evidence(), evidence(task).filter(|_| ended).unwrap_or_default()),
        (msg::started_at(), task.started_at.map(moment).unwrap_or_default()),
        (msg::waited_for(), waited.filter(|_| !ended).map(words).unwrap_or_default()),
        (msg::ended_at(), task.ended_at.filter(|_| ended).map(moment).unwrap_or_default()),
        (msg::ran_for(), ran.map(|(from, to)| words(to.since(from))).unwrap_or_default()),
    ]
}

/// The line that proves a failure, where one was printed.
pub(crate) fn evidence(task: &TaskFacts) -> Option<String> {
    let (failure, exit) = (task.failure.as_ref()?, task.exit.as_ref()?);
    let words = ends::evidence(failure, exit, &task.used);
    (!words.is_empty() && words != ends::exit(exit)).then_some(words)
}

fn about_many(facts: &DigestFacts) -> Rendered {
    let count = |(word, count): (&String, &u64)| {
        let state = match word.as_str() {
            "started" => msg::count_started(),
            "requeued" => msg::count_requeued(),
            "other" => msg::count_warnings(),
            state => TaskStateName::ALL
                .into_iter()
                .find(|it| it.as_str() == state)
                .map_or(msg::count_warnings(), states::task),
        };
        msg::count_of(count, &state)
    };
    let counts: Vec<String> = facts.counts.iter().map(count).collect();
    let what = match (facts.array, facts.name.is_empty()) {
        (Some(array), true) => msg::array(&array),
        (Some(array), false) => msg::array_name(&array, &facts.name),
        (None, _) => msg::your_tasks().to_owned(),
    };
    let failure = |task: &TaskFacts| {
        let why = evidence(task).or_else(|| task.exit.as_ref().map(ends::exit));
        match (task.class(), why) {
            (Some(class), Some(why)) => format!("{}: {}: {why}", task.id, class.as_str()),
            (_, why) => format!("{}: {}", task.id, why.unwrap_or_default()),
        }
    };
    let failures: Vec<String> = facts.failures.iter().map(failure).collect();
    let bad = facts.counts.keys().any(|word| word == "failed" || word == "timed_out");
    let ids = match facts.first_task == facts.last_task {
        true => facts.first_task.to_string(),
        false => format!("{}-{}", facts.first_task, facts.last_task),
    };
    let list =
        if bad { format!("danlu ls {ids} --state failed") } else { format!("danlu ls {ids}") };
    Rendered {
        headline: msg::digest(&what, &counts.join(", ")),
        tone: if bad { Tone::Bad } else { Tone::Good },
        items: (!failures.is_empty()).then(|| (msg::first_failures(), failures)),
        hint: (facts.first_task != TaskId(0)).then(|| msg::more_with(&list)),
        link: Some(format!("/tasks?ids={ids}")),
        ..Rendered::default()
    }
}

pub(crate) fn moment(at: Time) -> String {
    let Ok(at) = Timestamp::from_millisecond(at.0) else { return String::new() };
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
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
    use super::*;
    use danlu_messages::Language;

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

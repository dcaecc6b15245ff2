//! Why a task waits: short in lists, in full on its own page.

use super::moment::Moment;
use super::page_context::PageContext;
use crate::api::why::Explained;
use danlu_core::explain::why::Alternative;
use danlu_core::{Time, WaitReason};
use danlu_messages::reasons::{self, Condition};
use danlu_messages::web::{pages, reasons as msg};
use danlu_wire::api::TaskView;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// As text, and the moment it is about, if there is one.
pub(super) fn reason(wait: &WaitReason, context: &PageContext) -> (String, Option<Moment>) {
    let moment = |time: &Time| Some(Moment::new(*time, context.now));
    match wait {
        WaitReason::Begins { at } => (msg::begins_at().to_owned(), moment(at)),
        WaitReason::RetryAt { at } => (msg::retry_at().to_owned(), moment(at)),
        // A script shows moments in the reader's time zone, so they stand behind the words.
        WaitReason::WouldDelay { first, starts_at } => {
            let unknown = WaitReason::WouldDelay { first: *first, starts_at: None };
            let words = reasons::reason(&unknown, marked);
            (words, starts_at.as_ref().and_then(moment))
        }
        wait @ (WaitReason::Held
        | WaitReason::Dependencies { .. }
        | WaitReason::NoNodes
        | WaitReason::NeverFits
        | WaitReason::NodesUnavailable { .. }
        | WaitReason::NodesUnfit { .. }
        | WaitReason::GpusOnSeveralNodes { .. }
        | WaitReason::InDoubt { .. }
        | WaitReason::GpusUnavailable { .. }
        | WaitReason::GpusDisabled { .. }
        | WaitReason::NodesShortOfMemory { .. }
        | WaitReason::Settling
        | WaitReason::GpusBusy
        | WaitReason::Resources { .. }
        | WaitReason::TooFewNodes { .. }
        | WaitReason::NamedResources { .. }
        | WaitReason::QueuePaused
        | WaitReason::ArrayLimit { .. }
        | WaitReason::Behind { .. }
        | WaitReason::Quota(_)
        | WaitReason::Outranked
        | WaitReason::AboutToStart) => (reasons::reason(wait, marked), None),
    }
}

/// Where a moment stands in a sentence.
const MARK: char = '\u{1}';

fn marked(at: Time) -> String {
    format!("{MARK}{}{MARK}", at.0)
}

/// A piece of a sentence, and the moment or the link to a task that follows it.
#[derive(Default)]
pub(super) struct ReasonPiece {
    pub(super) text: String,
    pub(super) at: Option<Moment>,
    pub(super) task: Option<u64>,
}

/// What has to happen before the task starts.
pub(super) struct Clause {
    pub(super) pieces: Vec<ReasonPiece>,
}

impl Clause {
    fn of(condition: &Condition, context: &PageContext) -> Clause {
        let mut tasks = condition.tasks.iter().map(|task| task.0).peekable();
        let mut pieces = Vec::new();
        let parts: Vec<&str> = condition.words.split(MARK).collect();
        for pair in parts.chunks(2) {
            let mut text = pair.first().copied().unwrap_or_default();
            // Their ids stand in the sentence in the same order.
            while let Some(task) = tasks.peek().copied()
                && let Some((before, after)) = around_id(text, task)
            {
                pieces.push(ReasonPiece { text: before.to_owned(), at: None, task: Some(task) });
                text = after;
                tasks.next();
            }
            let at = pair.get(1).and_then(|at| at.parse().ok());
            let at = at.map(|at| Moment::new(Time(at), context.now));
            pieces.push(ReasonPiece { text: text.to_owned(), at, task: None });
        }
        Clause { pieces }
    }
}

/// What stands before and after the id of a task; `None` where it is not mentioned.
fn around_id(text: &str, task: u64) -> Option<(&str, &str)> {
    let id = task.to_string();
    let found = text.match_indices(&id).find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        ![before, after].into_iter().flatten().any(|it| it.is_alphanumeric() && it.is_ascii())
    });
    found.map(|(at, _)| (&text[..at], &text[at + id.len()..]))
}

/// The panel of a waiting task.
pub(super) struct Panel {
    /// What it needs, what of that is missing, and its place in the queue.
    pub(super) summary: String,
    pub(super) clauses: Vec<Clause>,
    pub(super) reserved: bool,
    /// Options that would let it start now, and the form with them filled in.
    pub(super) alternatives: Vec<(String, String)>,
}

pub(super) fn panel(explained: &Explained, task: &TaskView, context: &PageContext) -> Panel {
    let (why, needs) = (&explained.why, &explained.needs);
    let gpus = needs.gpus_per_node();
    let alternative = |it: &Alternative| {
        let fields = match it {
            Alternative::Gpus(fewer) => match &needs.gpu_model {
                Some(model) => format!("gpus={}", encoded(&format!("{model}:{fewer}"))),
                None => format!("gpus={fewer}"),
            },
            Alternative::Model(model) => {
                format!("gpus={}", encoded(&reasons::gpus_field(model, gpus)))
            }
            Alternative::Shared(bytes) => {
                format!("sharing=shared&vram={}M", bytes.div_ceil(1 << 20))
            }
        };
        (reasons::options(it, gpus), format!("/new?edit={}&{fields}", task.id))
    };
    let conditions = reasons::conditions(&why.constraints, marked);
    let worded = reasons::needs(needs);
    let summary = match reasons::short_of(&why.short_of) {
        Some(short) => pages::needs_but_short(&worded, &short),
        None => pages::needs(&worded),
    };
    let place = why.place.map(reasons::place);
    let summary = place.map_or(summary.clone(), |place| pages::place_in_queue(&summary, &place));
    Panel {
        summary,
        clauses: conditions.iter().map(|condition| Clause::of(condition, context)).collect(),
        reserved: why.reserved,
        alternatives: why.alternatives.iter().map(alternative).collect(),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_tasks_are_found_as_whole_numbers() {
        assert_eq!(around_id("2 (root, 12:10) ends", 2), Some(("", " (root, 12:10) ends")));
        assert_eq!(around_id("2（root）结束", 2), Some(("", "（root）结束")));
        assert_eq!(around_id("12 and 2 end", 2), Some(("12 and ", " end")));
        assert_eq!(around_id("user2 ends", 2), None);
    }
}

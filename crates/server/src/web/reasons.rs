//! Why a task waits: short in lists, in full on its own page.

use super::moment::Moment;
use super::page_context::PageContext;
use crate::api::why::Explained;
use danlu_core::explain::why::Alternative;
use danlu_core::{Time, WaitReason};
use danlu_messages::reasons::{self, Condition};
use danlu_messages::web::reasons as msg;
use danlu_wire::api::TaskView;

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

/// A piece of a sentence, and the moment that follows it.
pub(super) struct ReasonPiece {
    pub(super) text: String,
    pub(super) at: Option<Moment>,
}

fn pieces(words: &str, context: &PageContext) -> Vec<ReasonPiece> {
    let parts: Vec<&str> = words.split(MARK).collect();
    let piece = |pair: &[&str]| ReasonPiece {
        text: pair.first().copied().unwrap_or_default().to_owned(),
        at: pair.get(1).and_then(|at| at.parse().ok()).map(|at| Moment::new(Time(at), context.now)),
    };
    parts.chunks(2).map(piece).collect()
}

/// What has to happen, and the tasks it is about.
pub(super) struct Clause {
    pub(super) pieces: Vec<ReasonPiece>,
    pub(super) tasks: Vec<u64>,
}

impl Clause {
    fn of(condition: &Condition, context: &PageContext) -> Clause {
        let tasks = condition.tasks.iter().map(|task| task.0).collect();
        Clause { pieces: pieces(&condition.words, context), tasks }
    }
}

/// The panel of a waiting task.
pub(super) struct Panel {
    pub(super) needs: String,
    pub(super) short_of: Option<String>,
    pub(super) place: Option<String>,
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
    let conditions = || reasons::conditions(&why.constraints, marked);
    Panel {
        needs: reasons::needs(needs),
        short_of: reasons::short_of(&why.short_of),
        place: why.place.map(reasons::place),
        clauses: conditions().iter().map(|condition| Clause::of(condition, context)).collect(),
        reserved: why.reserved,
        alternatives: why.alternatives.iter().map(alternative).collect(),
    }
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    let one = |byte: u8| match plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

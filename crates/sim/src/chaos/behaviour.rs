//! What a task's command does when it runs.

use danlu_core::effect::Launch;
use danlu_core::run::Exit;
use danlu_core::{Failure, FailureClass, Span};

/// What the command does unless it is stopped.
pub(super) struct Behaviour {
    pub(super) span: Span,
    pub(super) exit: Exit,
    /// What its node finds in its log.
    pub(super) failure: Option<Failure>,
}

/// How a task comes to use the memory of its GPUs.
pub(super) struct Growth {
    pub(super) needs: u64,
    pub(super) within: Span,
}

impl Growth {
    /// Most need what they have asked for, some less, few more.
    pub(super) fn of(launch: &Launch) -> Growth {
        let asked = launch.spec.request.gpu_memory;
        let needs = match launch.run.number % 8 {
            0 => asked / 2,
            1 => asked / 10 * 11,
            _ => asked,
        };
        Growth { needs, within: Span(1 + launch.task.0 * 7919 % 12_000) }
    }
}

/// Longer than any world lives.
const FOR_EVER: Span = Span::from_secs(30 * 86_400);

impl Behaviour {
    /// `serve` goes on until it is stopped. `work MILLISECONDS EXIT [CLASS]` ends with a code, a signal
    /// (`sN`), or in its last part with a code while the others hang (`hN`); what it prints is of that class.
    pub(super) fn of(launch: &Launch) -> Behaviour {
        let word = |at: usize| launch.spec.command.get(at).map_or("", String::as_str);
        let last = launch.rank as usize + 1 == launch.nodes.len();
        let number = |text: &str| text.parse().unwrap_or(0);
        let span = Span(word(1).parse().unwrap_or(0));
        let (span, exit) = match (word(0), word(2).split_at_checked(1)) {
            ("serve", _) => (FOR_EVER, Exit::Code(0)),
            (_, Some(("h", _))) if !last => (FOR_EVER, Exit::Code(0)),
            (_, Some(("h", code))) => (span, Exit::Code(number(code))),
            (_, Some(("s", signal))) => (span, Exit::Signal(number(signal))),
            _ => (span, Exit::Code(number(word(2)))),
        };
        let class = FailureClass::from_name(word(3)).filter(|_| !exit.is_success());
        let failure = class.map(|class| Failure::new(class, "a line of the log"));
        Behaviour { span, exit, failure }
    }
}

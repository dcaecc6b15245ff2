//! What a task's command does when it runs.

use danlu_core::Span;
use danlu_core::effect::Launch;
use danlu_core::run::Exit;

/// What the command will do if nobody stops it.
pub(super) struct Behaviour {
    pub(super) span: Span,
    pub(super) exit: Exit,
}

/// Longer than any world lives.
const FOR_EVER: Span = Span::from_secs(30 * 86_400);

impl Behaviour {
    /// `serve` goes on until it is stopped. `work MILLISECONDS EXIT` ends with a code, a signal
    /// (`sN`), or in its last part with a code while the others hang (`hN`).
    pub(super) fn of(launch: &Launch) -> Behaviour {
        let word = |at: usize| launch.spec.command.get(at).map_or("", String::as_str);
        let last = launch.rank as usize + 1 == launch.nodes.len();
        let number = |text: &str| text.parse().unwrap_or(0);
        let span = Span(word(1).parse().unwrap_or(0));
        match (word(0), word(2).split_at_checked(1)) {
            ("serve", _) => Behaviour { span: FOR_EVER, exit: Exit::Code(0) },
            (_, Some(("h", _))) if !last => Behaviour { span: FOR_EVER, exit: Exit::Code(0) },
            (_, Some(("h", code))) => Behaviour { span, exit: Exit::Code(number(code)) },
            (_, Some(("s", signal))) => Behaviour { span, exit: Exit::Signal(number(signal)) },
            _ => Behaviour { span, exit: Exit::Code(number(word(2))) },
        }
    }
}

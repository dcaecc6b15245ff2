//! The output of the selected task: which run is read, and what came of it.

use danlu_wire::api::TaskView;

use super::log_text::LogText;

/// Lines that are read when a task is selected, and when its log is opened.
pub(crate) const FEW_LINES: u64 = 200;
pub(crate) const MANY_LINES: u64 = 5_000;

/// A run whose output is read. It changes when the task is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSubject {
    pub(crate) task: u64,
    pub(crate) attempt: u32,
    /// Begin with the last so many lines.
    pub(crate) lines: u64,
}

/// What a reader of a log has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogNews {
    Bytes(Vec<u8>),
    /// All that is there has been read.
    Ended,
    /// A sentence.
    Refused(String),
}

#[derive(Debug, Default)]
pub(crate) struct LogPane {
    pub(crate) subject: Option<LogSubject>,
    pub(crate) text: LogText,
    pub(crate) has_ended: bool,
    pub(crate) refused: Option<String>,
}

impl LogPane {
    /// `Some` when something else has to be read: the run, or none.
    pub(crate) fn turn_to(
        &mut self,
        task: Option<&TaskView>,
        lines: u64,
    ) -> Option<Option<LogSubject>> {
        let has_run = |task: &&TaskView| task.started_at.is_some();
        let subject = task.filter(has_run).map(|task| LogSubject {
            task: task.id,
            attempt: task.attempt.max(1),
            lines,
        });
        if subject == self.subject {
            return None;
        }
        *self = Self { subject, ..Self::default() };
        Some(subject)
    }

    /// News of what was read before do not count.
    pub(crate) fn take(&mut self, of: LogSubject, news: LogNews) {
        if Some(of) != self.subject {
            return;
        }
        match news {
            LogNews::Bytes(bytes) => self.text.feed(&bytes),
            LogNews::Ended => self.has_ended = true,
            LogNews::Refused(words) => self.refused = Some(words),
        }
    }
}

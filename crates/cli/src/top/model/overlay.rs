//! What lies over the panes: help, a question, the reason of a wait, the filter, the whole log.

use danlu_wire::api::ActName;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Overlay {
    #[default]
    Nothing,
    Help,
    /// `None` until the server has answered.
    Reason {
        task: u64,
        text: Option<String>,
        top: usize,
    },
    Question {
        question: String,
        act: TopAct,
    },
    Filter {
        text: String,
    },
    Log(LogView),
}

/// The whole log: where it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogView {
    /// The newest line is the last one on the screen.
    Following,
    /// This row is the last one on the screen.
    At { last: usize },
}

/// Something that is done to a task, or to the open elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopAct {
    pub(crate) act: ActName,
    pub(crate) task: u64,
    pub(crate) array: Option<u64>,
}

impl LogView {
    /// Any step up stops following; the end starts it again.
    pub(crate) fn scroll(self, by: isize, rows: usize, height: usize) -> LogView {
        let end = rows.saturating_sub(1);
        let last = match self {
            LogView::Following => end,
            LogView::At { last } => last.min(end),
        };
        let least = height.max(1).min(rows).saturating_sub(1);
        let last = last.saturating_add_signed(by).clamp(least, end.max(least));
        match last >= end && by >= 0 || rows <= height {
            true => LogView::Following,
            false => LogView::At { last },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_step_up_stops_following_and_the_end_starts_it() {
        let up = LogView::Following.scroll(-1, 100, 20);
        assert_eq!(up, LogView::At { last: 98 });
        // More has been written: it stays where it is.
        assert_eq!(up.scroll(-1, 150, 20), LogView::At { last: 97 });
        assert_eq!(up.scroll(1, 100, 20), LogView::Following);
        assert_eq!(up.scroll(isize::MAX, 150, 20), LogView::Following);
        assert_eq!(up.scroll(-1_000, 100, 20), LogView::At { last: 19 });
        assert_eq!(LogView::Following.scroll(-5, 10, 20), LogView::Following);
        assert_eq!(LogView::Following.scroll(-5, 0, 20), LogView::Following);
    }
}

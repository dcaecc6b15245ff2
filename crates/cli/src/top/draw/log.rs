//! The output of the selected task: its last lines below the panes, or all of it.

use danlu_messages::cli::top as msg;
use danlu_wire::api::{Line, TaskStateName};
use jiff::Timestamp;
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Palette, row_of, text, title};
use crate::{
    screen::{states, tasks, width},
    top::model::{LogView, TopModel, log_text::wrapped},
};

/// As many as fit.
pub(super) fn draw_last(buffer: &mut Buffer, area: Rect, model: &TopModel, now: Timestamp) {
    let Some(line) = model.tasks.selected_line() else {
        return title(buffer, area, msg::title_log_none(), "", false);
    };
    title(buffer, area, &heading(line, model), "", false);
    let rows = usize::from(area.height.saturating_sub(1));
    let lines = model.log.text.lines();
    if let Some(words) = instead(line, model, now).filter(|_| lines.is_empty()) {
        return text(buffer, row_of(area, 1), &words, Palette::dim());
    }
    let shown = &lines[lines.len().saturating_sub(rows)..];
    for (row, words) in (1..area.height).zip(shown) {
        text(buffer, row_of(area, row), words, Style::new());
    }
}

pub(super) fn draw_whole(buffer: &mut Buffer, area: Rect, model: &TopModel, view: LogView) {
    let Some(line) = model.tasks.selected_line() else { return };
    let state = match view {
        LogView::Following if model.log.has_ended => msg::log_ended(),
        LogView::Following => msg::follows(),
        LogView::At { .. } => msg::stopped_following(),
    };
    title(buffer, area, &heading(line, model), state, true);
    let height = usize::from(area.height.saturating_sub(1));
    let columns = usize::from(area.width);
    let lines = model.log.text.lines();
    if let Some(words) = instead(line, model, Timestamp::UNIX_EPOCH).filter(|_| lines.is_empty()) {
        return text(buffer, row_of(area, 1), &words, Palette::dim());
    }
    let rows: Vec<String> = lines.iter().flat_map(|line| wrapped(line, columns)).collect();
    let end = match view {
        LogView::Following => rows.len(),
        LogView::At { last } => rows.len().min(last + 1),
    };
    let first = end.saturating_sub(height);
    for (row, words) in (1..area.height).zip(&rows[first..end]) {
        text(buffer, row_of(area, row), words, Style::new());
    }
}

fn heading(line: &Line, model: &TopModel) -> String {
    let task = &line.task;
    let mut words = msg::title_log(&task.id, &width::plain(&tasks::name(task)));
    if model.log.subject.is_some_and(|subject| subject.attempt > 1) {
        words += &format!(" · {}", msg::title_attempt(&task.attempt));
    }
    if model.log.text.is_cut {
        words += &format!(" · {}", msg::beginning_missing(&task.id));
    }
    words
}

/// What is said where there is no output.
fn instead(line: &Line, model: &TopModel, now: Timestamp) -> Option<String> {
    if let Some(refused) = &model.log.refused {
        return Some(width::plain(refused));
    }
    let task = &line.task;
    if task.state.is_waiting() && task.started_at.is_none() {
        let why = width::plain(&tasks::why(task, now));
        return Some(match task.state {
            TaskStateName::Held => why,
            state => msg::waits(&states::word(state), &why),
        });
    }
    Some(match model.log.subject {
        None => msg::has_not_run().to_owned(),
        Some(_) => msg::no_output().to_owned(),
    })
}

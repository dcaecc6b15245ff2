//! Windows over the panes: the keys, and why a task waits.

use danlu_messages::cli::top as msg;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line as TextLine, Span},
    widgets::{Block, Clear, Widget as _},
};

use super::{Palette, row_of, text};
use crate::{
    screen::width,
    top::model::{Overlay, TopModel, TopScreen, log_text::wrapped},
};

/// The widest that a window gets.
const WIDEST: u16 = 100;

pub(super) fn draw(buffer: &mut Buffer, body: Rect, model: &TopModel) {
    match &model.overlay {
        Overlay::Nothing | Overlay::Filter { .. } | Overlay::Log(_) => {}
        Overlay::Help => help(buffer, body, model.screen),
        Overlay::Reason { task, text, top } => {
            let words = text.as_deref().unwrap_or_else(|| msg::loading());
            let columns = usize::from(inner_width(body));
            let rows: Vec<String> =
                words.lines().flat_map(|line| wrapped(&width::plain(line), columns)).collect();
            let area = window(buffer, body, rows.len(), &msg::title_why(task));
            for (row, words) in (0..area.height).zip(rows.iter().skip(*top)) {
                super::text(buffer, row_of(area, row), words, Style::new());
            }
        }
        Overlay::Question { question, .. } => {
            let area = window(buffer, body, 2, "");
            text(buffer, row_of(area, 0), question, Palette::bold());
            text(buffer, row_of(area, 1), msg::yes_or_no(), Style::new());
        }
    }
}

fn help(buffer: &mut Buffer, body: Rect, screen: TopScreen) {
    let acts = [
        ("Enter l", msg::help_log()),
        ("c", msg::help_cancel()),
        ("h", msg::help_hold()),
        ("w", msg::help_why()),
        ("/", msg::help_filter()),
        ("a", msg::help_all()),
        ("Tab", msg::help_tab()),
    ];
    let always = [
        ("s", msg::help_sort()),
        ("↑ ↓ k j", msg::help_move()),
        ("PgUp PgDn", msg::help_page()),
        ("Home End", msg::help_ends()),
        (msg::mouse(), msg::help_mouse()),
        ("Ctrl-Z", msg::help_suspend()),
        ("Esc q", msg::help_quit()),
    ];
    let acts = acts.into_iter().filter(|_| screen == TopScreen::Top);
    let rows: Vec<(&str, &str)> = acts.chain(always).collect();
    let area = window(buffer, body, rows.len(), msg::title_help());
    for (row, (keys, words)) in (0..area.height).zip(rows) {
        let padding = " ".repeat(11usize.saturating_sub(width::of(keys)));
        let words = width::cut(words, usize::from(area.width).saturating_sub(11));
        let line = TextLine::from(vec![
            Span::styled(keys, Palette::bold()),
            Span::raw(format!("{padding}{words}")),
        ]);
        line.render(row_of(area, row), buffer);
    }
}

fn outer_width(body: Rect) -> u16 {
    body.width.saturating_sub(4).min(WIDEST)
}

fn inner_width(body: Rect) -> u16 {
    outer_width(body).saturating_sub(4)
}

/// In the middle, with a frame; returns what is inside.
fn window(buffer: &mut Buffer, body: Rect, rows: usize, title: &str) -> Rect {
    let rows = u16::try_from(rows).unwrap_or(u16::MAX);
    let height = rows.saturating_add(2).min(body.height);
    let width = outer_width(body);
    let (x, y) = (body.x + (body.width - width) / 2, body.y + (body.height - height) / 2);
    let area = Rect { x, y, width, height };
    Clear.render(area, buffer);
    let mut block = Block::bordered();
    if !title.is_empty() {
        block = block.title(Span::styled(format!(" {title} "), Palette::bold()));
    }
    let inner = block.inner(area);
    block.render(area, buffer);
    // A column on each side stays empty.
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

//! One frame of the screen, from the model. Does no I/O.

mod footer;
mod gpus;
mod header;
mod log;
mod overlay;
mod palette;
#[cfg(test)]
mod screens;
mod tasks;

use danlu_messages::cli::top as msg;
use jiff::Timestamp;
use ratatui::{
    Frame,
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line as TextLine, Span},
    widgets::Widget as _,
};

pub(crate) use palette::Palette;

use super::model::{
    Overlay, PaneName, TopModel,
    areas::{LEAST_COLUMNS, LEAST_ROWS},
};
use crate::screen::width;

pub(crate) fn draw(frame: &mut Frame<'_>, model: &TopModel, palette: Palette, now: Timestamp) {
    let Some(areas) = model.areas() else { return too_small(frame, model) };
    let buffer = frame.buffer_mut();
    header::draw(buffer, areas.header, model, palette);
    if let Overlay::Log(view) = model.overlay {
        log::draw_whole(buffer, areas.body, model, view);
    } else {
        if let Some(area) = areas.gpus {
            gpus::draw(buffer, area, model, palette);
        }
        if let Some(area) = areas.tasks {
            tasks::draw(buffer, area, model, palette, now);
        }
        if let Some(area) = areas.log {
            log::draw_last(buffer, area, model, now);
        }
        overlay::draw(buffer, areas.body, model);
    }
    footer::draw(buffer, areas.footer, model, palette);
}

fn too_small(frame: &mut Frame<'_>, model: &TopModel) {
    let (width, height) = model.size;
    let area = frame.area();
    let said = [
        msg::too_small(&LEAST_COLUMNS, &LEAST_ROWS, &width, &height),
        msg::make_it_larger().to_owned(),
    ];
    for (row, words) in (0..area.height).zip(said) {
        text(frame.buffer_mut(), row_of(area, row), &words, Style::new());
    }
}

/// One row of an area.
fn row_of(area: Rect, row: u16) -> Rect {
    Rect { y: area.y + row, height: 1, ..area }.intersection(area)
}

/// Cut with `…` where it does not fit.
fn text(buffer: &mut Buffer, area: Rect, words: &str, style: Style) {
    let words = width::cut(words, usize::from(area.width));
    Span::styled(words, style).render(area, buffer);
}

/// Words at the right edge, if there is room for them beside `taken` columns.
fn text_right(buffer: &mut Buffer, area: Rect, words: &str, taken: usize, style: Style) {
    let wide = width::of(words);
    let columns = usize::from(area.width);
    if words.is_empty() || taken + wide + 2 > columns {
        return;
    }
    let skipped = u16::try_from(columns - wide).unwrap_or(area.width);
    let area = Rect { x: area.x + skipped, width: area.width - skipped, ..area };
    text(buffer, area, words, style);
}

/// The title of a pane, with a line to its right; bold where keys go.
fn title(buffer: &mut Buffer, area: Rect, words: &str, beside: &str, has_keys: bool) {
    let row = row_of(area, 0);
    let words = width::cut(words, usize::from(area.width.saturating_sub(4)));
    let style = if has_keys { Palette::bold() } else { Style::new() };
    let room = usize::from(area.width).saturating_sub(width::of(&words) + 3);
    let rule = "─".repeat(room);
    let line = TextLine::from(vec![
        Span::styled("─ ", Palette::dim()),
        Span::styled(words.clone(), style),
        Span::styled(format!(" {rule}"), Palette::dim()),
    ]);
    line.render(row, buffer);
    if !beside.is_empty() {
        text_right(buffer, row, &format!(" {beside} "), width::of(&words) + 3, Style::new());
    }
}

fn has_keys(model: &TopModel, pane: PaneName) -> bool {
    model.pane == pane && model.overlay == Overlay::Nothing
}

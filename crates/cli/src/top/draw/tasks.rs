//! The pane of tasks: the same table as `danlu ls`.

use danlu_messages::cli::top as msg;
use jiff::Timestamp;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line as TextLine, Span},
    widgets::Widget as _,
};

use super::{Palette, has_keys, row_of, text, title};
use crate::{
    commands::task_table,
    screen::table::Cell,
    top::model::{PaneName, TaskPane, TaskScope, TopModel},
};

pub(super) fn draw(
    buffer: &mut Buffer,
    area: Rect,
    model: &TopModel,
    palette: Palette,
    now: Timestamp,
) {
    let tasks = &model.tasks;
    title(buffer, area, msg::title_tasks(), &around(tasks), has_keys(model, PaneName::Tasks));
    if tasks.lines.is_empty() {
        let words = match (&tasks.overview, tasks.wanted.filter.is_empty()) {
            (None, _) => msg::loading(),
            (Some(_), true) => msg::no_tasks(),
            (Some(_), false) => msg::nothing_found(),
        };
        return text(buffer, row_of(area, 1), words, Palette::dim());
    }
    let with_user = tasks.wanted.scope == TaskScope::Everybody;
    let table = task_table(&tasks.lines, with_user, now).lines(Some(usize::from(area.width)));
    let (headings, rows) = table.split_first().expect("a table has headings");
    line(headings, palette, Palette::dim()).render(row_of(area, 1), buffer);
    let selected = tasks.index();
    for (row, (index, cells)) in (2..area.height).zip(rows.iter().enumerate().skip(tasks.top)) {
        let at = row_of(area, row);
        let is_selected = selected == Some(index);
        line(cells, palette, Style::new()).render(at, buffer);
        if is_selected {
            buffer.set_style(at, Palette::selected());
        }
    }
}

fn line(cells: &[Cell], palette: Palette, base: Style) -> TextLine<'_> {
    let span =
        |cell: &Cell| Span::styled(cell.words().to_owned(), base.patch(palette.of(cell.colour())));
    TextLine::from(cells.iter().map(span).collect::<Vec<_>>())
}

/// What there is before and after this page.
fn around(tasks: &TaskPane) -> String {
    let Some(overview) = &tasks.overview else { return String::new() };
    let before = (overview.lines_before > 0).then(|| msg::lines_before(&overview.lines_before));
    let after = (overview.not_shown > 0).then(|| msg::tasks_after(&overview.not_shown));
    before.into_iter().chain(after).collect::<Vec<_>>().join("  ")
}

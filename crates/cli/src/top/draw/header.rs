//! The two lines above: free GPUs, my tasks, what is listed, and whether the server answers.

use danlu_messages::cli::top as msg;
use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Palette, row_of, text, text_right};
use crate::{
    commands::{machine_summary, my_summary, notice_lines},
    screen::width,
    top::model::{TaskPane, TaskScope},
    top::model::{TopModel, TopScreen, task_pane::LineSort},
};

pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &TopModel, palette: Palette) {
    let Some(overview) = &model.tasks.overview else {
        return text(buffer, row_of(area, 0), msg::loading(), Palette::dim());
    };
    let machine = machine_summary(&overview.gpus);
    text(buffer, row_of(area, 0), &machine, Palette::bold());
    // What has to be known about the server takes the rest of the first line.
    if let Some(notice) = notice_lines(&overview.notices).lines().next() {
        let (taken, columns) = (width::of(&machine), usize::from(area.width));
        let notice = width::cut(&width::plain(notice), columns.saturating_sub(taken + 2));
        text_right(buffer, row_of(area, 0), &notice, taken, palette.warning());
    }
    let mine = my_summary(overview);
    text(buffer, row_of(area, 1), &mine, Style::new());
    let listed = match model.screen {
        TopScreen::Top => listed(&model.tasks),
        TopScreen::List => sort(&model.tasks),
    };
    text_right(buffer, row_of(area, 1), &listed, width::of(&mine), Style::new());
}

fn listed(tasks: &TaskPane) -> String {
    let scope = match tasks.wanted.scope {
        TaskScope::Everybody => msg::of_everybody(),
        TaskScope::Mine => msg::of_mine(),
    };
    let mut parts = vec![scope.to_owned()];
    if !tasks.wanted.filter.is_empty() {
        parts.push(msg::filtered(&tasks.wanted.filter));
    }
    let sort = sort(tasks);
    parts.extend((!sort.is_empty()).then_some(sort));
    parts.join(" · ")
}

fn sort(tasks: &TaskPane) -> String {
    let order = match tasks.sort {
        LineSort::Queue => return String::new(),
        LineSort::User => msg::sort_user(),
        LineSort::Gpus => msg::sort_gpus(),
        LineSort::Time => msg::sort_time(),
    };
    let pages = |it: &danlu_wire::api::Overview| it.next_cursor.is_some() || it.lines_before > 0;
    let has_pages = tasks.overview.as_ref().is_some_and(pages);
    let page = if has_pages { format!(" {}", msg::this_page()) } else { String::new() };
    msg::sorted(&order) + &page
}

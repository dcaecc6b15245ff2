//! The last line: the keys, or what was said, asked or typed last.

use danlu_messages::cli::top as msg;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line as TextLine, Span},
    widgets::Widget as _,
};

use super::{Palette, text};
use crate::{
    screen::{clock, width},
    top::model::{Overlay, PaneName, ServerLink, TaskScope, TopModel, TopScreen},
};

/// A key and what it does. The first ones stay when there is no room for all.
type KeyWord = (&'static str, &'static str);

pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &TopModel, palette: Palette) {
    if let Overlay::Filter { text: typed } = &model.overlay {
        let words = format!("{}{typed}▏", msg::type_words());
        // The end of what is typed stays visible.
        let columns = usize::from(area.width);
        let mut shown = words.as_str();
        while width::of(shown) > columns {
            let mut letters = shown.chars();
            letters.next();
            shown = letters.as_str();
        }
        return text(buffer, area, shown, Style::new());
    }
    if let ServerLink::Away { since } = model.link {
        let words = msg::server_away(&clock::short(since, since));
        return text(buffer, area, &words, palette.warning());
    }
    if let Some(words) = &model.word {
        return text(buffer, area, &width::plain(words), palette.warning());
    }
    let mut spans = Vec::new();
    for (key, word) in fitting(&keys(model), usize::from(area.width)) {
        spans.push(Span::styled(key, Palette::bold()));
        spans.push(Span::raw(format!(" {word}  ")));
    }
    TextLine::from(spans).render(area, buffer);
}

fn keys(model: &TopModel) -> Vec<KeyWord> {
    match (&model.overlay, model.screen) {
        (Overlay::Nothing | Overlay::Filter { .. }, TopScreen::Top) => {
            let scope = match model.tasks.wanted.scope {
                TaskScope::Everybody => msg::key_mine(),
                TaskScope::Mine => msg::key_all(),
            };
            let other = match model.pane {
                PaneName::Gpus => msg::title_tasks(),
                PaneName::Tasks => msg::title_gpus(),
            };
            vec![
                ("q", msg::key_quit()),
                ("?", msg::key_help()),
                ("Tab", other),
                ("l", msg::key_log()),
                ("w", msg::key_why()),
                ("c", msg::key_cancel()),
                ("h", msg::key_hold()),
                ("/", msg::key_filter()),
                ("a", scope),
                ("s", msg::key_sort()),
            ]
        }
        (Overlay::Nothing | Overlay::Filter { .. }, TopScreen::List) => vec![
            ("q", msg::key_quit()),
            ("↑↓", msg::key_move()),
            ("s", msg::key_sort()),
            ("?", msg::key_help()),
        ],
        (Overlay::Question { .. }, _) => vec![("y", msg::key_yes()), ("n", msg::key_no())],
        (Overlay::Help, _) => vec![("Esc", msg::key_close())],
        (Overlay::Reason { .. }, _) => vec![("Esc", msg::key_close()), ("↑↓", msg::key_move())],
        (Overlay::Log(_), _) => vec![
            ("q", msg::key_close()),
            ("↑↓", msg::key_move()),
            ("f", msg::key_follow()),
            ("Home", msg::key_top()),
            ("End", msg::key_end()),
        ],
    }
}

fn fitting(keys: &[KeyWord], columns: usize) -> Vec<KeyWord> {
    let mut used = 0;
    let fits = |(key, word): &&KeyWord| {
        used += width::of(key) + width::of(word) + 3;
        used <= columns + 2
    };
    keys.iter().take_while(fits).copied().collect()
}

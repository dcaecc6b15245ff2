//! Where the panes are, by the size of the terminal.

use ratatui::layout::Rect;

use super::{PaneName, TopScreen};

/// Less than this is not worth drawing.
pub(crate) const LEAST_COLUMNS: u16 = 60;
pub(crate) const LEAST_ROWS: u16 = 10;
/// From here on GPUs and tasks stand side by side.
const BESIDE: u16 = 120;
/// Two lines of totals above, one of keys below.
const HEADER: u16 = 2;
const FOOTER: u16 = 1;

/// Each pane with its title in the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) header: Rect,
    pub(crate) gpus: Option<Rect>,
    pub(crate) tasks: Option<Rect>,
    pub(crate) log: Option<Rect>,
    /// All between header and footer.
    pub(crate) body: Rect,
    pub(crate) footer: Rect,
}

/// `None` where the terminal is too small.
pub(crate) fn areas(
    (columns, rows): (u16, u16),
    screen: TopScreen,
    pane: PaneName,
) -> Option<Areas> {
    if columns < LEAST_COLUMNS || rows < LEAST_ROWS {
        return None;
    }
    let header = Rect::new(0, 0, columns, HEADER);
    let footer = Rect::new(0, rows - FOOTER, columns, FOOTER);
    let body = Rect::new(0, HEADER, columns, rows - HEADER - FOOTER);
    let whole = Areas { header, gpus: None, tasks: Some(body), log: None, body, footer };
    if screen == TopScreen::List {
        return Some(whole);
    }
    let log_rows = (body.height / 3).clamp(3, 16);
    let (upper, log) = split_rows(body, body.height - log_rows);
    if columns < BESIDE {
        let (gpus, tasks) = match pane {
            PaneName::Gpus => (Some(upper), None),
            PaneName::Tasks => (None, Some(upper)),
        };
        return Some(Areas { gpus, tasks, log: Some(log), ..whole });
    }
    let left = (columns * 2 / 5).min(76);
    let gpus = Rect { width: left, ..upper };
    // A column stays empty between them.
    let tasks = Rect { x: left + 1, width: columns - left - 1, ..upper };
    Some(Areas { gpus: Some(gpus), tasks: Some(tasks), log: Some(log), ..whole })
}

fn split_rows(area: Rect, upper: u16) -> (Rect, Rect) {
    let lower = Rect { y: area.y + upper, height: area.height - upper, ..area };
    (Rect { height: upper, ..area }, lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_shows_one_pane_and_a_wide_one_both() {
        let of = |size, pane| areas(size, TopScreen::Top, pane).expect("it is large enough");
        let narrow = of((80, 24), PaneName::Tasks);
        assert_eq!((narrow.gpus, narrow.tasks.map(|it| it.width)), (None, Some(80)));
        assert_eq!(of((80, 24), PaneName::Gpus).tasks, None);
        let wide = of((200, 50), PaneName::Tasks);
        assert!(wide.gpus.is_some() && wide.tasks.is_some());
        assert_eq!(areas((59, 24), TopScreen::Top, PaneName::Tasks), None);
        assert_eq!(areas((80, 9), TopScreen::Top, PaneName::Tasks), None);
    }

    #[test]
    fn nothing_reaches_beyond_the_terminal() {
        for columns in LEAST_COLUMNS..260 {
            for rows in [LEAST_ROWS, 24, 50, 120] {
                let whole = Rect::new(0, 0, columns, rows);
                let areas = areas((columns, rows), TopScreen::Top, PaneName::Gpus);
                let areas = areas.expect("it is large enough");
                let all =
                    [areas.gpus, areas.tasks, areas.log, Some(areas.header), Some(areas.footer)];
                for area in all.into_iter().flatten() {
                    assert_eq!(whole.intersection(area), area, "{columns}×{rows}");
                    assert!(area.height > 0 && area.width > 0);
                }
            }
        }
    }
}

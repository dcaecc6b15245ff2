//! What the mouse does: a click selects, the wheel scrolls.

use ratatui::{
    crossterm::event::{MouseButton, MouseEvent, MouseEventKind},
    layout::{Position, Rect},
};

use super::{Overlay, PaneName, TopModel, TopOrder, gpu_pane::GpuRow, keys::Travel};

/// Lines per step of the wheel.
const WHEEL: isize = 3;

impl TopModel {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Vec<TopOrder> {
        let at = Position::new(mouse.column, mouse.row);
        let by = match mouse.kind {
            MouseEventKind::ScrollDown => WHEEL,
            MouseEventKind::ScrollUp => -WHEEL,
            MouseEventKind::Down(MouseButton::Left) => return self.click(at),
            _ => return Vec::new(),
        };
        match &mut self.overlay {
            Overlay::Log(view) => {
                let view = *view;
                self.scroll_log(view, Travel::By(by));
                Vec::new()
            }
            Overlay::Reason { top, text, .. } => {
                let lines = text.as_ref().map_or(0, |text| text.lines().count());
                *top = top.saturating_add_signed(by).min(lines.saturating_sub(1));
                Vec::new()
            }
            Overlay::Nothing => {
                self.focus(at);
                self.travel(Travel::By(by))
            }
            Overlay::Help | Overlay::Question { .. } | Overlay::Filter { .. } => Vec::new(),
        }
    }

    fn click(&mut self, at: Position) -> Vec<TopOrder> {
        if self.overlay != Overlay::Nothing {
            return Vec::new();
        }
        self.focus(at);
        let Some(areas) = self.areas() else { return Vec::new() };
        if let Some(row) = areas.tasks.and_then(|area| row_below(area, 2, at)) {
            let height = self.task_rows();
            let index = self.tasks.top + row;
            if index < self.tasks.lines.len() {
                self.tasks.select(index, height);
            }
        } else if let Some(row) = areas.gpus.and_then(|area| row_below(area, 1, at)) {
            self.select_holder(self.gpus.top + row);
        }
        self.turn_log().into_iter().collect()
    }

    /// Where the pointer is.
    fn focus(&mut self, at: Position) {
        let Some(areas) = self.areas() else { return };
        if areas.gpus.is_some_and(|area| area.contains(at)) {
            self.pane = PaneName::Gpus;
        } else if areas.tasks.is_some_and(|area| area.contains(at)) {
            self.pane = PaneName::Tasks;
        }
    }

    /// The task that has the GPU of a row, if it is in the list.
    fn select_holder(&mut self, row: usize) {
        let Some(GpuRow::Gpu(gpu)) = self.gpus.rows.get(row) else { return };
        let holds = |id: u64| gpu.tasks.contains(&id);
        let index = self.tasks.lines.iter().position(|line| holds(line.task.id));
        if let Some(index) = index {
            let height = self.task_rows();
            self.tasks.select(index, height);
        }
    }
}

/// Which row of a pane it is, without its first ones.
fn row_below(area: Rect, skipped: u16, at: Position) -> Option<usize> {
    let row = area.contains(at).then(|| at.y - area.y)?;
    row.checked_sub(skipped).map(usize::from)
}

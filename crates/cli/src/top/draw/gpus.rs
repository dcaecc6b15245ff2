//! The pane of GPUs: a bar of its use for each, and whose it is.

use danlu_messages::cli::top as msg;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line as TextLine, Span},
    widgets::Widget as _,
};

use super::{Palette, has_keys, row_of, text, title};
use crate::{
    screen::{amounts, width},
    top::model::{
        PaneName, TopModel,
        gpu_pane::{GpuLine, GpuRow},
    },
};

const BAR: usize = 10;
const MODEL: usize = 10;
/// From here on the memory is shown too.
const WITH_MEMORY: u16 = 62;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &TopModel, palette: Palette) {
    title(buffer, area, msg::title_gpus(), "", has_keys(model, PaneName::Gpus));
    let gpus = &model.gpus;
    if gpus.rows.is_empty() {
        let words = if gpus.is_known { msg::no_gpus() } else { msg::loading() };
        return text(buffer, row_of(area, 1), words, Palette::dim());
    }
    for (row, shown) in (1..area.height).zip(gpus.rows.iter().skip(gpus.top)) {
        let at = row_of(area, row);
        match shown {
            GpuRow::Machine { name, free, all } => {
                text(buffer, at, &msg::machine(name, free, all), Palette::bold());
            }
            GpuRow::Gpu(gpu) => line(gpu, at.width, palette).render(at, buffer),
        }
    }
}

/// ` 0 A100 80GB  ██████████  97 %  71.0 / 80.0G  412 you resnet`
fn line(gpu: &GpuLine, columns: u16, palette: Palette) -> TextLine<'static> {
    let style = palette.owner(gpu.whose);
    let percent = gpu.utilization.map_or_else(|| "–".to_owned(), |use_| format!("{use_}%"));
    let model = width::cut(&gpu.model, MODEL);
    let padding = " ".repeat(MODEL - width::of(&model));
    let mut spans = vec![
        Span::raw(format!("{:>3} {model}{padding} ", gpu.index)),
        Span::styled(bar(gpu.utilization.unwrap_or(0)), style),
        Span::raw(format!(" {percent:>4}")),
    ];
    if columns >= WITH_MEMORY {
        spans.push(Span::raw(format!(" {:>12}", memory(gpu))));
    }
    let taken: usize = spans.iter().map(|span| width::of(&span.content)).sum();
    let words = width::cut(&gpu.words, usize::from(columns).saturating_sub(taken + 2));
    spans.push(Span::styled(format!("  {words}"), style));
    TextLine::from(spans)
}

fn bar(percent: u32) -> String {
    let percent = usize::try_from(percent.min(100)).unwrap_or(100);
    let full = (percent * BAR).div_ceil(100);
    format!("{}{}", "█".repeat(full), "░".repeat(BAR - full))
}

/// `71.0/80.0G`
fn memory(gpu: &GpuLine) -> String {
    let total = amounts::bytes(gpu.memory_total);
    let Some(used) = gpu.memory_used.map(amounts::bytes) else { return total };
    let unit = total.chars().last().filter(|last| last.is_alphabetic());
    let used = unit.and_then(|unit| used.strip_suffix(unit)).unwrap_or(&used);
    format!("{used}/{total}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_use_is_visible_and_none_is_not() {
        assert_eq!(bar(0), "░".repeat(10));
        assert_eq!(bar(1), format!("█{}", "░".repeat(9)));
        assert_eq!(bar(100), "█".repeat(10));
        assert_eq!(bar(250), "█".repeat(10));
    }
}

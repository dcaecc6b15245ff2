//! The table printer: aligned columns that fit the width of the terminal.

use super::{
    colour::{Colour, paint},
    width,
};

#[derive(Clone, Debug)]
pub(crate) struct Column {
    heading: String,
    align: Align,
    /// `None` is never cut.
    shrinks: Option<Shrinks>,
}

#[derive(Clone, Copy, Debug)]
struct Shrinks {
    /// It is cut down to this before others have to give.
    comfortable: usize,
    /// It is not cut below this, unless nothing else helps.
    least: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    words: String,
    colour: Option<Colour>,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// Between columns.
const GAP: usize = 2;

impl Column {
    pub(crate) fn left(heading: &str) -> Self {
        Self { heading: heading.to_owned(), align: Align::Left, shrinks: None }
    }

    pub(crate) fn right(heading: &str) -> Self {
        Self { align: Align::Right, ..Self::left(heading) }
    }

    pub(crate) fn shrinks(self, comfortable: usize, least: usize) -> Self {
        Self { shrinks: Some(Shrinks { comfortable, least }), ..self }
    }
}

impl Cell {
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self { words: width::plain(&words.into()), colour: None }
    }

    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    pub(crate) fn colour(&self) -> Option<Colour> {
        self.colour
    }

    pub(crate) fn coloured(words: impl Into<String>, colour: Option<Colour>) -> Self {
        Self { colour, ..Self::new(words) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(words: T) -> Self {
        Self::new(words)
    }
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// One cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    pub(crate) fn render(&self, width: Option<usize>, colour: bool) -> String {
        let mut out = String::new();
        for (place, line) in self.lines(width).iter().enumerate() {
            // The headings have no colour.
            let coloured = colour && place > 0;
            line.iter().for_each(|piece| out += &paint(&piece.words, piece.colour, coloured));
            out.push('\n');
        }
        out
    }

    /// The headings and the rows, piece by piece.
    pub(crate) fn lines(&self, width: Option<usize>) -> Vec<Vec<Cell>> {
        let widths = self.widths(width);
        let headings = self.columns.iter().map(|column| Cell::new(column.heading.clone()));
        let headings = self.line(&headings.collect::<Vec<_>>(), &widths);
        let rows = self.rows.iter().map(|row| self.line(row, &widths));
        std::iter::once(headings).chain(rows).collect()
    }

    fn line(&self, cells: &[Cell], widths: &[usize]) -> Vec<Cell> {
        let mut line = Vec::new();
        // Spaces are kept back until something follows them.
        let mut spaces = 0;
        for ((column, cell), &width) in self.columns.iter().zip(cells).zip(widths) {
            let words = width::cut(&cell.words, width);
            let padding = width.saturating_sub(width::of(&words));
            if column.align == Align::Right {
                spaces += padding;
            }
            if !words.is_empty() {
                if spaces > 0 {
                    line.push(Cell { words: " ".repeat(spaces), colour: None });
                }
                spaces = 0;
                line.push(Cell { words, colour: cell.colour });
            }
            if column.align == Align::Left {
                spaces += padding;
            }
            spaces += GAP;
        }
        line
    }

    /// What each column would like, and less for those that may shrink.
    fn widths(&self, width: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|place| {
                let cells = self.rows.iter().map(|row| width::of(&row[place].words));
                cells.max().unwrap_or(0).max(width::of(&self.columns[place].heading))
            })
            .collect();
        let Some(width) = width else { return widths };
        let gaps = GAP * self.columns.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
        for (place, least) in self.concessions() {
            let give = widths[place].saturating_sub(least).min(excess);
            widths[place] -= give;
            excess -= give;
        }
        widths
    }

    /// Who gives first: down to what is comfortable from the left, to the least from the right, and on a very
    /// narrow terminal everything.
    fn concessions(&self) -> Vec<(usize, usize)> {
        let all = || {
            let columns = self.columns.iter().enumerate();
            columns.filter_map(|(place, column)| Some((place, column.shrinks?)))
        };
        let comfortable = all().map(|(place, shrinks)| (place, shrinks.comfortable));
        let least: Vec<(usize, usize)> =
            all().map(|(place, shrinks)| (place, shrinks.least)).collect();
        let nothing = least.iter().map(|(place, _)| (*place, 1));
        comfortable.chain(least.iter().rev().copied()).chain(nothing.rev()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(vec![
            Column::right("ID"),
            Column::left("NAME").shrinks(10, 6),
            Column::left("STATE"),
            Column::left("WHY").shrinks(12, 8),
        ]);
        table.row(vec![
            "7".into(),
            "训练大模型".into(),
            Cell::coloured("queued", Some(Colour::Yellow)),
            "waits for two GPUs".into(),
        ]);
        table.row(vec!["12".into(), "eval".into(), "running".into(), "".into()]);
        table
    }

    #[test]
    fn columns_line_up_and_lines_do_not_end_in_spaces() {
        let expect = "\
ID  NAME        STATE    WHY
 7  训练大模型  queued   waits for two GPUs
12  eval        running
";
        assert_eq!(table().render(None, false), expect);
        assert_eq!(table().render(Some(80), false), expect);
    }

    #[test]
    fn it_fits_every_width_down_to_its_fixed_columns() {
        for width in 17..60 {
            for line in table().render(Some(width), false).lines() {
                assert!(width::of(line) <= width, "{width}: {line}");
            }
        }
        let narrow = table().render(Some(30), false);
        assert!(narrow.contains("waits f…"), "{narrow}");
        assert!(narrow.contains("训练大…"), "{narrow}");
    }

    #[test]
    fn colour_takes_no_room() {
        let coloured = table().render(Some(80), true);
        assert!(coloured.contains("\x1b[33mqueued\x1b[0m   waits"), "{coloured}");
    }

    #[test]
    fn cells_cannot_break_the_table() {
        let mut table = Table::new(vec![Column::left("NAME")]);
        table.row(vec!["a\nb\x1b[2J".into()]);
        assert_eq!(table.render(None, false), "NAME\na·b·[2J\n");
    }
}

//! The output of a task as lines of plain text, the newest of them.

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar as _;

use crate::screen::{escapes::Escapes, progress_lines::ProgressLines, width};

/// Lines that are kept.
const MOST_LINES: usize = 5_000;
/// Columns of one line that are kept.
const LONGEST_LINE: usize = 8 << 10;
const TAB: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct LogText {
    escapes: Escapes,
    bars: ProgressLines,
    lines: VecDeque<String>,
    /// The line that has not ended yet.
    unfinished: Vec<u8>,
    /// There were more lines than are kept.
    pub(crate) is_cut: bool,
}

impl LogText {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let (mut safe, mut whole) = (Vec::new(), Vec::new());
        self.escapes.feed(bytes, &mut safe);
        self.bars.feed(&safe, &mut whole);
        for piece in whole.split_inclusive(|byte| *byte == b'\n') {
            let (words, ended) = match piece.split_last() {
                Some((b'\n', words)) => (words, true),
                _ => (piece, false),
            };
            let room = LONGEST_LINE.saturating_sub(self.unfinished.len());
            self.unfinished.extend(words.iter().take(room));
            if ended {
                let line = text(&std::mem::take(&mut self.unfinished));
                self.lines.push_back(line);
            }
        }
        while self.lines.len() > MOST_LINES {
            self.lines.pop_front();
            self.is_cut = true;
        }
    }

    /// With the line that is being written, a progress bar for instance.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut last = self.unfinished.clone();
        self.bars.clone().finish(&mut last);
        last.truncate(LONGEST_LINE);
        let last = (!last.is_empty()).then(|| text(&last));
        self.lines.iter().cloned().chain(last).collect()
    }
}

/// Without colours, with spaces for tabs.
fn text(bytes: &[u8]) -> String {
    let words = String::from_utf8_lossy(bytes);
    let (mut out, mut column) = (String::new(), 0);
    let mut letters = words.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // Only sequences of digits and semicolons with one letter at the end have come so far.
            '\u{1b}' => drop(letters.by_ref().find(char::is_ascii_alphabetic)),
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            _ if width::is_plain(letter) => {
                column += letter.width().unwrap_or(0);
                out.push(letter);
            }
            _ => {}
        }
    }
    out
}

/// In as many rows as it takes.
pub(crate) fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for letter in line.chars() {
        let wide = letter.width().unwrap_or(0);
        if used + wide > columns.max(2) {
            rows.push(String::new());
            used = 0;
        }
        used += wide;
        rows.last_mut().expect("there is always one").push(letter);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&str]) -> Vec<String> {
        let mut text = LogText::default();
        pieces.iter().for_each(|piece| text.feed(piece.as_bytes()));
        text.lines()
    }

    #[test]
    fn bars_are_one_line_and_colours_are_gone() {
        assert_eq!(lines(&["a\n 1%\r 5", "0%\r"]), ["a", " 50%"]);
        assert_eq!(lines(&["\u{1b}[31mred\u{1b}[0m\tx\u{7}\n"]), ["red     x"]);
        assert_eq!(lines(&["a\u{1b}[2", "Jb\nno end"]), ["ab", "no end"]);
    }

    #[test]
    fn little_is_kept_of_much() {
        let mut text = LogText::default();
        for line in 0..MOST_LINES + 10 {
            text.feed(format!("{line}\n").as_bytes());
        }
        text.feed(&[b'x'; 100_000]);
        let lines = text.lines();
        assert!(text.is_cut);
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines[0], "10");
        assert!(lines[MOST_LINES].len() <= LONGEST_LINE);
    }

    #[test]
    fn wide_letters_wrap_as_a_whole() {
        assert_eq!(wrapped("任务任务", 5), ["任务", "任务"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("abcdef", 4), ["abcd", "ef"]);
    }
}

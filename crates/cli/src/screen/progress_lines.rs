//! Progress bars as one line: of what was written over itself with `\r`, only the last is kept.

/// Takes output in pieces of any size and gives it back without what was overwritten.
///
/// It holds back at most one line, and of a very long one nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgressLines {
    /// Since the last `\n` or `\r`.
    segment: Vec<u8>,
    /// What stood on this line before the `\r`.
    overwritten: Vec<u8>,
    /// This line is too long to be a progress bar: it passes as it comes.
    passing: bool,
}

/// Longer than any terminal is wide.
const LONGEST_BAR: usize = 16 << 10;

impl ProgressLines {
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            match piece.split_last() {
                Some((b'\n', words)) => {
                    self.append(words, out);
                    self.finish(out);
                    out.push(b'\n');
                }
                Some((b'\r', words)) => {
                    self.append(words, out);
                    self.carriage_return();
                }
                _ => self.append(piece, out),
            }
        }
    }

    /// The line that nothing has ended yet.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        // `100 %\r\n`: the bar was complete, and the line ended after it.
        let last = if self.segment.is_empty() { &self.overwritten } else { &self.segment };
        out.extend_from_slice(last);
        *self = Self::default();
    }

    fn append(&mut self, words: &[u8], out: &mut Vec<u8>) {
        if self.passing {
            out.extend_from_slice(words);
            return;
        }
        self.segment.extend_from_slice(words);
        if self.segment.len() > LONGEST_BAR {
            out.append(&mut self.segment);
            self.overwritten.clear();
            self.passing = true;
        }
    }

    fn carriage_return(&mut self) {
        // A long line that has been passed on cannot be taken back.
        if !self.passing && !self.segment.is_empty() {
            self.overwritten.clear();
            self.overwritten.append(&mut self.segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold_in_pieces(written: &[u8], size: usize) -> String {
        let (mut lines, mut out) = (ProgressLines::default(), Vec::new());
        for piece in written.chunks(size) {
            lines.feed(piece, &mut out);
        }
        lines.finish(&mut out);
        String::from_utf8(out).expect("it was UTF-8")
    }

    fn check(written: &str, expect: &str) {
        for size in [1, 2, 3, 1000] {
            assert_eq!(fold_in_pieces(written.as_bytes(), size), expect, "{written:?} by {size}");
        }
    }

    #[test]
    fn only_the_last_state_of_a_line_is_kept() {
        check("1%\r50%\r100%\n", "100%\n");
        check("epoch 1\n\r 10%|#   |\r 99%|####|\nepoch 2\n", "epoch 1\n 99%|####|\nepoch 2\n");
        check("\r10%\r20%\r", "20%");
    }

    #[test]
    fn ordinary_lines_pass_unchanged() {
        check("", "");
        check("a\nb\n", "a\nb\n");
        check("no end", "no end");
        check("\n\n\n", "\n\n\n");
        check("任务\n", "任务\n");
    }

    #[test]
    fn line_ends_of_windows_become_plain_ones() {
        check("a\r\nb\r\n", "a\nb\n");
        check("a\r\r\nb", "a\nb");
    }

    #[test]
    fn a_line_of_any_length_takes_little_memory() {
        let (mut lines, mut out) = (ProgressLines::default(), Vec::new());
        let mut seen = 0;
        for _ in 0..1_000 {
            lines.feed(&[b'x'; 1_000], &mut out);
            seen += out.len();
            out.clear();
            assert!(lines.segment.len() <= LONGEST_BAR);
        }
        lines.feed(b"\rnext\n", &mut out);
        assert_eq!(seen, 1_000_000);
        assert_eq!(out, b"next\n");
    }

    #[test]
    fn endless_bars_take_little_memory() {
        let (mut lines, mut out) = (ProgressLines::default(), Vec::new());
        for step in 0..100_000 {
            lines.feed(format!("{step} of many\r").as_bytes(), &mut out);
        }
        assert_eq!(out, b"");
        assert!(lines.overwritten.capacity() < 100);
        lines.finish(&mut out);
        assert_eq!(out, b"99999 of many");
    }
}

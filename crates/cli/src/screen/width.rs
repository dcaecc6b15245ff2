//! How many terminal columns a text takes: Chinese characters take two.

use std::{env, io::IsTerminal as _};

use terminal_size::{Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How wide a table may be; `None` when it goes to a file or another program.
pub(crate) fn of_stdout() -> Option<usize> {
    let stdout = std::io::stdout();
    let given = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || {
        let (Width(width), _) = terminal_size_of(&stdout)?;
        Some(usize::from(width))
    };
    // Some pseudo-terminals say 0.
    let width = given.or_else(terminal).filter(|width| *width > 0);
    width.or_else(|| stdout.is_terminal().then_some(80))
}

pub(crate) fn of(words: &str) -> usize {
    words.width()
}

/// At most `width` columns, with `…` where something was cut off.
pub(crate) fn cut(words: &str, width: usize) -> String {
    if of(words) <= width {
        return words.to_owned();
    }
    if width == 0 {
        return String::new();
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in words.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide > width - 1 {
            break;
        }
        used += wide;
        kept.push(character);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Makes untrusted text safe for this terminal: no control sequences, no line breaks, no reversed text.
pub(crate) fn plain(words: &str) -> String {
    words.chars().map(|character| if is_plain(character) { character } else { '·' }).collect()
}

pub(crate) fn is_plain(character: char) -> bool {
    let reorders = matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !reorders && !matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_counts_columns_not_characters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("任务任务", 8), "任务任务");
        assert_eq!(cut("任务任务", 7), "任务任…");
        assert_eq!(cut("任务任务", 6), "任务…");
        assert_eq!(cut("任务", 1), "…");
        assert_eq!(cut("ab cd", 4), "ab…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn plain_keeps_a_terminal_safe() {
        assert_eq!(plain("a\x1b[31mb\nc\u{202e}d\u{9b}"), "a·[31mb·c·d·");
        assert_eq!(plain("训练 été"), "训练 été");
    }
}

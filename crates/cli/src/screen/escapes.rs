//! Filters untrusted output for a terminal: text and colours pass; sequences that move the cursor, rename the window or make the
//! terminal answer do not.

/// Longer sequences are not colours.
const LONGEST_SEQUENCE: usize = 64;

/// Goes on in the middle of a sequence when the next piece comes.
#[derive(Debug, Default)]
pub(crate) struct Escapes {
    state: State,
    /// A sequence that may still be a colour.
    held: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and a byte that announces another.
    OneMore,
    /// After ESC `[`.
    Control,
    /// After ESC `]` and the like: to the next BEL or ESC `\\`.
    Words,
    /// ESC within those.
    WordsEnd,
    /// After 0xC2: what follows may be a control character in two bytes.
    Second,
}

impl Escapes {
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        bytes.iter().for_each(|byte| self.take(*byte, out));
    }

    fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.state = match (self.state, byte) {
            (State::Words | State::WordsEnd, 0x1b) => State::WordsEnd,
            (State::Words, 0x07) => State::Text,
            (State::Words, _) => State::Words,
            (State::WordsEnd, b'\\') => State::Text,
            (State::WordsEnd, _) => State::Words,
            // Whatever came before, a new sequence begins.
            (_, 0x1b) => State::Escape,
            (State::Escape, b'[') => {
                self.held.clear();
                State::Control
            }
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::Words,
            (State::Escape, 0x20..=0x2f) => State::OneMore,
            (State::OneMore, 0x20..=0x2f) => State::OneMore,
            (State::Escape | State::OneMore, _) => State::Text,
            (State::Control, 0x20..=0x3f) if self.held.len() < LONGEST_SEQUENCE => {
                self.held.push(byte);
                State::Control
            }
            (State::Control, 0x20..=0x3f) => State::Control,
            (State::Control, b'm' | b'K') => {
                if self.held.iter().all(|it| matches!(it, b'0'..=b'9' | b';' | b':')) {
                    out.extend([0x1b, b'[']);
                    out.extend(&self.held);
                    out.push(byte);
                }
                State::Text
            }
            (State::Control, _) => State::Text,
            (State::Second, 0x80..=0x9f) => State::Text,
            (State::Second, _) => {
                out.push(0xc2);
                self.text(byte, out)
            }
            (State::Text, _) => self.text(byte, out),
        };
    }

    fn text(&self, byte: u8, out: &mut Vec<u8>) -> State {
        match byte {
            0xc2 => return State::Second,
            b'\n' | b'\r' | b'\t' | 0x08 => out.push(byte),
            0x00..=0x1f | 0x7f => {}
            _ => out.push(byte),
        }
        State::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(given: &str) -> String {
        let (mut whole, mut pieces) = (Vec::new(), Vec::new());
        Escapes::default().feed(given.as_bytes(), &mut whole);
        let mut escapes = Escapes::default();
        given.as_bytes().iter().for_each(|byte| escapes.feed(&[*byte], &mut pieces));
        assert_eq!(whole, pieces, "{given:?}");
        String::from_utf8(whole).expect("text stays text")
    }

    #[test]
    fn text_and_colours_stay() {
        for kept in
            ["loss 0.1\r\nnext\tone", "\u{1b}[1;31mred\u{1b}[0m", "é 密码 ©\u{a0}", "50%\u{1b}[K"]
        {
            assert_eq!(shown(kept), kept);
        }
    }

    #[test]
    fn what_a_terminal_would_obey_goes() {
        let check = |given, expect| assert_eq!(shown(given), expect, "{given:?}");
        check("a\u{1b}]0;title\u{7}b", "ab");
        check("a\u{1b}]52;c;Zm9v\u{1b}\\b", "ab");
        check("a\u{1b}[2J\u{1b}[H\u{1b}[3Ab", "ab");
        check("a\u{1b}[6nb\u{1b}[?1049hc\u{1b}[>4;1md", "abcd");
        check("a\u{1b}cb\u{1b}(0c\u{1b}Pq#0\u{1b}\\d", "abcd");
        check("a\u{9b}2Jb\u{7}\u{5}", "a2Jb");
        check("a\u{1b}\u{1b}[31mb", "a\u{1b}[31mb");
    }
}

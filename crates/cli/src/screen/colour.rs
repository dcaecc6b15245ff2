//! Colours, only on terminals and unless `NO_COLOR` is set.

use std::{env, io::IsTerminal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Green,
    Yellow,
    Red,
    Dim,
}

pub(crate) fn wanted(stream: &impl IsTerminal) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    stream.is_terminal() && !set("NO_COLOR") && !dumb
}

pub(crate) fn paint(words: &str, colour: Option<Colour>, on: bool) -> String {
    match colour {
        Some(colour) if on && !words.is_empty() => {
            format!("\x1b[{}m{words}\x1b[0m", code(colour))
        }
        _ => words.to_owned(),
    }
}

fn code(colour: Colour) -> u8 {
    match colour {
        Colour::Dim => 2,
        Colour::Red => 31,
        Colour::Green => 32,
        Colour::Yellow => 33,
    }
}

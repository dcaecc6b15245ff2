//! Finds Python tracebacks in a log: where each begins and which exception it raised.

/// An exception that left a traceback.
pub(super) struct Raised {
    /// The line with which its traceback begins.
    pub(super) begin: usize,
    at: usize,
}

impl Raised {
    pub(super) fn line<'a>(&self, lines: &[&'a str]) -> &'a str {
        lines[self.at]
    }
}

const HEADER: &str = "Traceback (most recent call last)";

/// In the order of the log. A traceback that nothing follows is cut off, and raises nothing that is known.
pub(super) fn raised(lines: &[&str]) -> Vec<Raised> {
    let mut found = Vec::new();
    let mut begin = None;
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with(HEADER) {
            begin = Some(at);
        } else if let Some(start) = begin
            && is_exception(line)
        {
            found.push(Raised { begin: start, at });
            begin = None;
        }
    }
    found
}

/// `module.Name` or `module.Name: words`, at the beginning of a line; the frames are indented.
fn is_exception(line: &str) -> bool {
    let name = line.split([':', '(']).next().unwrap_or_default().trim_end();
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '.')
}

/// What launchers put before the lines of each of their processes: `[rank0]: `, `(worker pid=7) `.
pub(super) fn without_prefix(line: &str) -> &str {
    let bracket = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    let round = || line.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    match bracket.or_else(round) {
        Some((inner, rest)) if inner.len() <= 40 => rest.strip_prefix(' ').unwrap_or(rest),
        _ => line,
    }
}

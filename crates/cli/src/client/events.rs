//! Server-sent events, read one by one.

use std::io::{self, BufRead as _, BufReader, Read};

/// One event: its name and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

pub(crate) struct Events<R> {
    lines: BufReader<R>,
}

/// A piece of a log takes 1.4 MB in its letters; more than this is no event.
const LONGEST_LINE: u64 = 8 << 20;

impl<R: Read> Events<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { lines: BufReader::new(stream) }
    }

    /// `None` when the stream has ended; an event that was cut off is none.
    pub(crate) fn next(&mut self) -> io::Result<Option<Event>> {
        let (mut name, mut data) = (None, None::<String>);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = self.lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
            if count == 0 {
                return Ok(None);
            }
            if line.pop_if(|last| *last == b'\n').is_none() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            line.pop_if(|last| *last == b'\r');
            if line.is_empty() {
                match data {
                    Some(data) => return Ok(Some(Event { name: name.unwrap_or_default(), data })),
                    // The end of a comment that keeps the connection alive.
                    None => continue,
                }
            }
            let text = std::str::from_utf8(&line).map_err(|_| io::ErrorKind::InvalidData)?;
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => name = Some(value.to_owned()),
                "data" => match &mut data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => data = Some(value.to_owned()),
                },
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(stream: &str) -> Vec<(String, String)> {
        let mut events = Events::new(stream.as_bytes());
        let mut found = Vec::new();
        while let Ok(Some(Event { name, data })) = events.next() {
            found.push((name, data));
        }
        found
    }

    fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
        expect.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect()
    }

    #[test]
    fn names_data_comments_and_line_ends() {
        let stream = "event: data\ndata: {\"a\":1}\n\n: alive\n\ndata:x\r\ndata: y\r\n\r\nevent: end\ndata: {}\n\n";
        assert_eq!(all(stream), pairs(&[("data", "{\"a\":1}"), ("", "x\ny"), ("end", "{}")]));
    }

    #[test]
    fn what_was_cut_off_is_no_event() {
        assert_eq!(all("event: data\ndata: {\"a\""), []);
        assert_eq!(all("data: 1\n\ndata: 2\n"), pairs(&[("", "1")]));
    }
}

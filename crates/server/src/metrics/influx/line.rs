//! InfluxDB's line protocol: one point in one line.
//! <https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/>

use danlu_core::Time;
use std::fmt::Write as _;

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    measurement: &'static str,
    tags: Vec<(&'static str, String)>,
    fields: Vec<(&'static str, FieldValue)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldValue {
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Line {
    pub(crate) fn new(measurement: &'static str) -> Line {
        Line { measurement, tags: Vec::new(), fields: Vec::new() }
    }

    /// Empty ones are left out: the protocol has no such thing.
    pub(crate) fn tag(mut self, key: &'static str, value: &str) -> Line {
        if !value.is_empty() {
            self.tags.push((key, value.to_owned()));
        }
        self
    }

    pub(crate) fn integer(self, key: &'static str, value: impl TryInto<i64>) -> Line {
        self.field(key, FieldValue::Integer(value.try_into().unwrap_or(i64::MAX)))
    }

    pub(crate) fn float(self, key: &'static str, value: f64) -> Line {
        match value.is_finite() {
            true => self.field(key, FieldValue::Float(value)),
            false => self,
        }
    }

    pub(crate) fn text(self, key: &'static str, value: &str) -> Line {
        self.field(key, FieldValue::Text(value.to_owned()))
    }

    fn field(mut self, key: &'static str, value: FieldValue) -> Line {
        self.fields.push((key, value));
        self
    }

    /// A point has at least one field.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// With the time in milliseconds.
    pub(crate) fn write(&self, at: Time, out: &mut String) {
        // Writing to a `String` does not fail.
        out.push_str(self.measurement);
        for (key, value) in &self.tags {
            let _ = write!(out, ",{key}=");
            escape_tag(value, out);
        }
        for (place, (key, value)) in self.fields.iter().enumerate() {
            let _ = write!(out, "{}{key}=", if place == 0 { ' ' } else { ',' });
            let _ = match value {
                FieldValue::Integer(number) => write!(out, "{number}i"),
                FieldValue::Float(number) => write!(out, "{number}"),
                FieldValue::Text(text) => {
                    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                    write!(out, "\"{escaped}\"")
                }
            };
        }
        let _ = writeln!(out, " {}", at.0);
    }
}

/// The value of a tag. What the protocol cannot say is said in another way: line breaks become spaces, and a backslash where it
/// would hide the character behind it becomes a slash.
fn escape_tag(value: &str, out: &mut String) {
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ',' | '=' | ' ' => {
                out.push('\\');
                out.push(letter);
            }
            it if it.is_control() => out.push_str("\\ "),
            '\\' => {
                let hides =
                    |next: &char| matches!(next, ',' | '=' | ' ' | '\\') || next.is_control();
                out.push(if letters.peek().is_none_or(hides) { '/' } else { '\\' });
            }
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(line: &Line) -> String {
        let mut out = String::new();
        line.write(Time(1_500), &mut out);
        out
    }

    #[test]
    fn a_point_is_one_line() {
        let line = Line::new("danlu_gpu")
            .tag("node", "gpu 1")
            .tag("empty", "")
            .tag("model", "A,B=C\\")
            .integer("memory", 5_u64)
            .float("power", 31.5)
            .float("nothing", f64::NAN)
            .text("state", "say \"no\"\\");
        assert_eq!(
            written(&line),
            "danlu_gpu,node=gpu\\ 1,model=A\\,B\\=C/ memory=5i,power=31.5,state=\"say \\\"no\\\"\\\\\" 1500\n"
        );
    }

    /// As the database reads it: a backslash before a comma, an equals sign or a space hides it.
    fn tags_of(line: &str) -> Vec<(String, String)> {
        let mut parts = vec![String::new()];
        let mut letters = line.chars().peekable();
        let mut pairs = Vec::new();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.peek().is_some_and(|it| matches!(it, ',' | '=' | ' ')) => {
                    parts.last_mut().expect("one").extend(letters.next());
                }
                ',' | ' ' => {
                    pairs.push(std::mem::replace(&mut parts, vec![String::new()]));
                    if letter == ' ' {
                        break;
                    }
                }
                '=' => parts.push(String::new()),
                other => parts.last_mut().expect("one").push(other),
            }
        }
        let pairs = pairs.into_iter().skip(1);
        pairs
            .map(|pair| {
                assert_eq!(pair.len(), 2, "{line}");
                (pair[0].clone(), pair[1].clone())
            })
            .collect()
    }

    proptest! {
        #[test]
        fn any_text_stays_one_tag_of_one_line(first in ".*", second in "[ ,=\\\\\"\\n\\ra-c]*", text in ".*") {
            let line = Line::new("m").tag("a", &first).tag("b", &second).tag("c", "end").text("t", &text);
            let out = written(&line);
            let (head, _) = out.split_once(" t=\"").expect("it has a field");
            prop_assert!(!head.contains('\n') && !head.contains('\r'));
            let tags = tags_of(&format!("{head} "));
            let expected = |text: &str| text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect::<String>();
            let wanted = [("a", &first), ("b", &second)].into_iter().filter(|(_, text)| !text.is_empty());
            let wanted: Vec<(&str, String)> = wanted.map(|(key, text)| (key, expected(text))).collect();
            prop_assert_eq!(tags.len(), wanted.len() + 1);
            for ((key, value), (wanted_key, wanted)) in tags.iter().zip(&wanted) {
                prop_assert_eq!(key, wanted_key);
                // Only backslashes may read as slashes.
                prop_assert_eq!(value.replace('\\', "/"), wanted.replace('\\', "/"));
            }
            prop_assert_eq!(&tags[wanted.len()], &("c".to_owned(), "end".to_owned()));
        }
    }
}

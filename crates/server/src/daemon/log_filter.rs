//! Which records of the server's log are wanted: by level, time and words.

use super::config::LogLevel;
use jiff::Timestamp;
use serde::Deserialize;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LogFilter {
    /// This one and more important ones.
    pub(crate) level: Option<LogLevel>,
    pub(crate) since: Option<Timestamp>,
    /// In any case of letters.
    pub(crate) text: String,
}

impl LogFilter {
    pub(crate) fn is_empty(&self) -> bool {
        *self == LogFilter::default()
    }

    /// Whole lines in, whole records out.
    pub(crate) fn keep(&self, lines: &str) -> String {
        let text = self.text.to_lowercase();
        let wanted = |record: &&str| {
            let (at, level) = head(record.lines().next().unwrap_or_default()).unzip();
            self.level.is_none_or(|most| level.is_some_and(|level| level <= most))
                && self.since.is_none_or(|since| at.is_some_and(|at| at >= since))
                && (text.is_empty() || record.to_lowercase().contains(&text))
        };
        records(lines).into_iter().filter(wanted).collect()
    }
}

/// A line that has no time of its own belongs to the one before.
fn records(lines: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in lines.split_inclusive('\n') {
        if at > start && head(line).is_some() {
            found.push(&lines[start..at]);
            start = at;
        }
        at += line.len();
    }
    found.extend((start < lines.len()).then(|| &lines[start..]));
    found
}

/// `2026-11-18T07:00:00.123456Z  INFO …` or `{"at":…,"level":…}`.
fn head(line: &str) -> Option<(Timestamp, LogLevel)> {
    #[derive(Deserialize)]
    struct Head {
        at: String,
        level: LogLevel,
    }
    if line.starts_with('{') {
        let head: Head = serde_json::from_str(line).ok()?;
        return Some((head.at.parse().ok()?, head.level));
    }
    let mut words = line.split_whitespace();
    let at = words.next()?.parse().ok()?;
    Some((at, LogLevel::named(words.next()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
2026-11-18T07:00:00.000001Z  INFO run started task=1
2026-11-18T07:01:00.000001Z  WARN a machine is away
  caused by: no route
2026-11-18T07:02:00.000001Z ERROR the disk is full
{\"at\":\"2026-11-18T07:03:00Z\",\"level\":\"warn\",\"message\":\"Later\"}
";

    fn check(filter: &LogFilter, expect: &[&str]) {
        let kept = filter.keep(LOG);
        let lines: Vec<&str> = kept.lines().map(|line| &line[line.len() - 4..]).collect();
        assert_eq!(lines, expect, "{filter:?}");
    }

    #[test]
    fn records_are_kept_as_a_whole() {
        check(&LogFilter::default(), &["sk=1", "away", "oute", "full", "er\"}"]);
        let level = Some(LogLevel::Warn);
        check(&LogFilter { level, ..LogFilter::default() }, &["away", "oute", "full", "er\"}"]);
        let text = String::from("NO ROUTE");
        check(&LogFilter { text, ..LogFilter::default() }, &["away", "oute"]);
        let since = Some("2026-11-18T07:02:00Z".parse().expect("it is a time"));
        check(&LogFilter { since, level, ..LogFilter::default() }, &["full", "er\"}"]);
        let level = Some(LogLevel::Error);
        check(&LogFilter { level, ..LogFilter::default() }, &["full"]);
    }
}

//! `[sampling]`: how often use is measured and how long that is kept; `[[metric]]`: probes of the administrator's own.

use super::ConfigError;
use crate::parse::amount::parse_bytes;
use crate::parse::duration::parse_span;
use danlu_core::Span;
use danlu_wire::samples::{MetricProbe, MetricScope, SamplingOrder};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Zero: nothing is measured.
    pub interval: Span,
    /// How long samples are kept …
    pub keep_raw: Span,
    /// … what they are in each minute …
    pub keep_minutes: Span,
    /// … and in each hour.
    pub keep_hours: Span,
    /// Bytes of the file.
    pub max_size: u64,
    pub metrics: Vec<CustomMetric>,
}

/// `[[metric]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomMetric {
    pub probe: MetricProbe,
    /// For people.
    pub unit: String,
}

const DAY: Span = Span::from_secs(86_400);
const SHORTEST_INTERVAL: Span = Span::from_secs(1);
const LONGEST_INTERVAL: Span = Span::from_secs(3_600);
const LONGEST_KEPT: Span = Span::from_secs(20 * 366 * 86_400);
const LEAST_SIZE: u64 = 16 << 20;
const MOST_METRICS: usize = 16;
const LONGEST_NAME: usize = 32;
const LONGEST_UNIT: usize = 16;
const LONGEST_COMMAND: usize = 4_096;
const LONGEST_PROBE: Span = Span::from_secs(60);

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            interval: Span::from_secs(2),
            keep_raw: DAY,
            keep_minutes: Span(30 * DAY.0),
            keep_hours: Span(2 * 365 * DAY.0),
            max_size: 2 << 30,
            metrics: Vec::new(),
        }
    }
}

impl Sampling {
    /// As an agent hears it.
    pub fn order(&self) -> SamplingOrder {
        let probes = self.metrics.iter().map(|metric| metric.probe.clone());
        SamplingOrder { interval: self.interval, only_runs: false, probes: probes.collect() }
    }

    /// As `danlu config` lists them.
    pub(super) fn entries(&self) -> [(&'static str, String); 6] {
        let metrics: Vec<&str> =
            self.metrics.iter().map(|metric| metric.probe.name.as_str()).collect();
        [
            ("sampling.interval", self.interval.to_string()),
            ("sampling.keep_raw", self.keep_raw.to_string()),
            ("sampling.keep_minutes", self.keep_minutes.to_string()),
            ("sampling.keep_hours", self.keep_hours.to_string()),
            ("sampling.max_size", self.max_size.to_string()),
            ("metric", metrics.join(", ")),
        ]
    }
}

/// `[sampling] interval = "2s"`, `keep_raw = "1d"`, `keep_minutes = "30d"`, `keep_hours = "730d"`, `max_size = "2G"`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SamplingInFile {
    interval: Option<String>,
    keep_raw: Option<String>,
    keep_minutes: Option<String>,
    keep_hours: Option<String>,
    max_size: Option<String>,
}

/// `[[metric]] name = "inlet", command = "/usr/local/bin/inlet --celsius", per = "machine", unit = "°C"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MetricInFile {
    name: String,
    command: String,
    per: MetricScope,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    interval: Option<String>,
    #[serde(default)]
    timeout: Option<String>,
}

impl SamplingInFile {
    /// The keys that the file sets.
    pub(super) fn said(&self) -> [(&'static str, bool); 5] {
        [
            ("sampling.interval", self.interval.is_some()),
            ("sampling.keep_raw", self.keep_raw.is_some()),
            ("sampling.keep_minutes", self.keep_minutes.is_some()),
            ("sampling.keep_hours", self.keep_hours.is_some()),
            ("sampling.max_size", self.max_size.is_some()),
        ]
    }

    pub(super) fn parse(
        self,
        metrics: Vec<MetricInFile>,
        from: &str,
    ) -> Result<Sampling, ConfigError> {
        let usual = Sampling::default();
        let wrong = |key: &str, value: String, expect| ConfigError::Sampling {
            path: PathBuf::from(from),
            key: format!("[sampling] {key}"),
            value,
            expect,
        };
        let interval = match self.interval {
            None => usual.interval,
            Some(given) => interval(&given)
                .ok_or_else(|| wrong("interval", given, "0, or a length of time from 1s to 1h"))?,
        };
        let keep = |key, given: Option<String>, usual| {
            let Some(given) = given else { return Ok(usual) };
            parse_span(&given)
                .filter(|span| *span <= LONGEST_KEPT)
                .ok_or_else(|| wrong(key, given, "a length of time such as 30d"))
        };
        let max_size = match self.max_size {
            None => usual.max_size,
            Some(given) => parse_bytes(&given)
                .ok()
                .filter(|bytes| *bytes >= LEAST_SIZE)
                .ok_or_else(|| wrong("max_size", given, "a size such as 2G, at least 16M"))?,
        };
        Ok(Sampling {
            interval,
            keep_raw: keep("keep_raw", self.keep_raw, usual.keep_raw)?,
            keep_minutes: keep("keep_minutes", self.keep_minutes, usual.keep_minutes)?,
            keep_hours: keep("keep_hours", self.keep_hours, usual.keep_hours)?,
            max_size,
            metrics: all(metrics, from)?,
        })
    }
}

/// `0` without a unit too.
fn interval(given: &str) -> Option<Span> {
    match parse_span(given) {
        _ if given == "0" => Some(Span(0)),
        Some(Span(0)) => Some(Span(0)),
        span => span.filter(|span| (SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(span)),
    }
}

fn all(metrics: Vec<MetricInFile>, from: &str) -> Result<Vec<CustomMetric>, ConfigError> {
    let wrong = |key: &str, value: &str, expect| ConfigError::Sampling {
        path: PathBuf::from(from),
        key: format!("[[metric]] {key}"),
        value: value.to_owned(),
        expect,
    };
    if metrics.len() > MOST_METRICS {
        return Err(wrong("", &metrics.len().to_string(), "at most 16 metrics"));
    }
    let mut known: Vec<CustomMetric> = Vec::new();
    for metric in metrics {
        if !is_name(&metric.name) {
            let expect =
                "a name of a-z, 0-9 and _ that begins with a letter, at most 32 characters";
            return Err(wrong("name", &metric.name, expect));
        }
        if known.iter().any(|other| other.probe.name == metric.name) {
            return Err(wrong("name", &metric.name, "a name of its own"));
        }
        let command = shlex::split(&metric.command).filter(|words| {
            words.first().is_some_and(|program| !program.is_empty())
                && metric.command.len() <= LONGEST_COMMAND
                && !metric.command.contains('\0')
        });
        let command = command.ok_or_else(|| wrong("command", &metric.command, "a command line"))?;
        if metric.unit.chars().count() > LONGEST_UNIT || metric.unit.chars().any(char::is_control) {
            return Err(wrong("unit", &metric.unit, "a unit of at most 16 characters"));
        }
        let span = |key, given: &Option<String>, usual, longest| match given {
            None => Ok(usual),
            Some(given) => parse_span(given)
                .filter(|span| (SHORTEST_INTERVAL..=longest).contains(span))
                .ok_or_else(|| wrong(key, given, "a length of time from 1s, such as 60s")),
        };
        let probe = MetricProbe {
            name: metric.name,
            command,
            per: metric.per,
            interval: span("interval", &metric.interval, Span::from_secs(60), DAY)?,
            timeout: span("timeout", &metric.timeout, Span::from_secs(5), LONGEST_PROBE)?,
        };
        known.push(CustomMetric { probe, unit: metric.unit });
    }
    Ok(known)
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Both {
        #[serde(default)]
        sampling: SamplingInFile,
        #[serde(default)]
        metric: Vec<MetricInFile>,
    }

    fn parsed(text: &str) -> Result<Sampling, ConfigError> {
        let Both { sampling, metric } = toml::from_str(text).expect("it is TOML");
        sampling.parse(metric, "danlu.toml")
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        assert_eq!(parsed("").expect("it is sound"), Sampling::default());
        let told = parsed("[sampling]\ninterval = \"0\"\nmax_size = \"1G\"").expect("it is sound");
        assert_eq!(told, Sampling { interval: Span(0), max_size: 1 << 30, ..Sampling::default() });
    }

    #[test]
    fn metrics_are_commands_without_a_shell() {
        let told = parsed(
            "[[metric]]\nname = \"inlet\"\ncommand = \"probe 'two words' $HOME\"\nper = \"gpu\"\nunit = \"°C\"",
        );
        let probe = &told.expect("it is sound").metrics[0].probe;
        assert_eq!(probe.command, ["probe", "two words", "$HOME"]);
        assert_eq!((probe.interval, probe.timeout), (Span::from_secs(60), Span::from_secs(5)));
    }

    #[test]
    fn nonsense_is_refused() {
        let metric = |name: &str, more: &str| {
            format!("[[metric]]\nname = \"{name}\"\ncommand = \"x\"\nper = \"machine\"\n{more}\n")
        };
        let bad = [
            "[sampling]\ninterval = \"10ms\"".to_owned(),
            "[sampling]\nkeep_raw = \"long\"".to_owned(),
            "[sampling]\nmax_size = \"1M\"".to_owned(),
            metric("9lives", ""),
            metric("Big", ""),
            metric("a", "interval = \"0s\""),
            metric("a", "timeout = \"2h\""),
            metric("a", "unit = \"much too long to be a unit\""),
            metric("a", "") + &metric("a", ""),
            (0..17).map(|place| metric(&format!("m{place}"), "")).collect(),
            metric("a", "").replace("\"x\"", "\"'open\""),
        ];
        for text in bad {
            assert!(parsed(&text).is_err(), "{text}");
        }
    }
}

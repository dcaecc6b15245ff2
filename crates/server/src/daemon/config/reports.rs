//! `[reports]`: how long it is known what runs have used, and who gets a message every month.

use super::ConfigError;
use crate::parse::duration::parse_span;
use danlu_core::Span;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportsConfig {
    pub keep: Span,
    /// Addresses, channels, or `admins`.
    pub monthly: Vec<String>,
}

/// All administrators, each where they are told of other things.
pub(crate) const ADMINS: &str = "admins";

const USUAL: Span = Span::from_secs(5 * 366 * 86_400);
const SHORTEST: Span = Span::from_secs(86_400);
const LONGEST: Span = Span::from_secs(100 * 366 * 86_400);
const MOST_TARGETS: usize = 32;
const LONGEST_TARGET: usize = 254;

impl Default for ReportsConfig {
    fn default() -> ReportsConfig {
        ReportsConfig { keep: USUAL, monthly: Vec::new() }
    }
}

impl ReportsConfig {
    /// As `danlu config` lists them.
    pub(super) fn entries(&self) -> [(&'static str, String); 2] {
        let monthly = self.monthly.join(", ");
        let monthly = if monthly.is_empty() { "none".to_owned() } else { monthly };
        [("reports.keep", self.keep.to_string()), ("reports.monthly", monthly)]
    }
}

/// `[reports] keep = "1830d"`, `monthly = ["admins", "head@example.org", "ops"]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReportsInFile {
    keep: Option<String>,
    monthly: Option<Vec<String>>,
}

impl ReportsInFile {
    /// The keys that the file sets.
    pub(super) fn said(&self) -> [(&'static str, bool); 2] {
        [("reports.keep", self.keep.is_some()), ("reports.monthly", self.monthly.is_some())]
    }

    /// `channels` are the names that `[notify]` has configured; `email` tells whether it sends mail.
    pub(super) fn parse(
        self,
        channels: &[&str],
        email: bool,
        from: &str,
    ) -> Result<ReportsConfig, ConfigError> {
        let wrong = |key: &str, value: String, expect| ConfigError::Sampling {
            path: PathBuf::from(from),
            key: format!("[reports] {key}"),
            value,
            expect,
        };
        let keep = match self.keep {
            None => USUAL,
            Some(given) => parse_span(&given)
                .filter(|span| (SHORTEST..=LONGEST).contains(span))
                .ok_or_else(|| wrong("keep", given, "a length of time such as 730d"))?,
        };
        let monthly = self.monthly.unwrap_or_default();
        if monthly.len() > MOST_TARGETS {
            return Err(wrong("monthly", monthly.len().to_string(), "at most 32 recipients"));
        }
        for target in &monthly {
            let sound = match target.split_once('@') {
                Some((name, host)) => {
                    email && !name.is_empty() && !host.is_empty() && is_printable(target)
                }
                None => target == ADMINS || channels.contains(&target.as_str()),
            };
            if !sound {
                let expect = "\"admins\", a channel of [notify], or a mail address (which needs [notify.email])";
                return Err(wrong("monthly", target.clone(), expect));
            }
        }
        Ok(ReportsConfig { keep, monthly })
    }
}

fn is_printable(address: &str) -> bool {
    let odd = |it: char| it.is_control() || it.is_whitespace() || "<>,;\"".contains(it);
    address.len() <= LONGEST_TARGET && !address.contains(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ReportsConfig, ConfigError> {
        let read: ReportsInFile = toml::from_str(text).expect("it is TOML");
        read.parse(&["ops"], true, "danlu.toml")
    }

    #[test]
    fn recipients_are_administrators_channels_and_addresses() {
        assert_eq!(parsed("").expect("it is sound"), ReportsConfig::default());
        let told = parsed("keep = \"90d\"\nmonthly = [\"admins\", \"ops\", \"head@lab.org\"]");
        let told = told.expect("it is sound");
        assert_eq!((told.keep, told.monthly.len()), (Span::from_secs(90 * 86_400), 3));
    }

    #[test]
    fn nonsense_is_refused() {
        let bad = [
            "keep = \"1h\"",
            "keep = \"long\"",
            "monthly = [\"nobody\"]",
            "monthly = [\"@\"]",
            "monthly = [\"a@b c\"]",
            "monthly = [\"\"]",
        ];
        for text in bad {
            assert!(parsed(text).is_err(), "{text}");
        }
        let read: ReportsInFile = toml::from_str("monthly = [\"a@b.org\"]").expect("it is TOML");
        assert!(read.parse(&[], false, "danlu.toml").is_err(), "no mail is configured");
    }
}

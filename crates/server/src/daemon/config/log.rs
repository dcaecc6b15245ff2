//! `[log]`: where the server's own log is, how large it gets, and what is in it.

use super::ConfigError;
use crate::parse::amount::parse_bytes;
use danlu_messages::errors;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// `None`: `server.log` in the data directory.
    pub path: Option<PathBuf>,
    /// A file that has become larger is put aside …
    pub max_size: u64,
    /// … and so many of those are kept.
    pub keep: u8,
    pub level: LogLevel,
    pub format: LogFormat,
}

/// How important a line is, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object on each line.
    Json,
}

const SMALLEST: u64 = 64 << 10;
const LARGEST: u64 = 1 << 30;
const MOST_KEPT: u8 = 100;

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig {
            path: None,
            max_size: 5 << 20,
            keep: 1,
            level: LogLevel::default(),
            format: LogFormat::default(),
        }
    }
}

impl LogLevel {
    pub const ALL: [LogLevel; 5] =
        [LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace];

    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }

    pub fn named(name: &str) -> Option<LogLevel> {
        LogLevel::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(name))
    }
}

impl LogFormat {
    pub fn as_str(self) -> &'static str {
        match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }
    }
}

/// `[log] path = "/var/log/danlu.log"`, `max_size = "5M"`, `keep = 1`, `level = "info"`, `format = "text"`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LogInFile {
    path: Option<PathBuf>,
    max_size: Option<String>,
    keep: Option<u8>,
    level: Option<LogLevel>,
    format: Option<LogFormat>,
}

impl LogInFile {
    /// Which keys are set.
    pub(super) fn said(&self) -> [(&'static str, bool); 5] {
        [
            ("log.path", self.path.is_some()),
            ("log.max_size", self.max_size.is_some()),
            ("log.keep", self.keep.is_some()),
            ("log.level", self.level.is_some()),
            ("log.format", self.format.is_some()),
        ]
    }

    pub(super) fn parse(self, from: &str) -> Result<LogConfig, ConfigError> {
        let usual = LogConfig::default();
        let wrong = |key, value: &str, expect| ConfigError::Log {
            path: PathBuf::from(from),
            key,
            value: value.to_owned(),
            expect,
        };
        if let Some(path) = self.path.as_ref().filter(|path| !path.is_absolute()) {
            let value = path.display().to_string();
            return Err(wrong("path", &value, errors::an_absolute_path()));
        }
        let max_size = match &self.max_size {
            None => usual.max_size,
            Some(given) => parse_bytes(given)
                .ok()
                .filter(|size| (SMALLEST..=LARGEST).contains(size))
                .ok_or_else(|| wrong("max_size", given, errors::a_log_size()))?,
        };
        let keep = self.keep.unwrap_or(usual.keep);
        if keep > MOST_KEPT {
            return Err(wrong("keep", &keep.to_string(), errors::kept_logs()));
        }
        Ok(LogConfig {
            path: self.path,
            max_size,
            keep,
            level: self.level.unwrap_or(usual.level),
            format: self.format.unwrap_or(usual.format),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<LogConfig, String> {
        let file: LogInFile = toml::from_str(text).map_err(|error| error.to_string())?;
        file.parse("danlu.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!(parsed(""), Ok(LogConfig::default()));
        let set = parsed("max_size = \"20M\"\nkeep = 3\nlevel = \"debug\"\nformat = \"json\"\n");
        let expect = LogConfig {
            path: None,
            max_size: 20 << 20,
            keep: 3,
            level: LogLevel::Debug,
            format: LogFormat::Json,
        };
        assert_eq!(set, Ok(expect));
        for bad in [
            "path = \"server.log\"",
            "max_size = \"1k\"",
            "max_size = \"lots\"",
            "keep = 101",
            "level = \"loud\"",
            "format = \"xml\"",
            "colour = true",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}

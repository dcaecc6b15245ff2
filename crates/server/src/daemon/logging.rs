//! The server's own log: to standard error, and to a file of bounded size.

use super::config::{LogConfig, LogFormat, LogLevel};
use super::log_format::JsonLines;
use danlu_node::private;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

pub(crate) fn path(data: &Path, config: &LogConfig) -> PathBuf {
    config.path.clone().unwrap_or_else(|| data.join("server.log"))
}

/// From now on everything that is logged in this process goes there.
pub(crate) fn start(data: &Path, config: &LogConfig) {
    let file = LogFileWriter {
        path: path(data, config),
        most: config.max_size,
        keep: config.keep,
        file: None,
        written: 0,
    };
    let has_journal = std::env::var("JOURNAL_STREAM").is_ok_and(|stream| {
        let facts = nix::sys::stat::fstat(io::stderr());
        facts.is_ok_and(|facts| is_journal(&stream, facts.st_dev, facts.st_ino))
    });
    let writer = LogWriter { file: Mutex::new(file), has_journal };
    let level = match config.level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .with_writer(writer);
    // A second server in the same process (a test) keeps the first one's log.
    let _ = match config.format {
        LogFormat::Text => tracing::subscriber::set_global_default(builder.finish()),
        LogFormat::Json => {
            tracing::subscriber::set_global_default(builder.event_format(JsonLines).finish())
        }
    };
}

/// systemd passes what is written to standard error on to the journal, which reads a priority before each line. The
/// variable is inherited, also by who writes to a terminal or a file instead.
fn is_journal(stream: &str, device: u64, file: u64) -> bool {
    let numbers = stream.split_once(':').map(|(device, file)| (device.parse(), file.parse()));
    numbers == Some((Ok(device), Ok(file)))
}

struct LogWriter {
    file: Mutex<LogFileWriter>,
    has_journal: bool,
}

/// One line on its way.
struct LineWriter<'a> {
    writer: &'a LogWriter,
    level: Level,
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> LineWriter<'a> {
        LineWriter { writer: self, level: Level::INFO }
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> LineWriter<'a> {
        LineWriter { writer: self, level: *about.level() }
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A log that cannot be written must not stop the server.
        let _ = match self.writer.has_journal {
            true => io::stderr().write_all(&[priority(self.level).as_bytes(), line].concat()),
            false => io::stderr().write_all(line),
        };
        let mut file = self.writer.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// As in `sd-daemon(3)`.
fn priority(level: Level) -> &'static str {
    match level {
        Level::ERROR => "<3>",
        Level::WARN => "<4>",
        Level::INFO => "<6>",
        Level::DEBUG | Level::TRACE => "<7>",
    }
}

struct LogFileWriter {
    path: PathBuf,
    most: u64,
    keep: u8,
    file: Option<File>,
    written: u64,
}

impl LogFileWriter {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.written > self.most {
            self.file = None;
            self.put_aside()?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = private::append(&self.path)?;
                self.written = file.metadata()?.len();
                self.file.insert(file)
            }
        };
        self.written += line.len() as u64;
        file.write_all(line)
    }

    /// A full file becomes `server.log.1`, that one `server.log.2`, and the oldest goes.
    fn put_aside(&mut self) -> io::Result<()> {
        self.written = 0;
        if self.keep == 0 {
            return fs::remove_file(&self.path);
        }
        for number in (1..self.keep).rev() {
            // There may be fewer.
            let _ = fs::rename(older(&self.path, number), older(&self.path, number + 1));
        }
        fs::rename(&self.path, older(&self.path, 1))
    }
}

pub(crate) fn older(path: &Path, number: u8) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// When it was put aside.
pub(crate) fn older_changed_at(path: &Path, number: u8) -> Option<SystemTime> {
    fs::metadata(older(path, number)).and_then(|it| it.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_stream_that_systemd_has_opened_is_the_journal() {
        assert!(is_journal("8:1234", 8, 1234));
        assert!(!is_journal("8:1234", 8, 1235));
        assert!(!is_journal("8", 8, 1234) && !is_journal("", 0, 0));
    }

    #[test]
    fn full_files_are_put_aside_and_few_are_kept() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("server.log");
        let mut log =
            LogFileWriter { path: path.clone(), most: 10, keep: 2, file: None, written: 0 };
        for line in ["first line\n", "second line\n", "third line\n", "fourth line\n"] {
            log.append(line.as_bytes()).expect("it can be written");
        }
        let read = |path: &Path| fs::read_to_string(path).expect("it is there");
        assert_eq!(read(&path), "fourth line\n");
        assert_eq!(read(&older(&path, 1)), "third line\n");
        assert_eq!(read(&older(&path, 2)), "second line\n");
        assert!(!older(&path, 3).exists());
    }
}

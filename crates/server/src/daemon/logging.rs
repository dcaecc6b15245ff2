//! The server's own log: to standard error, and to a file of bounded size.

use danlu_node::private;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing::Level;

/// A full file becomes `server.log.1`, and the one before it goes.
const MOST_BYTES: u64 = 5 << 20;

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("server.log")
}

/// From now on everything that is logged in this process goes there.
pub(crate) fn start(data: &Path) {
    let log = Mutex::new(LogWriter { path: path(data), file: None, written: 0 });
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::INFO)
        .with_ansi(false)
        .with_target(false)
        .with_writer(log)
        .finish();
    // A second server in the same process (a test) keeps the first one's log.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

struct LogWriter {
    path: PathBuf,
    file: Option<File>,
    written: u64,
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A log that cannot be written must not stop the server.
        let _ = io::stderr().write_all(line);
        let _ = self.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogWriter {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.written > MOST_BYTES {
            fs::rename(&self.path, self.path.with_extension("log.1"))?;
            self.file = None;
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
}

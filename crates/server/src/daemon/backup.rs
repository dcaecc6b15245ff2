//! Backups of a running server: a consistent copy of the database, keys and configuration as one tar archive.

use crate::daemon::clock;
use crate::daemon::config::Config;
use crate::daemon::handle::{Handle, NotNow};
use crate::store::restore_guard;
use crate::store::{Contents, Snapshot, Store, StoreError};
use danlu_messages::errors;
use danlu_node::private;
use nix::libc;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tar::{Builder, EntryType, Header};
use thiserror::Error;

pub(crate) const FORMAT: u32 = 1;
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const DATABASE: &str = "danlu.db";
pub(crate) const LOGS: &str = "node/logs";
pub(crate) const CONFIGURATION: &str = "config";
/// Beside the database; what is missing is left out.
pub(crate) const FILES: [&str; 5] =
    ["epoch.json", "tls-key.pem", "tls-certificate.pem", ARCHIVE, "known_hosts"];
const ARCHIVE: &str = "archive.jsonl";
/// Free space that a backup leaves on that disk.
const KEPT_FREE: u64 = 64 << 20;
/// How often, and how soon, it is tried to get hold of the database.
const FREEZES: u32 = 100;
const BETWEEN_FREEZES: Duration = Duration::from_millis(20);
/// Copies that a killed server has left behind begin with this.
const SPOOL: &str = "backup-";

/// The last entry: what is in the archive, so that a part of one is recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    pub version: String,
    pub at: String,
    /// SHA-256 of each, in hexadecimal digits.
    pub files: BTreeMap<String, String>,
}

#[derive(Debug, Error)]
pub(crate) enum BackupError {
    #[error(transparent)]
    NotNow(#[from] NotNow),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}", errors::backup_in_progress())]
    Busy,
    #[error("{}", errors::no_space_for_copy(&path.display(), megabytes))]
    NoRoom { path: PathBuf, megabytes: u64 },
    #[error("{}", errors::could_not_copy_database(.0))]
    Copy(#[from] io::Error),
}

impl BackupError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            BackupError::NotNow(not_now) => not_now.hint(),
            BackupError::Store(error) => error.hint(),
            BackupError::Busy => errors::try_again_in_a_moment(),
            BackupError::NoRoom { .. } => errors::make_room_on_that_disk(),
            BackupError::Copy(_) => errors::see_log_of_server(),
        }
    }
}

/// A copy of the database, for as long as it is needed.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    at: String,
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Runs to its end even if the caller has gone: the database must not stay frozen.
pub(crate) async fn spool(handle: &Handle, data: &Path) -> Result<Spool, BackupError> {
    let (handle, data) = (handle.clone(), data.to_owned());
    let made = tokio::spawn(async move {
        let at = crate::api::rfc3339(clock::now());
        let snapshot = freeze(&handle).await?;
        let copied = tokio::task::spawn_blocking(move || {
            let free = crate::store::disk::free(&data).unwrap_or(u64::MAX);
            if free < snapshot.bytes + KEPT_FREE {
                return Err(BackupError::NoRoom { path: data, megabytes: snapshot.bytes >> 20 });
            }
            let directory = data.join(format!("{SPOOL}{}", clock::now().0));
            private::directory(&directory, private::PRIVATE)?;
            let spool = Spool { directory, at };
            snapshot.write_to(&mut private::create_new(&spool.database())?)?;
            Ok(spool)
        });
        let copied = copied.await;
        handle.read(Store::thaw).await??;
        copied.map_err(io::Error::other)?
    });
    made.await.map_err(io::Error::other)?
}

/// Readers of the database are done within moments; another copy may take longer.
async fn freeze(handle: &Handle) -> Result<Snapshot, BackupError> {
    for _ in 0..FREEZES {
        if let Some(snapshot) = handle.read(Store::freeze).await?? {
            return Ok(snapshot);
        }
        tokio::time::sleep(BETWEEN_FREEZES).await;
    }
    Err(BackupError::Busy)
}

/// Removes copies that a killed server left.
pub(crate) fn remove_leftovers(data: &Path) {
    let entries = fs::read_dir(data).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(SPOOL)) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

impl Spool {
    fn database(&self) -> PathBuf {
        self.directory.join(DATABASE)
    }

    pub(crate) fn check(&self) -> Result<Contents, StoreError> {
        Store::check(&self.database())
    }

    /// All that a restore needs, to the end.
    pub(crate) fn write_archive(
        &self,
        out: impl Write,
        config: &Config,
        logs: bool,
    ) -> io::Result<()> {
        let mut archive = Archive { tar: Builder::new(out), files: BTreeMap::new() };
        archive.add(DATABASE, &self.database())?;
        for name in FILES {
            let path = match name {
                // Wherever it is.
                ARCHIVE => config.archive_file(),
                name => config.data.join(name),
            };
            archive.add(name, &path)?;
        }
        archive.add_below("keys", &config.data.join("keys"), 2)?;
        for path in [config.file().to_owned(), config.nodes_file()] {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            archive.add(&format!("{CONFIGURATION}/{name}"), &path)?;
        }
        if logs {
            archive.add_below(LOGS, &config.data.join(LOGS), 1)?;
        }
        archive.finish(&self.at)
    }
}

struct Archive<W: Write> {
    tar: Builder<W>,
    files: BTreeMap<String, String>,
}

impl<W: Write> Archive<W> {
    fn add_below(&mut self, name: &str, directory: &Path, depth: u32) -> io::Result<()> {
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            if depth > 1 {
                self.add_below(&name, &entry.path(), depth - 1)?;
            } else {
                self.add(&name, &entry.path())?;
            }
        }
        Ok(())
    }

    /// Its current length; what is appended meanwhile is not copied. A missing file is left out.
    fn add(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = match File::options().read(true).custom_flags(flags).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Ok(());
        }
        let mut header = header(facts.len());
        header.set_uid(u64::from(facts.uid()));
        header.set_gid(u64::from(facts.gid()));
        header.set_mtime(u64::try_from(facts.mtime()).unwrap_or(0));
        let mut content =
            Digesting { inner: file.chain(io::repeat(0)).take(facts.len()), digest: Sha256::new() };
        self.tar.append_data(&mut header, name, &mut content)?;
        self.files.insert(name.to_owned(), in_digits(content.digest));
        Ok(())
    }

    fn finish(mut self, at: &str) -> io::Result<()> {
        let manifest = Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            at: at.to_owned(),
            files: self.files,
        };
        let text = serde_json::to_vec_pretty(&manifest)?;
        self.tar.append_data(&mut header(text.len() as u64), MANIFEST, &text[..])?;
        self.tar.into_inner()?.flush()
    }
}

fn header(size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(private::FILE);
    header.set_size(size);
    header
}

pub(crate) struct Digesting<R> {
    pub(crate) inner: R,
    pub(crate) digest: Sha256,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.digest.update(&buffer[..read]);
        Ok(read)
    }
}

pub(crate) fn in_digits(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ids that must not be reused after a database is replaced.
pub(crate) fn highest(
    one: Option<restore_guard::GuardRecord>,
    other: Option<restore_guard::GuardRecord>,
) -> restore_guard::GuardRecord {
    let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
    restore_guard::GuardRecord {
        epoch: one.epoch.max(other.epoch),
        inode: 0,
        events: one.events.max(other.events),
        next_task: one.next_task.max(other.next_task),
        next_run: one.next_run.max(other.next_run),
        loss: None,
    }
}

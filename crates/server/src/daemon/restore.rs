//! Restores a backup to the data directory of a stopped server. The previous files are kept aside.

use crate::daemon::backup::{
    CONFIGURATION, DATABASE, Digesting, FILES, FORMAT, LOGS, MANIFEST, Manifest, highest, in_digits,
};
use crate::daemon::clock;
use crate::daemon::data_directory::{self, DirectoryError};
use crate::store::restore_guard::{self, Loss};
use crate::store::{Contents, Store, StoreError};
use danlu_messages::errors;
use danlu_node::private;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};
use thiserror::Error;

/// Maximum number of entries of a backup.
const MOST_ENTRIES: usize = 5_000_000;
/// Of the manifest.
const MOST_BYTES: u64 = 512 << 20;

#[derive(Debug, Error)]
pub enum RestoreError {
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}", errors::incomplete_backup(.0))]
    NotABackup(String),
    #[error("{}", errors::backup_of_newer_release(.0, &FORMAT))]
    Newer(u32),
    #[error("{}", errors::could_not_action_path_error(action, &path.display(), error))]
    File { action: &'static str, path: PathBuf, error: io::Error },
}

impl RestoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            RestoreError::Directory(error) => error.hint(),
            RestoreError::Store(error) => error.hint(),
            RestoreError::NotABackup(_) => errors::name_a_backup(),
            RestoreError::Newer(_) => errors::run_the_newer_release(),
            RestoreError::File { .. } => errors::check_space_and_permission(),
        }
    }
}

/// What was done.
#[derive(Debug)]
pub struct Restored {
    pub backup_at: String,
    pub contents: Contents,
    /// Where the files are that were there before, if any.
    pub aside: Option<PathBuf>,
    /// Where the configuration of the backup is.
    pub configuration: Vec<PathBuf>,
}

/// Whether all of it is there and as it was written.
pub fn verify(archive: impl Read) -> Result<Manifest, RestoreError> {
    unpack(archive, None)
}

/// The server must not be running. `config` is where its configuration file is, or would be.
pub fn restore(archive: impl Read, data: &Path, config: &Path) -> Result<Restored, RestoreError> {
    let _lock = data_directory::prepare(data)?;
    let now = clock::now();
    let staging = data.join(format!("restoring-{}", now.0));
    private::directory(&staging, private::PRIVATE).map_err(failed("create", &staging))?;
    let done = unpack(archive, Some(&staging)).and_then(|manifest| {
        let contents = Store::check(&staging.join(DATABASE))?;
        let aside = set_aside(data, now.0)?;
        let configuration = take_place(&staging, data, config)?;
        note(data, aside.as_deref(), &manifest)?;
        Ok(Restored { backup_at: manifest.at, contents, aside, configuration })
    });
    let _ = fs::remove_dir_all(&staging);
    done
}

fn unpack(archive: impl Read, into: Option<&Path>) -> Result<Manifest, RestoreError> {
    let broken = |error: io::Error| RestoreError::NotABackup(error.to_string());
    let mut found = BTreeMap::new();
    let mut manifest = None;
    let mut archive = Archive::new(archive);
    for entry in archive.entries().map_err(broken)?.take(MOST_ENTRIES) {
        let entry = entry.map_err(broken)?;
        let name = entry.path().map_err(broken)?.to_string_lossy().into_owned();
        if !is_expected(&name) || entry.header().entry_type() != EntryType::Regular {
            return Err(RestoreError::NotABackup(format!("it has `{}`", name.escape_debug())));
        }
        let owner = entry.header().uid().ok().zip(entry.header().gid().ok());
        let mut content = Digesting { inner: entry, digest: Sha256::new() };
        if name == MANIFEST {
            let mut text = Vec::new();
            content.take(MOST_BYTES).read_to_end(&mut text).map_err(broken)?;
            manifest = serde_json::from_slice::<Manifest>(&text).ok();
            continue;
        }
        match into {
            Some(directory) => write(&mut content, &directory.join(&name), &name, owner)?,
            None => drop(io::copy(&mut content, &mut io::sink()).map_err(broken)?),
        }
        found.insert(name, in_digits(content.digest));
    }
    let missing = || RestoreError::NotABackup("its end is missing".into());
    let manifest = manifest.ok_or_else(missing)?;
    if manifest.format > FORMAT {
        return Err(RestoreError::Newer(manifest.format));
    }
    if manifest.files != found || !found.contains_key(DATABASE) {
        return Err(RestoreError::NotABackup("its files are not those that were written".into()));
    }
    Ok(manifest)
}

/// Accepts only file names that a backup has, so that no path leads out of the directory.
fn is_expected(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let plain = |part: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
        !part.is_empty() && part.len() < 256 && !part.starts_with('.') && part.bytes().all(known)
    };
    match parts[..] {
        [file] => file == DATABASE || file == MANIFEST || FILES.contains(&file),
        ["keys", user, node] => plain(user) && plain(node),
        ["node", "logs", log] => plain(log),
        [CONFIGURATION, file] => plain(file),
        _ => false,
    }
}

/// Logs belong to the OS user that the task ran as.
fn write(
    content: &mut impl Read,
    path: &Path,
    name: &str,
    owner: Option<(u64, u64)>,
) -> Result<(), RestoreError> {
    if let Some(parent) = path.parent() {
        private::directory(parent, private::PRIVATE).map_err(failed("create", parent))?;
    }
    let mut written = || -> io::Result<()> {
        let mut file = private::create_new(path)?;
        io::copy(content, &mut file)?;
        file.flush()?;
        let owner = owner.filter(|_| name.starts_with(LOGS) && nix::unistd::geteuid().is_root());
        if let Some((uid, gid)) = owner {
            fchown(&file, u32::try_from(uid).ok(), u32::try_from(gid).ok())?;
        }
        file.sync_all()
    };
    written().map_err(failed("write", path))
}

/// What is replaced goes to a directory of its own. Runs stay where they are: they go on.
fn set_aside(data: &Path, now: i64) -> Result<Option<PathBuf>, RestoreError> {
    let names = [DATABASE, "danlu.db-wal", "danlu.db-shm", "keys"].into_iter().chain(FILES);
    let there: Vec<&str> =
        names.filter(|name| data.join(name).symlink_metadata().is_ok()).collect();
    if there.is_empty() {
        return Ok(None);
    }
    let aside = data.join(format!("before-restore-{now}"));
    private::directory(&aside, private::PRIVATE).map_err(failed("create", &aside))?;
    for name in there {
        let path = data.join(name);
        // The next start must know what was there even if this is interrupted.
        let moved = match name {
            "epoch.json" => fs::copy(&path, aside.join(name)).map(drop),
            _ => fs::rename(&path, aside.join(name)),
        };
        moved.map_err(failed("move", &path))?;
    }
    Ok(Some(aside))
}

fn take_place(staging: &Path, data: &Path, config: &Path) -> Result<Vec<PathBuf>, RestoreError> {
    for name in FILES.into_iter().filter(|name| *name != "epoch.json").chain(["keys"]) {
        move_to(&staging.join(name), &data.join(name))?;
    }
    let logs = data.join(LOGS);
    if staging.join(LOGS).exists() {
        for directory in [&data.join("node"), &logs] {
            private::directory(directory, private::PASSABLE)
                .map_err(failed("create", directory))?;
        }
        for entry in fs::read_dir(staging.join(LOGS)).into_iter().flatten().flatten() {
            let there = logs.join(entry.file_name());
            if !there.exists() {
                move_to(&entry.path(), &there)?;
            }
        }
    }
    let mut configuration = Vec::new();
    for entry in fs::read_dir(staging.join(CONFIGURATION)).into_iter().flatten().flatten() {
        // Existing configuration files are not overwritten.
        let place = config.with_file_name(entry.file_name());
        let place = match place.symlink_metadata().is_ok() || !makes_way_to(&place) {
            true => data.join(format!("restored-{}", entry.file_name().to_string_lossy())),
            false => place,
        };
        let content = fs::read(entry.path()).map_err(failed("read", &entry.path()))?;
        private::replace_durably(&place, &content).map_err(failed("write", &place))?;
        configuration.push(place);
    }
    move_to(&staging.join(DATABASE), &data.join(DATABASE))?;
    Ok(configuration)
}

fn makes_way_to(place: &Path) -> bool {
    place.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok())
}

fn move_to(from: &Path, to: &Path) -> Result<(), RestoreError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        moved => moved.map_err(failed("move", from)),
    }
}

/// The last step: until then, a start refuses the database.
fn note(data: &Path, aside: Option<&Path>, manifest: &Manifest) -> Result<(), RestoreError> {
    let ledger = Store::open(&data.join(DATABASE)).and_then(|store| store.ledger())?;
    let in_backup = ledger.map(|ledger| restore_guard::GuardRecord {
        epoch: ledger.epoch.0,
        next_task: ledger.next_task.0,
        next_run: ledger.next_run,
        ..restore_guard::GuardRecord::default()
    });
    let mut seen = highest(restore_guard::read(data), in_backup);
    if let Some(before) = aside.and_then(restore_guard::read) {
        seen = highest(Some(seen), Some(before));
    }
    seen.loss = Some(Loss::Restored { backup_at: manifest.at.clone() });
    restore_guard::write(data, &seen).map_err(failed("write", &restore_guard::path(data)))?;
    let synced = File::open(data).and_then(|directory| directory.sync_all());
    synced.map_err(failed("write", data))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RestoreError {
    let path = path.to_owned();
    move |error| RestoreError::File { action, path, error }
}

/// The database of a stopped server, looked at in a copy: nothing is changed.
pub fn check(data: &Path) -> Result<Contents, RestoreError> {
    let _lock = data_directory::lock(data)?;
    let copy = data.join(format!("check-{}", clock::now().0));
    private::directory(&copy, private::PRIVATE).map_err(failed("create", &copy))?;
    let checked = || {
        for name in [DATABASE, "danlu.db-wal"] {
            let from = data.join(name);
            match fs::copy(&from, copy.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && name != DATABASE => {}
                copied => drop(copied.map_err(failed("copy", &from))?),
            }
        }
        let contents = Store::check(&copy.join(DATABASE))?;
        match restore_guard::read(data).filter(|seen| seen.loss.is_none()) {
            Some(seen) if seen.events > contents.events => Err(StoreError::Behind {
                path: data.join(DATABASE),
                found: contents.events,
                known: seen.events,
            }
            .into()),
            _ => Ok(contents),
        }
    };
    let checked = checked();
    let _ = fs::remove_dir_all(&copy);
    checked
}

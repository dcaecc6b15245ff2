//! A file of the server that cannot be used is kept beside a new one, for the administrator.

use std::fs;
use std::path::{Path, PathBuf};

/// In place of what was set aside before: two are never kept. Its new name, if it has one.
pub(crate) fn set_aside(path: &Path) -> Option<PathBuf> {
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let aside = with(".unreadable");
    for rest in ["-wal", "-shm"] {
        let _ = fs::remove_file(with(rest));
    }
    fs::rename(path, &aside).ok().map(|()| aside)
}

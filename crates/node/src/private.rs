//! Creates every file and directory of Danlu's own: owner, mode and links are checked each time.
//!
//! Somebody else could have prepared a directory in a place where others may write (`/var/tmp`), or could lock a file that others may
//! open. So what exists already is used only if it belongs to this user alone.

use nix::libc;
use nix::unistd::geteuid;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

/// Accessible to the owner only.
pub const PRIVATE: u32 = 0o700;
/// Others may pass through to what is theirs, and see nothing else.
pub const PASSABLE: u32 = 0o711;
/// Of a file.
pub const FILE: u32 = 0o600;

/// A directory of this process's user with exactly this mode; missing parents are made too. One that exists must be ours,
/// not a link, and closed to other writers; a mode that shows others more than asked for is taken back.
pub fn directory(path: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
            }
            DirBuilder::new().mode(mode).create(path)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(refused("it is not a directory"));
    }
    check_owner(&found)?;
    // Others who can write there could have planted files.
    if found.mode() & 0o022 != 0 {
        return Err(refused("others may write to it"));
    }
    if found.mode() & 0o777 & !mode != 0 {
        fs::set_permissions(path, Permissions::from_mode(found.mode() & 0o777 & mode))?;
    }
    Ok(())
}

/// A file to lock. Other users may not open it, also where an older version made it.
pub fn lock_file(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create(true).truncate(false))
}

/// To add to.
pub fn append(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create(true).append(true))
}

/// A file that was not there before.
pub fn create_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create_new(true))
}

/// All of it or nothing: a new file takes the place of the old one. It need not have reached the disk.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    write_beside(path, content, |_| Ok(()))
}

/// The same, and it has reached the disk.
pub fn replace_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    write_beside(path, content, File::sync_all)?;
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

fn write_beside(
    path: &Path,
    content: &[u8],
    finish: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let draft = draft_of(path);
    let write = || {
        // Left by a process that was killed.
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = create_new(&draft)?;
        file.write_all(content)?;
        finish(&file)?;
        fs::rename(&draft, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// `O_NONBLOCK`: one that is a pipe is refused, not waited for.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = options.read(true).write(true).mode(FILE).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() != 1 {
        return Err(refused("it is not a plain file of its own"));
    }
    check_owner(&found)?;
    if found.mode() & 0o777 & !FILE != 0 {
        file.set_permissions(Permissions::from_mode(found.mode() & 0o777 & FILE))?;
    }
    Ok(file)
}

fn check_owner(found: &Metadata) -> io::Result<()> {
    let own = geteuid().as_raw();
    if found.uid() == own {
        return Ok(());
    }
    Err(refused(&format!("it belongs to user {}, not to user {own}", found.uid())))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn directories_are_ours_alone() {
        let place = tempfile::tempdir().unwrap();
        let made = place.path().join("a/b");
        directory(&made, PRIVATE).unwrap();
        assert_eq!((mode(&made), mode(&place.path().join("a"))), (0o700, 0o755));
        fs::set_permissions(&made, Permissions::from_mode(0o755)).unwrap();
        directory(&made, PASSABLE).unwrap();
        assert_eq!(mode(&made), 0o711, "what others could see more is taken back");
        fs::set_permissions(&made, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(directory(&made, PRIVATE).unwrap_err().to_string(), "others may write to it");
        let link = place.path().join("link");
        symlink(&made, &link).unwrap();
        assert_eq!(directory(&link, PRIVATE).unwrap_err().to_string(), "it is not a directory");
    }

    #[test]
    fn files_that_another_version_left_open_are_closed_to_others() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        lock_file(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        replace(&path, b"two").unwrap();
        replace_durably(&path, b"three").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("three", 0o600));
        assert!(create_new(&path).is_err());
    }

    #[test]
    fn links_and_pipes_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let [target, link, hard, pipe] =
            ["target", "link", "hard", "pipe"].map(|name| place.path().join(name));
        fs::write(&target, "").unwrap();
        symlink(&target, &link).unwrap();
        assert!(append(&link).is_err());
        fs::hard_link(&target, &hard).unwrap();
        assert!(append(&hard).is_err(), "another name of somebody's file");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        assert!(append(&pipe).is_err());
    }

    #[test]
    fn what_belongs_to_somebody_else_is_not_used() {
        if !geteuid().is_root() {
            println!("skipped: only root can give files away");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let theirs = place.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(12_345), None).unwrap();
        let error = directory(&theirs, PRIVATE).unwrap_err();
        assert!(error.to_string().contains("belongs to user 12345"), "{error}");
    }
}

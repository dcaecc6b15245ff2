//! A small file system of its own, which a test can fill.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use nix::{sys::statvfs::statvfs, unistd::geteuid};

use crate::support::danlu::skip;

/// Unmounted when it is dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Makes the directory; `options` are those of `tmpfs`. `None`, and it says so, where it cannot be mounted.
    pub(crate) fn mount(directory: &Path, options: &str) -> Option<SmallDisk> {
        fs::create_dir_all(directory).expect("it can be made");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "danlu-test"]).arg(directory);
        if !geteuid().is_root() || !mount.status().is_ok_and(|status| status.success()) {
            skip("only root can mount a small disk, and not everywhere");
            return None;
        }
        Some(SmallDisk(directory.to_owned()))
    }

    pub(crate) fn is_full(&self) -> bool {
        statvfs(&self.0).expect("it is mounted").blocks_available() == 0
    }

    /// Nothing is left, not even for root. The file that takes the space.
    pub(crate) fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = File::create(&path).expect("it can be made");
        for size in [1 << 20, 4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

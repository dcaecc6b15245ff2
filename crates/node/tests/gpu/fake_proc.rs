//! A `/proc` with the processes that a test needs.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct FakeProc {
    directory: TempDir,
}

pub(crate) struct Process<'a> {
    pub(crate) pid: u32,
    pub(crate) uid: u32,
    pub(crate) command: &'a [u8],
    pub(crate) cgroup: &'a str,
    pub(crate) state: char,
    pub(crate) started: u64,
}

impl Default for Process<'_> {
    fn default() -> Self {
        let (command, cgroup) = (b"python\0train.py\0".as_slice(), "0::/user.slice\n");
        Process { pid: 4711, uid: 0, command, cgroup, state: 'S', started: 100 }
    }
}

impl FakeProc {
    pub(crate) fn new() -> Self {
        FakeProc { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn with(process: &Process<'_>) -> Self {
        let proc = Self::new();
        proc.add(process);
        proc
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn add(&self, process: &Process<'_>) {
        let Process { pid, uid, command, cgroup, state, started } = process;
        let directory = self.of(*pid);
        fs::create_dir_all(&directory).unwrap();
        let zeros = "0 ".repeat(18);
        let stat = format!("{pid} (a) (b) {state} {zeros}{started} 0 0\n");
        fs::write(directory.join("stat"), stat).unwrap();
        fs::write(directory.join("status"), format!("Name:\ta\nUid:\t{uid}\t0\t0\t0\n")).unwrap();
        fs::write(directory.join("cmdline"), command).unwrap();
        fs::write(directory.join("comm"), "kernel_name\n").unwrap();
        fs::write(directory.join("cgroup"), cgroup).unwrap();
    }

    pub(crate) fn remove(&self, pid: u32) {
        fs::remove_dir_all(self.of(pid)).unwrap();
    }

    fn of(&self, pid: u32) -> PathBuf {
        self.path().join(pid.to_string())
    }
}

//! A file system that never answers, like one of a machine that is gone: every access to it blocks.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    os::{fd::AsRawFd as _, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    thread,
};

use nix::{
    mount::{MntFlags, MsFlags, mount, umount2},
    unistd::geteuid,
};

/// Mounted as long as it lives. Whoever waits for it then is told that there is nobody.
pub(crate) struct DeadFs {
    path: PathBuf,
    server: Option<File>,
    /// Its connection in the kernel's list.
    connection: Option<PathBuf>,
}

impl DeadFs {
    /// Makes the directory. `None`, and it says so, where it cannot be mounted.
    pub(crate) fn mount(path: PathBuf) -> Option<DeadFs> {
        let server = File::options().read(true).write(true).open("/dev/fuse");
        let Some(server) = server.ok().filter(|_| geteuid().is_root()) else {
            crate::support::danlu::skip("no FUSE here, or not root");
            return None;
        };
        fs::create_dir(&path).expect("it can be made");
        let options =
            format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other", server.as_raw_fd());
        let (from, kind) = (Some("dead"), Some("fuse"));
        let flags = MsFlags::MS_NODEV | MsFlags::MS_NOSUID;
        if let Err(error) = mount(from, &path, kind, flags, Some(options.as_str())) {
            crate::support::danlu::skip(&format!(
                "a file system of our own cannot be mounted here: {error}"
            ));
            return None;
        }
        answer_hello(&server);
        let connection = connection_of(&path);
        Some(DeadFs { path, server: Some(server), connection })
    }

    /// From now on requests are taken and never answered: the kernel lets go of nobody who waits for one, killed or not.
    pub(crate) fn swallow(&self) {
        let mut server = self.server.as_ref().expect("it is mounted").try_clone().expect("a copy");
        thread::spawn(move || {
            let mut request = vec![0; 64 * 1024];
            while server.read(&mut request).is_ok() {}
        });
    }

    /// Something below it, which nobody will ever see.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path.join(name).to_str().expect("it is UTF-8").to_owned()
    }
}

impl Drop for DeadFs {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            let _ = fs::write(connection.join("abort"), "1");
        }
        drop(self.server.take());
        let _ = umount2(&self.path, MntFlags::MNT_DETACH);
    }
}

/// The kernel's first request, and the only one that is read: what is not read can be given up by who waits for it.
fn answer_hello(server: &File) {
    let mut server = server.try_clone().expect("a descriptor");
    let answered = thread::spawn(move || {
        let mut request = [0; 64 * 1024];
        let count = server.read(&mut request).expect("a request");
        // Length, operation (26 is `FUSE_INIT`), number of the request.
        assert!(count >= 40 && request[4..8] == 26_u32.to_ne_bytes(), "the kernel says hello");
        let mut answer = Vec::new();
        answer.extend(80_u32.to_ne_bytes());
        answer.extend(0_i32.to_ne_bytes());
        answer.extend(&request[8..16]);
        // Version 7.31, with everything else left at nothing but the largest write.
        for number in [7_u32, 31, 0, 0, 0, 4096, 1] {
            answer.extend(number.to_ne_bytes());
        }
        answer.resize(80, 0);
        server.write_all(&answer).expect("the kernel listens");
    });
    answered.join().expect("it was answered");
}

/// Found by the number of the mounted device, without a look at the file system itself.
fn connection_of(path: &Path) -> Option<PathBuf> {
    let control = Path::new("/sys/fs/fuse/connections");
    if fs::read_dir(control).ok()?.next().is_none() {
        let flags = MsFlags::empty();
        let _ = mount(Some("fusectl"), control, Some("fusectl"), flags, None::<&str>);
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let point = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    let line = mounts.lines().find(|line| line.split(' ').nth(4) == point.to_str())?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    let (major, minor): (u64, u64) = (major.parse().ok()?, minor.parse().ok()?);
    // As the kernel counts devices.
    let found = control.join(((major << 20) | minor).to_string());
    fs::metadata(&found).ok().filter(|facts| facts.uid() == 0).map(|_| found)
}

//! Whether a path is on a local disk or on a network file system.

use nix::sys::statfs::statfs;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A file system that other machines can change, or that vanishes with another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network(String);

/// `None` for a local one.
pub fn network(path: &Path) -> io::Result<Option<Network>> {
    // As wide as the kernel has them: some have their highest bit set.
    #[allow(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "only the bits matter"
    )]
    let magic = statfs(path)?.filesystem_type().0 as u32;
    if magic == FUSE {
        let kind = kind_of_mount(&fs::read("/proc/self/mountinfo")?, path);
        return Ok(kind.filter(|kind| is_network_fuse(kind)).map(Network));
    }
    let found = NETWORK_MAGIC.iter().find(|(number, _)| *number == magic);
    Ok(found.map(|(_, name)| Network((*name).to_owned())))
}

const FUSE: u32 = 0x6573_5546;

const NETWORK_MAGIC: [(u32, &str); 14] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x1983_0326, "beegfs"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0xaad7_aaea, "panfs"),
];

/// Most things in user space are network file systems; these are known to be local.
fn is_network_fuse(kind: &str) -> bool {
    !matches!(
        kind,
        "fuse.fuse-overlayfs"
            | "fuseblk"
            | "fuse.ntfs"
            | "fuse.lxcfs"
            | "fuse.bindfs"
            | "fuse.mergerfs"
    )
}

/// The type of the mount that holds `path`, by the longest mount point above it; of equals, the newest.
fn kind_of_mount(mountinfo: &[u8], path: &Path) -> Option<String> {
    mountinfo
        .split(|&byte| byte == b'\n')
        .filter_map(|line| {
            let mut fields = line.split(|&byte| byte == b' ');
            let point = unescape(fields.nth(4)?);
            let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
            let point = Path::new(std::ffi::OsStr::from_bytes(&point)).to_owned();
            path.starts_with(&point)
                .then(|| (point.as_os_str().len(), String::from_utf8_lossy(kind).into_owned()))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

/// Blanks and the like stand there as `\040`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'\\').then(|| after.get(..3)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(meant) => {
                plain.push(meant);
                rest = &after[3..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_disk_is_local() {
        assert_eq!(network(Path::new("/proc")).unwrap(), None);
        assert_eq!(network(&std::env::temp_dir()).unwrap(), None);
    }

    #[test]
    fn fuse_is_judged_by_its_mount() {
        let mounts = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
            50 27 0:50 / /mnt/far\\040away rw,nosuid shared:9 - fuse.sshfs host:/ rw\n\
            51 27 0:51 / /mnt/box rw - fuse.fuse-overlayfs fuse-overlayfs rw\n";
        let kind = |path: &str| kind_of_mount(mounts, Path::new(path)).unwrap();
        assert_eq!(kind("/home"), "ext4");
        assert_eq!(kind("/mnt/far away/runs"), "fuse.sshfs");
        assert_eq!(kind("/mnt/far"), "ext4");
        assert!(is_network_fuse(&kind("/mnt/far away")));
        assert!(!is_network_fuse(&kind("/mnt/box/x")));
    }
}

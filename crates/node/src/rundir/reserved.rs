//! Files whose space is reserved when their run directory is created, so that orders and results can be written to a full disk.
//!
//! Such a file has one block, which is overwritten as a whole. While it begins with a zero byte it counts as absent, like every file
//! that cannot be parsed.

use super::{RunDir, WRITE};
use danlu_wire::rundir::{Control, ExitRecord, RunFile as _};
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, fallocate, openat};
use nix::sys::stat::Mode;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

pub(super) const RESERVED: [&str; 2] = [Control::NAME, ExitRecord::NAME];

const BLOCK: usize = 4096;

impl RunDir {
    /// In a new directory.
    pub(super) fn reserve(&self) -> io::Result<()> {
        for name in RESERVED {
            let file = self.create(name, OFlag::O_EXCL, 0o600)?;
            match fallocate(&file, FallocateFlags::empty(), 0, BLOCK as i64) {
                Ok(()) => {}
                // Not every file system can: what is written is there too.
                Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => file.write_all_at(&[0; BLOCK], 0)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// False where there is no such file, as in a directory of an earlier version, or it is too small.
    pub(super) fn write_reserved(&self, name: &str, content: &[u8]) -> io::Result<bool> {
        if !RESERVED.contains(&name) || content.len() > BLOCK {
            return Ok(false);
        }
        let Some(file) = self.reserved(name)? else { return Ok(false) };
        // Blanks after a value are nothing.
        let mut block = [b' '; BLOCK];
        block[..content.len()].copy_from_slice(content);
        Ok(file.write_at(&block, 0)? == BLOCK)
    }

    /// For the next run. False where there is none of that size.
    pub(super) fn blank(&self, name: &str) -> io::Result<bool> {
        let Some(file) = self.reserved(name)? else { return Ok(false) };
        Ok(file.write_at(&[0], 0)? == 1)
    }

    fn reserved(&self, name: &str) -> io::Result<Option<File>> {
        let file = match openat(self, name, WRITE, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok((file.metadata()?.len() == BLOCK as u64).then_some(file))
    }
}

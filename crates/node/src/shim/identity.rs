//! Who a command runs as.

use super::steps::call;
use crate::user::{self, Account};
use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Gid, Uid, fchown, geteuid};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) account: Account,
    /// It is not whom the shim runs as.
    switch: bool,
}

/// Why a command cannot run as somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoIdentity {
    Unknown {
        name: String,
    },
    NotRoot {
        name: String,
    },
    NotAsked {
        name: String,
        error: String,
    },
    /// There was none to ask with.
    NoProcess {
        errno: i32,
    },
}

impl Identity {
    /// `None` is whoever this process runs as. May ask a server of the network, and take its time.
    pub(crate) fn find(name: Option<&str>) -> Result<Identity, NoIdentity> {
        let Some(name) = name else {
            return Ok(Identity { account: user::current(), switch: false });
        };
        let found = user::find(name).map_err(|error| NoIdentity::NotAsked {
            name: name.into(),
            error: error.to_string(),
        })?;
        let Some(account) = found else { return Err(NoIdentity::Unknown { name: name.into() }) };
        match (geteuid().is_root(), geteuid().as_raw() == account.uid) {
            (true, _) => Ok(Identity { account, switch: true }),
            (false, true) => Ok(Identity { account, switch: false }),
            (false, false) => Err(NoIdentity::NotRoot { name: name.into() }),
        }
    }

    pub(super) fn changes_user(&self) -> bool {
        self.switch
    }

    /// Makes a file that was opened by the shim one of the user's.
    pub(super) fn give(&self, file: &File) -> io::Result<()> {
        if self.switch {
            let Account { uid, gid, .. } = self.account;
            fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
        Ok(())
    }

    /// For good: nothing of the shim's rights is left. Makes system calls and nothing else (`steps`).
    pub(crate) fn assume(&self) -> Result<(), Errno> {
        let Account { uid, gid, groups, .. } = &self.account;
        let (user, group) = (*uid as usize, *gid as usize);
        if self.switch {
            // SAFETY: takes numbers, and a list with its length.
            unsafe {
                call(libc::SYS_setgroups, [groups.len(), groups.as_ptr() as usize, 0, 0, 0])?;
                call(libc::SYS_setresgid, [group, group, group, 0, 0])?;
                call(libc::SYS_setresuid, [user, user, user, 0, 0])?;
            }
        }
        if *uid == 0 { Ok(()) } else { drop_capabilities() }
    }
}

/// Leaving root takes most of them, but not what was made inheritable, nor those of a daemon that was never root.
fn drop_capabilities() -> Result<(), Errno> {
    // Version 3, of this process.
    let header = [0x2008_0522_u32, 0];
    // Effective, permitted and inheritable, each in two words.
    let none = [0_u32; 6];
    let ambient = [libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL];
    let [ambient, clear] = ambient.map(|number| number.unsigned_abs() as usize);
    // SAFETY: the first takes numbers; the second points to what this version of the call reads: the header, and two sets of three
    // words. What a kernel without ambient ones refuses is not needed there.
    unsafe {
        let _ = call(libc::SYS_prctl, [ambient, clear, 0, 0, 0]);
        call(libc::SYS_capset, [header.as_ptr() as usize, none.as_ptr() as usize, 0, 0, 0])
    }
}

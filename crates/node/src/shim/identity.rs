//! Who a command runs as.

use crate::user::{self, Account};
use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Gid, Uid, fchown, geteuid, setgroups, setresgid, setresuid};
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
    Unknown { name: String },
    NotRoot { name: String },
    NotAsked { name: String, error: String },
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

    /// For good: nothing of the shim's rights is left. Only in a process without threads.
    pub(super) fn assume(&self) -> Result<(), Errno> {
        let (uid, gid) = (Uid::from_raw(self.account.uid), Gid::from_raw(self.account.gid));
        if self.switch {
            let groups: Vec<Gid> = self.account.groups.iter().copied().map(Gid::from_raw).collect();
            setgroups(&groups)?;
            setresgid(gid, gid, gid)?;
            setresuid(uid, uid, uid)?;
        }
        if uid.is_root() { Ok(()) } else { drop_capabilities() }
    }
}

/// Leaving root takes most of them, but not what was made inheritable, nor those of a daemon that was never root.
fn drop_capabilities() -> Result<(), Errno> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    // Effective, permitted and inheritable, each in two words.
    let none = [0_u32; 6];
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    // SAFETY: both point to what this version of the call reads: the header, and two sets of three words.
    let result =
        unsafe { libc::syscall(libc::SYS_capset, std::ptr::from_ref(&header), none.as_ptr()) };
    Errno::result(result).map(drop)
}

//! The user that a command runs as, and how a child becomes that user.

use super::steps::errno;
use crate::user::{self, Account};
use nix::errno::Errno;
use nix::unistd::geteuid;
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::unix::fs::fchown;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) account: Account,
    /// It is not whom the shim runs as.
    switch: bool,
}

/// Why a command cannot run as a user.
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
    /// `None` is the user of this process. May ask a directory server, and block.
    pub(crate) fn find(name: Option<&str>) -> Result<Identity, NoIdentity> {
        let Some(name) = name else {
            return Ok(Identity { account: user::current(), switch: false });
        };
        let found = user::find(name).map_err(|error| NoIdentity::NotAsked {
            name: name.into(),
            error: error.to_string(),
        })?;
        // To the system calls that change users and groups, the largest number means "as it is".
        let found = found.filter(|account| account.uid != u32::MAX && account.gid != u32::MAX);
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
            fchown(file, Some(uid), Some(gid))?;
        }
        Ok(())
    }

    /// Prepared, so that a child can assume them without allocating.
    pub(crate) fn credentials(&self) -> Credentials {
        let Account { uid, gid, groups, .. } = &self.account;
        Credentials {
            user: Uid::from_raw(*uid),
            group: Gid::from_raw(*gid),
            groups: groups.iter().map(|group| Gid::from_raw(*group)).collect(),
            switch: self.switch,
        }
    }
}

/// The user and the groups of an identity, as the system takes them.
#[derive(Debug)]
pub(crate) struct Credentials {
    user: Uid,
    group: Gid,
    groups: Vec<Gid>,
    switch: bool,
}

impl Credentials {
    pub(super) fn change_user(&self) -> bool {
        self.switch
    }

    /// For good: nothing of the shim's rights is left. Makes system calls and nothing else (`steps`).
    pub(crate) fn assume(&self) -> Result<(), Errno> {
        // Of the calling thread alone, which is the only one.
        if self.switch {
            set_thread_groups(&self.groups).map_err(errno)?;
            set_thread_res_gid(self.group, self.group, self.group).map_err(errno)?;
            set_thread_res_uid(self.user, self.user, self.user).map_err(errno)?;
        }
        if self.user.is_root() { Ok(()) } else { drop_capabilities() }
    }
}

/// Leaving root takes most of them, but not what was made inheritable, nor those of a daemon that was never root.
fn drop_capabilities() -> Result<(), Errno> {
    // What a kernel without ambient ones refuses is not needed there.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(errno)
}

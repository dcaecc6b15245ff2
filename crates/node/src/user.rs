//! OS users, as the machine's name service knows them (files, LDAP, …).

use nix::unistd::{Gid, User, getgrouplist};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    /// Every group of the user, the main one included.
    pub groups: Vec<u32>,
    pub home: String,
    pub shell: String,
}

/// `None` when there is no such user.
pub fn find(name: &str) -> io::Result<Option<Account>> {
    if name.is_empty() || name.contains('\0') {
        return Ok(None);
    }
    User::from_name(name)?.map(account).transpose()
}

/// The user this process runs as. It may be unknown to the machine, as in a container.
pub(crate) fn current() -> Account {
    let uid = nix::unistd::geteuid();
    let known = User::from_uid(uid).ok().flatten().and_then(|user| account(user).ok());
    known.unwrap_or_else(|| Account {
        name: uid.to_string(),
        uid: uid.as_raw(),
        gid: nix::unistd::getegid().as_raw(),
        groups: numbers(&nix::unistd::getgroups().unwrap_or_default()),
        home: "/".to_owned(),
        shell: "/bin/sh".to_owned(),
    })
}

fn account(user: User) -> io::Result<Account> {
    let name = CString::new(user.name.as_str())?;
    let shell = user.shell.to_string_lossy().into_owned();
    Ok(Account {
        groups: numbers(&getgrouplist(&name, user.gid)?),
        name: user.name,
        uid: user.uid.as_raw(),
        gid: user.gid.as_raw(),
        home: user.dir.to_string_lossy().into_owned(),
        shell: if shell.is_empty() { "/bin/sh".to_owned() } else { shell },
    })
}

fn numbers(groups: &[Gid]) -> Vec<u32> {
    groups.iter().map(|group| group.as_raw()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_found() {
        let root = find("root").unwrap().unwrap();
        assert_eq!((root.uid, root.gid), (0, 0));
        assert!(root.groups.contains(&root.gid));
    }

    #[test]
    fn unknown_user_is_not_found() {
        assert_eq!(find("no-such-user-of-danlu").unwrap(), None);
        assert_eq!(find("").unwrap(), None);
        assert_eq!(find("ro\0ot").unwrap(), None);
    }
}

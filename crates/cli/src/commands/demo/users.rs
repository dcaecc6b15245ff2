//! The users who submit the tasks: two where that is possible, otherwise the one who runs the demo.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
};

use danlu_node::user::{self, Account};

use super::this_program;

#[derive(Clone, Debug)]
pub(super) struct DemoUser {
    pub(super) name: String,
    /// `None`: the user who runs the demo.
    account: Option<Account>,
}

/// Accounts that a machine has anyway and that own nothing of worth.
const STRANGERS: [&str; 6] = ["nobody", "games", "daemon", "mail", "news", "bin"];

impl DemoUser {
    /// The one who runs the demo.
    pub(super) fn myself() -> Self {
        let uid = nix::unistd::geteuid();
        let known = nix::unistd::User::from_uid(uid).ok().flatten();
        Self { name: known.map_or_else(|| format!("uid{uid}"), |user| user.name), account: None }
    }

    /// `danlu` with these words, as this person would type it in this directory.
    pub(super) fn danlu(&self, words: &[String], server: &Path, directory: &Path) -> Command {
        let mut command = this_program::client();
        command.args(words).env("DANLU_SERVER", server).current_dir(directory).stdin(Stdio::null());
        if let Some(account) = &self.account {
            // Without further groups: the standard library drops those of root.
            command.uid(account.uid).gid(account.gid);
        }
        command
    }

    fn reaches(&self, server: &Path, directory: &Path) -> bool {
        let words = ["ls".to_owned(), "--json".to_owned()];
        let mut command = self.danlu(&words, server, directory);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// Two that can reach the server, or the same person twice.
pub(super) fn two(server: &Path, directory: &Path) -> [DemoUser; 2] {
    let mut found = Vec::new();
    if nix::unistd::geteuid().is_root() {
        let accounts = STRANGERS.iter().filter_map(|name| user::find(name).ok().flatten());
        let people = accounts
            .filter(|account| account.uid != 0)
            .map(|account| DemoUser { name: account.name.clone(), account: Some(account) });
        found.extend(people.filter(|person| person.reaches(server, directory)).take(2));
    }
    <[DemoUser; 2]>::try_from(found).unwrap_or_else(|_| [DemoUser::myself(), DemoUser::myself()])
}

//! Interprets the error messages of `ssh`: cause and remedy.

use super::message_limits;
use super::node_entry::SshTarget;
use danlu_messages::machines::MachineProblem;
use std::path::{Path, PathBuf};

/// Where the key of a machine is kept that `ssh` compares with the one that it shows.
#[derive(Debug, Clone)]
pub(super) struct HostKeyPlace {
    /// As known hosts are listed.
    host: String,
    file: PathBuf,
}

impl HostKeyPlace {
    pub(super) fn of(target: &SshTarget, known_hosts: &Path) -> HostKeyPlace {
        let host = match target.port {
            Some(port) if port != 22 => format!("[{}]:{port}", target.host),
            Some(_) | None => target.host.clone(),
        };
        HostKeyPlace { host, file: known_hosts.to_owned() }
    }

    /// With the file that `ssh` itself has named, where it has: the key may be in another one than ours.
    fn how_to_remove(&self, said: &str) -> String {
        let named = said.lines().find_map(|line| {
            let (_, place) = line.strip_prefix("Offending ")?.split_once(" key in ")?;
            Some(place.rsplit_once(':')?.0.to_owned())
        });
        let file = named.unwrap_or_else(|| self.file.display().to_string());
        format!("ssh-keygen -R '{}' -f '{}'", self.host, message_limits::line(&file))
    }
}

pub(super) fn explain(said: &str, place: &HostKeyPlace, code: Option<i32>) -> MachineProblem {
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let last = message_limits::line(last.trim());
    let has = |words: &str| said.contains(words);
    if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        MachineProblem::HostKeyChanged { remove: place.how_to_remove(said) }
    } else if has("Host key verification failed") || has("host key is known for") {
        MachineProblem::HostKeyUnknown
    } else if has("Permission denied") {
        MachineProblem::LogInRefused { said: last }
    } else if has("sudo:") {
        MachineProblem::SudoRefused { said: last }
    } else if has("Could not resolve") {
        MachineProblem::NameNotResolved { said: last }
    } else if has("timed out") || has("Connection refused") || has("No route") || has("unreachable")
    {
        MachineProblem::SshdUnreachable { said: last }
    } else {
        by_code(last, code)
    }
}

/// By the exit codes of the command line that the far side gets.
fn by_code(last: String, code: Option<i32>) -> MachineProblem {
    match code {
        Some(81) => MachineProblem::NoProgramDirectory,
        Some(82) => MachineProblem::ProgramNotWritten,
        Some(83) => MachineProblem::ProgramDamaged,
        Some(_) | None if last.is_empty() => MachineProblem::ConnectionClosed,
        Some(_) | None => MachineProblem::SshFailed { said: last },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_host_key_is_told_with_the_command_that_removes_it() {
        let target = "ops@gpu7:2222".parse().unwrap();
        let place = HostKeyPlace::of(&target, Path::new("/data/known_hosts"));
        let said =
            "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.";
        let hint = explain(said, &place, Some(255)).hint();
        assert!(hint.ends_with("ssh-keygen -R '[gpu7]:2222' -f '/data/known_hosts'"), "{hint}");
        let said = format!("{said}\nOffending ED25519 key in /root/.ssh/known_hosts:3\n");
        let hint = explain(&said, &place, Some(255)).hint();
        assert!(hint.ends_with("-f '/root/.ssh/known_hosts'"), "{hint}");
    }

    #[test]
    fn what_the_far_side_says_reaches_no_terminal() {
        let place = HostKeyPlace::of(&"gpu7".parse().unwrap(), Path::new("/k"));
        let message = explain("\u{1b}]0;x\u{7}odd\u{9b}2J", &place, Some(1)).message();
        assert!(!message.contains(|it: char| it.is_control()), "{message:?}");
    }
}

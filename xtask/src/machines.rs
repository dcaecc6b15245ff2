//! What the tests with machines and terminals of their own need: OpenSSH, namespaces, a firewall and tmux.

use std::{path::Path, process::Command};

use crate::shell;

const NEEDED: [(&str, &str); 6] = [
    ("/usr/sbin/sshd", "openssh-server"),
    ("/usr/bin/ssh", "openssh-client"),
    ("/usr/sbin/nft", "nftables"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/sshfs", "sshfs"),
    ("/usr/bin/tmux", "tmux"),
];

/// A sentence about what is missing, where it cannot be had.
pub(crate) fn install() -> Result<(), String> {
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(program, _)| !Path::new(program).exists())
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    let install = [&["install", "-y", "-q"], &missing[..]].concat();
    let apt = |words: &[&str]| shell::succeeds_silently(Command::new("apt-get").args(words));
    // A fresh machine has no lists yet.
    match apt(&install) || apt(&["update", "-q"]) && apt(&install) {
        true => Ok(()),
        false => Err(format!("{} cannot be installed", missing.join(", "))),
    }
}

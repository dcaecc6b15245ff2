//! What the tests with machines of their own need: OpenSSH, namespaces and a firewall.

use std::{path::Path, process::Command};

use crate::shell;

const NEEDED: [(&str, &str); 5] = [
    ("/usr/sbin/sshd", "openssh-server"),
    ("/usr/bin/ssh", "openssh-client"),
    ("/usr/sbin/nft", "nftables"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/sshfs", "sshfs"),
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

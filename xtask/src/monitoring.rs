//! What the tests of metrics need: Prometheus with its checker, and InfluxDB 1.x. The tests start them; the system must not.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use crate::shell;

const NEEDED: [(&str, &str); 2] =
    [("/usr/bin/promtool", "prometheus"), ("/usr/bin/influxd", "influxdb")];
/// Asked by packages whether they may start their services: 101 is no.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// A sentence about what is missing, where it cannot be had.
pub(crate) fn install() -> Result<(), String> {
    let missing = NEEDED.iter().filter(|(program, _)| !Path::new(program).exists());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    // A machine that has a policy keeps it, whatever it says.
    let ours = !Path::new(POLICY).exists() && forbid_services().is_ok();
    let installed = apt(&missing);
    if ours {
        let _ = fs::remove_file(POLICY);
    }
    for (_, package) in NEEDED.iter().filter(|_| Path::new("/run/systemd/system").exists()) {
        // Not after the next boot either.
        shell::succeeds_silently(Command::new("systemctl").args(["disable", "--now", package]));
    }
    if installed { Ok(()) } else { Err(format!("{} cannot be installed", missing.join(", "))) }
}

fn forbid_services() -> std::io::Result<()> {
    fs::write(POLICY, "#!/bin/sh\nexit 101\n")?;
    fs::set_permissions(POLICY, fs::Permissions::from_mode(0o755))
}

fn apt(packages: &[&str]) -> bool {
    let apt = |words: &[&str]| {
        let mut apt = Command::new("apt-get");
        shell::succeeds_silently(apt.args(words).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = [&["install", "-y", "-q", "--no-install-recommends"], packages].concat();
    // A fresh machine has no lists yet.
    apt(&install) || apt(&["update", "-q"]) && apt(&install)
}

//! What the tests of mail need: a mail server from PyPI, in a directory of its own, and Postfix.

use std::{fs, path::Path, process::Command};

use crate::shell;

const WANTED: &str = "aiosmtpd==1.4.6";
const POSTFIX: &str = "/usr/sbin/postfix";

/// A sentence about what is missing, where it cannot be had.
pub(crate) fn install() -> Result<(), String> {
    let place = shell::target().join("aiosmtpd");
    let mark = place.join("installed");
    if !fs::read_to_string(&mark).is_ok_and(|installed| installed == WANTED) {
        println!("installing {WANTED}");
        let made =
            shell::succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
        let mut pip = Command::new(place.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", WANTED]);
        if !made || !shell::succeeds(&mut pip) {
            // Half of it would be taken for the whole.
            let _ = fs::remove_dir_all(&place);
            return Err("aiosmtpd cannot be installed".to_owned());
        }
        fs::write(mark, WANTED).map_err(|error| error.to_string())?;
    }
    postfix()
}

fn postfix() -> Result<(), String> {
    if Path::new(POSTFIX).exists() {
        return Ok(());
    }
    println!("installing postfix");
    let apt = |words: &[&str]| {
        let mut apt = Command::new("apt-get");
        shell::succeeds_silently(apt.args(words).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = ["install", "-y", "-q", "--no-install-recommends", "postfix"];
    // A fresh machine has no lists yet.
    match apt(&install) || apt(&["update", "-q"]) && apt(&install) {
        true => Ok(()),
        false => Err("postfix cannot be installed".to_owned()),
    }
}

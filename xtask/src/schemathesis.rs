//! The program that asks the API odd things: from PyPI, in a directory of its own.

use std::{fs, process::Command};

use crate::shell;

const WANTED: &str = "schemathesis==4.32.5";

/// A sentence about what is missing, where it cannot be had.
pub(crate) fn install() -> Result<(), String> {
    let place = shell::target().join("schemathesis");
    let mark = place.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == WANTED) {
        return Ok(());
    }
    println!("installing {WANTED}");
    let made = shell::succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
    let mut pip = Command::new(place.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", WANTED]);
    if !made || !shell::succeeds(&mut pip) {
        // Half of it would be taken for the whole.
        let _ = fs::remove_dir_all(&place);
        return Err("schemathesis cannot be installed".to_owned());
    }
    fs::write(mark, WANTED).map_err(|error| error.to_string())
}

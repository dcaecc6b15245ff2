//! Programs written for Slurm: from PyPI, in a directory of their own.

use std::{fs, process::Command};

use crate::shell;

const WANTED: [&str; 3] = ["submitit==1.5.4", "dask-jobqueue==0.9.0", "simple-slurm==0.3.6"];

/// A sentence about what is missing, where it cannot be had.
pub(crate) fn install() -> Result<(), String> {
    let place = shell::target().join("slurm-libraries");
    let (mark, wanted) = (place.join("installed"), WANTED.join(" "));
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing {wanted}");
    let made = shell::succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
    let mut pip = Command::new(place.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(WANTED);
    if !made || !shell::succeeds(&mut pip) {
        // Half of it would be taken for the whole.
        let _ = fs::remove_dir_all(&place);
        return Err("submitit, dask-jobqueue and simple-slurm cannot be installed".to_owned());
    }
    fs::write(mark, wanted).map_err(|error| error.to_string())
}

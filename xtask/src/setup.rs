//! `cargo xtask setup`: installs what the tests need and this machine does not have.

use std::fs;

use crate::{
    browser, machines, mail, monitoring, schemathesis,
    shell::{self, cargo, tee},
    slurm_libraries,
};

/// One thing to install.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    /// A sentence about what is missing, where it cannot be had.
    pub(crate) install: fn() -> Result<(), String>,
}

pub(crate) const NEEDS: [Need; 7] = [
    Need { name: "browser", install: browser::install },
    Need { name: "machines", install: machines::install },
    Need { name: "mail", install: mail::install },
    Need { name: "monitoring", install: monitoring::install },
    Need { name: "schemathesis", install: schemathesis::install },
    Need { name: "slurm-libraries", install: slurm_libraries::install },
    Need { name: "cargo-deny", install: cargo_deny },
];

/// True if everything is there now.
pub(crate) fn run() -> bool {
    let mut complete = true;
    for Need { name, install } in NEEDS {
        match install() {
            Ok(()) => println!("{name}: installed"),
            Err(why) => {
                complete = false;
                println!("{name}: {why}");
            }
        }
    }
    complete
}

pub(crate) fn cargo_deny() -> Result<(), String> {
    if shell::succeeds_silently(&mut cargo("deny --version")) {
        return Ok(());
    }
    println!("installing cargo-deny");
    let build = shell::target().join("cargo-deny");
    // Its release profile links with fat LTO, which takes most of the time. It runs for seconds: nothing need be optimised.
    let mut install = cargo("install --locked --quiet --debug cargo-deny --target-dir");
    install.arg(&build).env("CARGO_PROFILE_DEV_DEBUG", "0");
    let installed = tee(install).success;
    let _ = fs::remove_dir_all(build);
    if installed { Ok(()) } else { Err("cargo-deny cannot be installed".to_owned()) }
}

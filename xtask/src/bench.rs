//! `cargo xtask bench`: how fast it is.

use crate::shell;

pub(crate) fn run(options: &[&str]) -> Result<bool, String> {
    let mut json = false;
    for &option in options {
        match option {
            "core" => {}
            "--json" => json = true,
            _ => return Err(format!("unknown benchmark or option `{option}`")),
        }
    }
    let mut command = shell::cargo("bench --quiet --package danlu-core --bench scheduling --");
    if json {
        command.arg("--json");
    }
    Ok(shell::succeeds(&mut command))
}

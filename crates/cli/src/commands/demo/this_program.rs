//! Starts this program again, with a clean environment.

use std::process::Command;

/// The file of this very process. A person without access to its directory can start it nevertheless.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";

/// What a client needs to know of its surroundings: enough for words, colours and times.
const HANDED_ON: [&str; 11] = [
    "DANLU_LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
    "TERM",
    "NO_COLOR",
    "COLUMNS",
    "TZ",
    "TZDIR",
    "RUST_BACKTRACE",
    "LD_LIBRARY_PATH",
];

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A client. A task takes the environment of its client along, and other users can see that of their own processes:
/// nothing private may be in it.
pub(super) fn client() -> Command {
    let mut command = Command::new(THIS_PROGRAM);
    command.env_clear().env("PATH", PATH).env("HOME", "/");
    for name in HANDED_ON {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

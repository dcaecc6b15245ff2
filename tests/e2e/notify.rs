//! People are told: from a task to a message at the receiver, over failures, restarts and crashes.

mod channels;
mod delivery;
mod gpus;
mod mail;
mod tasks;
mod times;

use crate::support::daemon::{Daemon, Setup};
use crate::support::http::Connection;
use crate::support::receiver::{Received, Receiver};
use crate::support::shifted_clock::ShiftedClock;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// A server with this `[notify]`; `{dir}` stands for the test's directory.
fn server(notify: &str) -> Daemon {
    server_with(notify, |_| ())
}

fn server_with(notify: &str, prepare: impl FnOnce(&TempDir)) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    prepare(&directory);
    let setup = setup(&directory, notify);
    Daemon::start_in(directory, setup)
}

/// A server whose time the test can let pass.
fn server_and_clock(notify: &str) -> (Daemon, ShiftedClock) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut setup = setup(&directory, notify);
    let clock = ShiftedClock::prepare(directory.path(), &mut setup);
    (Daemon::start_in(directory, setup), clock)
}

fn setup(directory: &TempDir, notify: &str) -> Setup {
    let path = directory.path().join("danlu.toml");
    let text = notify.replace("{dir}", &directory.path().display().to_string());
    fs::write(&path, text).expect("a file");
    let mut setup = Setup::simulated(2);
    setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
    setup
}

/// What the user of the test wants to hear of.
#[track_caller]
fn wants(daemon: &Daemon, notify: &Value) {
    let said =
        Connection::open(daemon.socket()).json("PATCH /api/v1/me", &json!({"notify": notify}));
    assert_eq!(said.status, 200, "{said:?}");
}

/// Something happens that nobody is told of, so that the server looks at its clock.
#[track_caller]
fn wake(daemon: &Daemon) {
    daemon.submit("--hold --notify none", "true");
}

fn two_hooks(ops: &Receiver, own: &Receiver) -> String {
    format!(
        "[notify]\nadmins = [\"ops\"]\n[notify.webhook.ops]\nurl = \"{}\"\n[notify.webhook.own]\nurl = \"{}\"\n",
        ops.url(),
        own.url()
    )
}

fn hook(receiver: &Receiver) -> String {
    format!("[notify.webhook.hook]\nurl = \"{}\"\n", receiver.url())
}

fn of_task<'a>(messages: &'a [Received], id: &str) -> Vec<&'a Received> {
    let id: u64 = id.parse().expect("an id");
    messages.iter().filter(|it| it.body["task"]["id"] == id).collect()
}

fn secret(directory: &TempDir, name: &str, text: &str) {
    let path = directory.path().join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

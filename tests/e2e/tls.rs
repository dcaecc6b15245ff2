//! Network connections are encrypted, unless `plain_http` is configured.

use std::{fs, path::Path, process::Command};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;
use crate::support::danlu::Answer;

/// Not the loopback address of the other tests: `127.0.0.1` is served too, and is what they wait for.
fn server(config: &str) -> (Daemon, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("danlu.toml");
    fs::write(&file, config).expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), file.display().to_string()]);
    setup.arguments.extend(["--listen".to_owned(), "0.0.0.0:0".to_owned()]);
    let daemon = Daemon::start_in(directory, setup);
    let other = daemon.other_address().to_owned();
    (daemon, other)
}

fn from_afar(address: &str, token: &str, certificate: &Path, words: &[&str]) -> Answer {
    let mut command: Command = danlu::command("en");
    command.args(words).env("DANLU_SERVER", address).env("DANLU_TOKEN", token);
    danlu::said(command.env("DANLU_CA", certificate))
}

#[test]
fn a_certificate_is_made_and_clients_that_know_it_are_served() {
    let (daemon, address) = server("");
    assert!(address.starts_with("https://0.0.0.0:"), "{address}");
    let address = address.replace("0.0.0.0", "localhost");
    let token = daemon.say(&["token", "new", "t", "-q"]);
    let certificate = daemon.data().join("tls-certificate.pem");
    let said = from_afar(&address, token.trim(), &certificate, &["submit", "-q", "--", "true"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "1\n"), "{said:?}");

    // A stranger's certificate is not this one.
    let other = certificate_of_another(&daemon);
    let said = from_afar(&address, token.trim(), &other, &["ls"]);
    assert_eq!(said.status, 75, "{said:?}");
    assert!(said.stderr.contains("hint:"), "{said:?}");
    // Nor is a word in the clear answered.
    let plain = address.replace("https://", "http://");
    assert_ne!(from_afar(&plain, token.trim(), &certificate, &["ls"]).status, 0);
}

/// A certificate that has nothing to do with the server: that of another one.
fn certificate_of_another(daemon: &Daemon) -> std::path::PathBuf {
    let (second, _) = server("");
    let copy = daemon.directory().join("other.pem");
    fs::copy(second.data().join("tls-certificate.pem"), &copy).expect("it can be copied");
    copy
}

#[test]
fn plain_http_is_served_when_configured() {
    let (_daemon, address) = server("plain_http = true\n");
    assert!(address.starts_with("http://0.0.0.0:"), "{address}");
}

#[test]
fn a_certificate_that_is_not_there_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("danlu.toml");
    fs::write(&file, "[tls]\ncertificate = \"/nowhere.pem\"\nkey = \"/nowhere.key\"\n")
        .expect("ok");
    let mut command = danlu::command("en");
    let data = directory.path().join("data");
    command.args(["up", "--listen", "0.0.0.0:0", "--sim-gpus", "1", "--data"]).arg(&data);
    let said = danlu::said(command.arg("--config").arg(&file));
    assert_eq!(said.status, 64, "{said:?}");
    assert!(said.stderr.contains("/nowhere.pem") && said.stderr.contains("hint:"), "{said:?}");
}

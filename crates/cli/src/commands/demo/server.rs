//! The server of the demo: a child process with a temporary directory; both are gone when the demo ends.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use danlu_messages::cli::demo as msg;
use danlu_wire::api::{Act, ActName};
use serde_json::json;
use tempfile::TempDir;

use super::{scripts, this_program};
use crate::{
    client::{Client, Query},
    failure::{Exit, Failure},
    parse::task_state::{ACTIVE, WAITING},
};

#[derive(Debug)]
pub(super) struct DemoServer {
    child: Child,
    /// Gone with the rest.
    directory: Option<TempDir>,
    pub(super) data: PathBuf,
    pub(super) lab: PathBuf,
    /// `http://127.0.0.1:41234`.
    pub(super) address: String,
}

const TO_START: Duration = Duration::from_secs(30);
const TO_END: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);

impl DemoServer {
    /// With so many simulated GPUs, or with those of the machine.
    pub(super) fn start(simulated: Option<u32>) -> Result<Self, Failure> {
        let directory = tempfile::Builder::new().prefix("danlu-demo-").tempdir();
        let directory = directory.map_err(|cause| unusable(&env::temp_dir(), &cause))?;
        let path = directory.path().to_owned();
        let data = path.join("data");
        let lab = furnish(&path, simulated).map_err(|cause| unusable(&path, &cause))?;
        let mut child = up(&path, &data, simulated)
            .and_then(|mut command| command.spawn())
            .map_err(|cause| unusable(&path, &cause))?;
        let said = child.stdout.take();
        let mut server =
            Self { child, directory: Some(directory), data, lab, address: String::new() };
        // From here on it is ended whatever happens.
        server.address = said.and_then(address_of).ok_or_else(|| server.did_not_start(&path))?;
        Ok(server)
    }

    pub(super) fn client(&self) -> Result<Client, Failure> {
        Client::new(Some(&self.data.to_string_lossy()))
    }

    fn did_not_start(&self, path: &Path) -> Failure {
        let said = fs::read_to_string(path.join("errors")).unwrap_or_default();
        let said = said.lines().next_back().unwrap_or_default().to_owned();
        Failure::new(Exit::Internal, msg::server_did_not_start(&said))
            .hint(msg::danlu_doctor_checks_this_machine())
    }

    /// Ends every task, the server, and removes its directory. What could not be removed is named.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.stop();
        let Some(directory) = self.directory.take() else { return Ok(()) };
        let path = directory.path().to_owned();
        directory.close().map_err(|cause| {
            let path = path.display();
            Failure::new(Exit::Internal, msg::could_not_remove_path_cause(&path, &cause))
        })
    }

    fn stop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Ok(client) = self.client() {
            let (done, ended) = mpsc::channel();
            thread::spawn(move || {
                stop(&client);
                done.send(())
            });
            // An answer or none: it is ended in any case.
            let _ = ended.recv_timeout(TO_END);
        }
        let since = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && since.elapsed() < TO_END {
            thread::sleep(PAUSE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What waits goes first, so that nothing of it starts on the GPUs of what is ended.
fn stop(client: &Client) {
    for states in [&WAITING[..], &ACTIVE[..]] {
        let query = Query { states: states.to_vec(), ..Query::default() };
        let ids = client.list(&query).unwrap_or_default().iter().map(|task| task.id).collect();
        let act = Act::new(ActName::Cancel, ids);
        let _ = client.send("POST", "/tasks/act", &act);
    }
    let _ = client.send("POST", "/server/stop", &json!({ "cancel_tasks": true }));
}

fn furnish(path: &Path, simulated: Option<u32>) -> std::io::Result<PathBuf> {
    // Others pass through to the scripts and to the socket.
    fs::set_permissions(path, fs::Permissions::from_mode(0o711))?;
    // Without a file of its own the server would read that of the machine. Control groups would stay behind.
    let name = simulated.map_or("", |_| "node_name = \"demo\"\n");
    fs::write(path.join("danlu.toml"), format!("cgroups = false\n{name}"))?;
    scripts::furnish(path)
}

fn up(path: &Path, data: &Path, simulated: Option<u32>) -> std::io::Result<Command> {
    let mut command = Command::new(this_program::THIS_PROGRAM);
    command.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    command.arg("--config").arg(path.join("danlu.toml"));
    if let Some(count) = simulated {
        command.args(["--sim-gpus", &count.to_string()]);
    }
    let errors = fs::File::create(path.join("errors"))?;
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
    // Ctrl-C is for us alone: tasks are ended first, and then the server.
    command.process_group(0);
    Ok(command)
}

/// What `up` says once it accepts requests.
fn address_of(said: ChildStdout) -> Option<String> {
    let (found, address) = mpsc::channel();
    thread::spawn(move || {
        let mut address = None;
        for line in BufReader::new(said).lines().map_while(Result::ok) {
            if let Some(url) = line.strip_prefix("listening on ") {
                address = Some(url.to_owned());
            } else if line.starts_with("socket ") {
                let _ = found.send(address.take());
            }
        }
    });
    address.recv_timeout(TO_START).ok().flatten()
}

fn unusable(path: &Path, cause: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::new(Exit::Refused, msg::could_not_use_path_cause(&path, &cause))
        .hint(msg::tmpdir_names_another_directory())
}

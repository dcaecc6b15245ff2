//! A server to measure, with a directory of its own; both are gone when it is dropped.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    os::unix::{fs::OpenOptionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use super::process::Process;
use crate::shell;

/// What is measured, and what helps to measure it, built as packages are.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) danlu: PathBuf,
    pub(super) stamp: PathBuf,
    nvml: PathBuf,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Gpus {
    Simulated(u32),
    /// Eight, behind a library that answers as the driver's would.
    FakeNvml,
}

#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    danlu: PathBuf,
    directory: TempDir,
    /// Host and port.
    address: String,
}

const PAUSE: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(60);
/// Of `open`: do not wait for the other end of a pipe.
const O_NONBLOCK: i32 = 0o4000;

impl Programs {
    pub(super) fn build() -> Result<Self, String> {
        for words in [
            "build --quiet --profile dist --package danlu --package danlu-fakenvml",
            // Without a dynamic linker: what a program does before its first line is not the time between two tasks.
            "rustc --quiet --profile dist --package xtask --example stamp -- -C target-feature=+crt-static",
        ] {
            if !shell::succeeds(&mut shell::cargo(words)) {
                return Err("the build failed".to_owned());
            }
        }
        let built = shell::target().join("dist");
        // A copy, as installed programs are: of what the linker itself wrote, the system has small pieces in memory, which
        // take longer to load.
        let danlu = built.join("danlu-installed");
        fs::copy(built.join("danlu"), &danlu)
            .map_err(|error| format!("could not copy the program: {error}"))?;
        Ok(Self { danlu, stamp: built.join("examples/stamp"), nvml: built.join("libfakenvml.so") })
    }
}

impl Server {
    pub(super) fn start(programs: &Programs, gpus: Gpus) -> Result<Self, String> {
        let directory = tempfile::Builder::new().prefix("danlu-bench-").tempdir();
        let directory = directory.map_err(|error| format!("no temporary directory: {error}"))?;
        write(&directory.path().join("danlu.toml"), "")?;
        let child = spawn(programs, gpus, directory.path())?;
        let danlu = programs.danlu.clone();
        let mut server = Self { child, danlu, directory, address: String::new() };
        server.wait_until_ready()?;
        server.wait_for_gpus(gpus)?;
        Ok(server)
    }

    /// Stops it and starts it on the same data: the time from its start until it can be reached.
    pub(super) fn restart(&mut self, programs: &Programs, gpus: Gpus) -> Result<Duration, String> {
        self.say(&["down"])?;
        self.child.wait().map_err(|error| error.to_string())?;
        let since = Instant::now();
        self.child = spawn(programs, gpus, self.directory.path())?;
        self.wait_until_ready()?;
        let took = since.elapsed();
        self.wait_for_gpus(gpus)?;
        Ok(took)
    }

    fn wait_for_gpus(&self, gpus: Gpus) -> Result<(), String> {
        let expected = match gpus {
            Gpus::Simulated(count) => count,
            Gpus::FakeNvml => 8,
        };
        self.wait_for("the GPUs", || {
            let gpus = self.json(&["gpus", "--json"])?;
            Ok(gpus["gpus"].as_array().is_some_and(|gpus| gpus.len() == expected as usize))
        })
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let lines = self.child.stdout.take().map(|said| BufReader::new(said).lines());
        let ready = lines.and_then(|mut lines| {
            lines.find_map(|line| {
                let line = line.ok()?;
                if let Some(address) = line.strip_prefix("listening on http://") {
                    address.clone_into(&mut self.address);
                }
                line.starts_with("socket ").then_some(())
            })
        });
        ready.ok_or_else(|| {
            let errors = fs::read_to_string(self.directory.path().join("errors"));
            format!("the server did not start: {}", errors.unwrap_or_default())
        })
    }

    /// `danlu` as a client of this server.
    pub(super) fn danlu(&self, arguments: &[&str]) -> Command {
        let mut command = clean(&self.danlu);
        command.args(arguments).env("DANLU_SERVER", self.directory.path().join("data/danlu.sock"));
        command
    }

    /// What it prints.
    pub(super) fn say(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.danlu(arguments).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!("danlu {}: {}", arguments.join(" "), words.trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub(super) fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        serde_json::from_str(&self.say(arguments)?).map_err(|error| error.to_string())
    }

    /// From the start of the client to its end.
    pub(super) fn time(&self, arguments: &[&str]) -> Result<Duration, String> {
        let mut command = self.danlu(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let since = Instant::now();
        let status = command.status().map_err(|error| error.to_string())?;
        let time = since.elapsed();
        if status.success() {
            Ok(time)
        } else {
            Err(format!("danlu {}: {status}", arguments.join(" ")))
        }
    }

    /// One task that holds so many GPUs until the server is dropped, without using a processor.
    pub(super) fn hold_gpus(&self, count: u32) -> Result<(), String> {
        let pipe = self.pipe();
        if !shell::succeeds(Command::new("mkfifo").arg(&pipe)) {
            return Err("mkfifo failed".to_owned());
        }
        let line = format!("read line < '{}'", pipe.display());
        let id = self.say(&["submit", "-q", "-g", &count.to_string(), "--", "sh", "-c", &line])?;
        self.wait_for("the task that holds the GPUs", || {
            Ok(self.json(&["show", &id, "--json"])?["task"]["state"] == "running")
        })
    }

    pub(super) fn wait_for(
        &self,
        what: &str,
        mut there: impl FnMut() -> Result<bool, String>,
    ) -> Result<(), String> {
        let since = Instant::now();
        while !there()? {
            super::measuring::go_on()?;
            if since.elapsed() > LONGEST {
                return Err(format!("{what}: nothing after {} s", LONGEST.as_secs()));
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    pub(super) fn daemon(&self) -> Process {
        Process { pid: self.child.id() }
    }

    /// The daemon and the small process that starts tasks for it.
    pub(super) fn processes(&self) -> Result<Vec<Process>, String> {
        let mut all = vec![self.daemon()];
        all.extend(self.daemon().children()?);
        Ok(all)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn pipe(&self) -> PathBuf {
        self.directory.path().join("hold")
    }

    /// Whoever has our directory in its command line: the launcher, shims, tasks that hold GPUs.
    fn is_in_use(&self) -> bool {
        let directory = self.directory.path().to_string_lossy().into_owned();
        let Ok(processes) = fs::read_dir("/proc") else { return false };
        processes.filter_map(Result::ok).any(|process| {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(&directory)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Running tasks go on: those of a queue are over in a moment, and the one that holds GPUs is let go below.
        // Cancelling it earlier would start what waits behind it.
        let _ = self.danlu(&["down"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
        let since = Instant::now();
        while self.is_in_use() && since.elapsed() < LONGEST {
            // Opening it is enough, once somebody reads.
            let _ = fs::File::options().write(true).custom_flags(O_NONBLOCK).open(self.pipe());
            thread::sleep(PAUSE);
        }
    }
}

fn spawn(programs: &Programs, gpus: Gpus, directory: &Path) -> Result<Child, String> {
    let mut command = clean(&programs.danlu);
    command.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(directory.join("data"));
    command.arg("--config").arg(directory.join("danlu.toml"));
    match gpus {
        Gpus::Simulated(count) => {
            command.args(["--sim-gpus", &count.to_string()]).env("DANLU_SIM_LOAD", "0");
        }
        Gpus::FakeNvml => {
            let world = directory.join("gpus.json");
            write(&world, EIGHT_GPUS)?;
            command.env("DANLU_NVML_PATH", &programs.nvml).env("DANLU_FAKE_NVML", world);
        }
    }
    let errors = fs::File::create(directory.join("errors")).map_err(|error| error.to_string())?;
    // Ctrl-C is for us: we stop it.
    command.stdout(Stdio::piped()).stderr(errors).process_group(0);
    command.spawn().map_err(|error| format!("danlu does not start: {error}"))
}

/// Tasks take the environment of their client along: a long search path or many variables would be measured as well.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/")
        .env("LANG", "C");
    command.env("TMPDIR", env::temp_dir()).current_dir("/").stdin(Stdio::null());
    command
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

const EIGHT_GPUS: &str = r#"{"gpus":[
{"uuid":"GPU-0","bus":"0000:01:00.0"},{"uuid":"GPU-1","bus":"0000:02:00.0"},
{"uuid":"GPU-2","bus":"0000:03:00.0"},{"uuid":"GPU-3","bus":"0000:04:00.0"},
{"uuid":"GPU-4","bus":"0000:05:00.0"},{"uuid":"GPU-5","bus":"0000:06:00.0"},
{"uuid":"GPU-6","bus":"0000:07:00.0"},{"uuid":"GPU-7","bus":"0000:08:00.0"}]}"#;

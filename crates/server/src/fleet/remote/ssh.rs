//! Connects to a machine with the system's `ssh`, so that the administrator's configuration, jump hosts, agents and known hosts
//! apply. How a user's own connection is opened: `user_ssh.rs`.
//!
//! No text that a user wrote reaches a shell: the far side gets one fixed command line and receives the rest from the agent that
//! it starts.

use super::node_entry::SshTarget;
use super::ssh_error::{HostKeyPlace, explain};
use danlu_messages::machines::MachineProblem;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use thiserror::Error;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// This program, as it is sent to machines that do not have it.
#[derive(Debug)]
pub(super) struct Program {
    file: File,
    size: u64,
    sum: String,
}

impl Program {
    pub(super) fn this() -> io::Result<Program> {
        // Also when its file has been replaced meanwhile.
        let file = File::open("/proc/self/exe")?;
        let mut hash = Sha256::new();
        let size = io::copy(&mut &file, &mut HashWriter(&mut hash))?;
        let sum = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Program { file, size, sum })
    }

    async fn send(&self, to: &mut ChildStdin) -> io::Result<()> {
        use std::os::unix::fs::FileExt as _;
        let mut offset = 0;
        while offset < self.size {
            let (file, mut block) = (self.file.try_clone()?, vec![0; 1 << 20]);
            let (count, block) = tokio::task::spawn_blocking(move || {
                file.read_at(&mut block, offset).map(|count| (count, block))
            })
            .await
            .map_err(io::Error::other)??;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all(&block[..count]).await?;
            offset += count as u64;
        }
        to.flush().await
    }

    /// One line for any shell, without a quote or an exclamation mark inside. The program's file name contains its hash, so
    /// that two releases do not overwrite each other.
    fn start_line(&self, sudo: bool) -> String {
        let Program { size, sum, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        let become_root = if sudo { "sudo -n " } else { "" };
        let script = format!(
            "umask 077; d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/danlu\"; f=\"$d/danlu-{version}-{sum}\"; \
             if [ -x \"$f\" ]; then :; else mkdir -p \"$d\" || exit 81; t=\"$f.$$\"; \
             echo \"danlu: send $(uname -m)\"; head -c {size} > \"$t\" || exit 82; \
             s=$(sha256sum < \"$t\"); if [ \"${{s%% *}}\" = {sum} ]; then :; else rm -f \"$t\"; exit 83; fi; \
             chmod 700 \"$t\" && mv -f \"$t\" \"$f\" || exit 82; fi; \
             echo \"{READY}$(id -u) $(id -un)\"; exec {become_root}\"$f\" agent --stdio"
        );
        format!("exec /bin/sh -c '{script}'")
    }
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection with an agent at its far end. When it is dropped, `ssh` ends.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) to: ChildStdin,
    pub(super) from: BufReader<ChildStdout>,
    child: Child,
    complaints: tokio::task::JoinHandle<String>,
    place: HostKeyPlace,
}

/// The steps of connecting to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    LogIn,
    Upload,
    Start,
    Greet,
}

/// Displayed in English, for the log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", .problem.in_english())]
pub(crate) struct Unreachable {
    pub(crate) step: Step,
    pub(crate) problem: MachineProblem,
}

impl Unreachable {
    pub(super) fn new(step: Step, problem: MachineProblem) -> Self {
        Unreachable { step, problem }
    }
}

/// Maximum bytes of error output that are kept.
const MOST_COMPLAINTS: u64 = 16 << 10;
/// Followed by the number and the name of the user there.
const READY: &str = "danlu: ready ";

/// The login on the far side, known before any order is sent to the agent there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) name: String,
}

impl Account {
    fn read(line: &str) -> Option<Account> {
        let (uid, name) = line.strip_prefix(READY)?.split_once(' ')?;
        Some(Account { uid: uid.parse().ok()?, name: name.to_owned() })
    }
}

/// `ssh` has all its options, the name of the machine among them.
pub(super) async fn connect(
    mut ssh: Command,
    place: &HostKeyPlace,
    sudo: bool,
    program: &Program,
) -> Result<(Channel, Account), Unreachable> {
    let failed = |error: io::Error| {
        Unreachable::new(Step::LogIn, MachineProblem::SshNotStarted { error: error.to_string() })
    };
    let mut child = ssh.arg(program.start_line(sudo)).spawn().map_err(failed)?;
    let (Some(to), Some(from), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        unreachable!("all three were asked for");
    };
    let complaints = tokio::spawn(listen_to_complaints(stderr));
    let place = place.clone();
    let mut channel = Channel { to, from: BufReader::new(from), child, complaints, place };
    let mut step = Step::LogIn;
    loop {
        let line = channel.line().await;
        match line.as_deref() {
            Some(line) if line.starts_with(READY) => match Account::read(line) {
                Some(account) => return Ok((channel, account)),
                None => {
                    return Err(Unreachable::new(Step::Start, MachineProblem::AccountUnknown));
                }
            },
            Some(line) if line.starts_with("danlu: send ") => {
                let machine = line.trim_start_matches("danlu: send ");
                if machine != std::env::consts::ARCH {
                    let (theirs, ours) = (machine.to_owned(), std::env::consts::ARCH.to_owned());
                    let problem = MachineProblem::OtherArchitecture { theirs, ours };
                    return Err(Unreachable::new(Step::Upload, problem));
                }
                step = Step::Upload;
                // If it is cut off, the next line does not come.
                let _ = program.send(&mut channel.to).await;
            }
            // Output of the login shell's profile is ignored.
            Some(_) => {}
            None => return Err(channel.reason(step).await),
        }
    }
}

/// Options of every connection, the server's own and users'.
pub(super) const ALWAYS: [&str; 9] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlPath=none",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "LogLevel=ERROR",
];

/// The server's own connection: all that its user's configuration says counts.
pub(super) fn command(target: &SshTarget, known_hosts: &Path) -> Command {
    let mut ssh = bare();
    let check = if target.accept_new { "accept-new" } else { "yes" };
    for option in ALWAYS {
        ssh.arg("-o").arg(option);
    }
    ssh.arg("-o").arg(format!("StrictHostKeyChecking={check}"));
    ssh.arg("-o").arg(trusted_hosts(known_hosts));
    ssh.arg("-T");
    name_login(&mut ssh, target);
    if let Some(identity) = &target.identity {
        ssh.arg("-i").arg(identity).args(["-o", "IdentitiesOnly=yes"]);
    }
    ssh.arg("--").arg(&target.host);
    ssh
}

/// User and port, where the administrator configured them.
pub(super) fn name_login(ssh: &mut Command, target: &SshTarget) {
    if let Some(user) = &target.user {
        ssh.arg("-l").arg(user);
    }
    if let Some(port) = target.port {
        ssh.arg("-p").arg(port.to_string());
    }
}

pub(super) fn trusted_hosts(known_hosts: &Path) -> String {
    let known = known_hosts.display();
    format!("UserKnownHostsFile=\"{known}\" ~/.ssh/known_hosts ~/.ssh/known_hosts2")
}

/// Without any option yet.
pub(super) fn bare() -> Command {
    let mut ssh = Command::new("ssh");
    ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ssh.env("LC_ALL", "C").kill_on_drop(true);
    // In its own process group: Ctrl-C at the server's terminal must not reach it.
    ssh.process_group(0);
    ssh
}

/// Keeps the last part, and reads to the end so that the writer never blocks.
async fn listen_to_complaints(mut from: impl AsyncRead + Unpin) -> String {
    let mut all = Vec::new();
    let mut block = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut block).await {
        all.extend_from_slice(&block[..count]);
        let most = usize::try_from(MOST_COMPLAINTS).unwrap_or(usize::MAX);
        let over = all.len().saturating_sub(most);
        all.drain(..over);
    }
    String::from_utf8_lossy(&all).into_owned()
}

impl Channel {
    /// `None` at the end. A line that is too long counts as an empty one.
    async fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let mut limited = (&mut self.from).take(4096);
        let count = limited.read_until(b'\n', &mut line).await.ok()?;
        (count > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Ends `ssh` and says why the connection failed.
    pub(super) async fn reason(mut self, step: Step) -> Unreachable {
        let _ = self.child.start_kill();
        let code = self.child.wait().await.ok().and_then(|status| status.code());
        let said = self.complaints.await.unwrap_or_default();
        Unreachable::new(step, explain(said.trim(), &self.place, code))
    }
}

/// The server's own known_hosts file.
pub(super) fn known_hosts(data: &Path) -> PathBuf {
    data.join("known_hosts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_for_the_far_side_is_one_word_of_shell() {
        let file = File::open("/dev/null").unwrap();
        let program = Program { file, size: 5, sum: "ab12".to_owned() };
        let line = program.start_line(true);
        let inner = line.strip_prefix("exec /bin/sh -c '").unwrap().strip_suffix('\'').unwrap();
        assert!(!inner.contains(['\'', '!', '\n']), "{inner}");
        assert!(inner.contains("sudo -n"));
    }
}

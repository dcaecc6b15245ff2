//! To a machine by the system's own `ssh`: so that its configuration, jumps, agents and known hosts are people's usual ones.
//!
//! Nothing that a person has written reaches a shell: the far side gets one fixed line, and hears all else from the
//! agent that this line starts.

use super::record::SshTarget;
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

/// This very program, as it is sent to machines that do not have it.
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

    /// One line for whatever shell there is, without a quote or an exclamation mark inside. The program lies under a
    /// name that tells its content, so that two releases never meet.
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
             echo \"danlu: ready\"; exec {become_root}\"$f\" agent --stdio"
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
}

/// How far one got on the way to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    LogIn,
    Upload,
    Start,
    Greet,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub(crate) struct Unreachable {
    pub(crate) step: Step,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Unreachable {
    pub(super) fn new(step: Step, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Unreachable { step, message: message.into(), hint: hint.into() }
    }
}

/// What `ssh` and the far side may complain of at most.
const MOST_COMPLAINTS: u64 = 16 << 10;

pub(super) async fn connect(
    target: &SshTarget,
    sudo: bool,
    known_hosts: &Path,
    program: &Program,
) -> Result<Channel, Unreachable> {
    let failed = |error: io::Error| {
        let hint = "see that OpenSSH's client is installed on the server";
        Unreachable::new(Step::LogIn, format!("ssh could not be started: {error}"), hint)
    };
    let mut child =
        command(target, known_hosts, &program.start_line(sudo)).spawn().map_err(failed)?;
    let (Some(to), Some(from), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        unreachable!("all three were asked for");
    };
    let complaints = tokio::spawn(listen_to_complaints(stderr));
    let mut channel = Channel { to, from: BufReader::new(from), child, complaints };
    let mut step = Step::LogIn;
    loop {
        let line = channel.line().await;
        match line.as_deref() {
            Some("danlu: ready") => return Ok(channel),
            Some(line) if line.starts_with("danlu: send ") => {
                let machine = line.trim_start_matches("danlu: send ");
                if machine != std::env::consts::ARCH {
                    let message = format!(
                        "the machine is a {machine}, and this server's program is for {}",
                        std::env::consts::ARCH
                    );
                    let hint = "install danlu there and let it dial in: danlu agent join";
                    return Err(Unreachable::new(Step::Upload, message, hint));
                }
                step = Step::Upload;
                // If it is cut off, the next line does not come.
                let _ = program.send(&mut channel.to).await;
            }
            // What the far side's profile prints is nothing to us.
            Some(_) => {}
            None => return Err(channel.reason(step).await),
        }
    }
}

fn command(target: &SshTarget, known_hosts: &Path, line: &str) -> Command {
    let mut ssh = Command::new("ssh");
    let known = known_hosts.display();
    let check = if target.accept_new { "accept-new" } else { "yes" };
    for option in [
        "BatchMode=yes",
        "ConnectTimeout=10",
        "ServerAliveInterval=5",
        "ServerAliveCountMax=3",
        "ControlPath=none",
        "ClearAllForwardings=yes",
        "ForwardAgent=no",
        "ForwardX11=no",
        "LogLevel=ERROR",
        &format!("StrictHostKeyChecking={check}"),
        &format!("UserKnownHostsFile=\"{known}\" ~/.ssh/known_hosts ~/.ssh/known_hosts2"),
    ] {
        ssh.arg("-o").arg(option);
    }
    ssh.arg("-T");
    if let Some(user) = &target.user {
        ssh.arg("-l").arg(user);
    }
    if let Some(port) = target.port {
        ssh.arg("-p").arg(port.to_string());
    }
    if let Some(identity) = &target.identity {
        ssh.arg("-i").arg(identity).args(["-o", "IdentitiesOnly=yes"]);
    }
    ssh.arg("--").arg(&target.host).arg(line);
    ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ssh.env("LC_ALL", "C").kill_on_drop(true);
    // A Ctrl-C at the server's terminal is not for it.
    ssh.process_group(0);
    ssh
}

/// Keeps the end of it, and reads on to the end so that nobody waits.
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
    /// `None` at the end. What is too long for a line is one that says nothing.
    async fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let mut limited = (&mut self.from).take(4096);
        let count = limited.read_until(b'\n', &mut line).await.ok()?;
        (count > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Why there is nobody at the far end, once that is so.
    pub(super) async fn reason(mut self, step: Step) -> Unreachable {
        let _ = self.child.start_kill();
        let code = self.child.wait().await.ok().and_then(|status| status.code());
        let said = self.complaints.await.unwrap_or_default();
        let said = said.trim();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let (message, hint) = explain(said, last, code);
        Unreachable::new(step, message, hint)
    }
}

fn explain(said: &str, last: &str, code: Option<i32>) -> (String, &'static str) {
    let has = |words: &str| said.contains(words);
    if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        let hint = "if the machine was replaced, remove its old key with ssh-keygen -R HOST -f DATA/known_hosts";
        return ("the machine shows another host key than before".to_owned(), hint);
    }
    if has("Host key verification failed") || has("host key is known for") {
        let hint =
            "log in once as the server's user with ssh, or add the node with --accept-new-key";
        return ("the machine's host key is not known".to_owned(), hint);
    }
    if has("Permission denied") {
        let hint = "see that the key is in authorized_keys there, and give it with --identity";
        return (format!("the log-in was refused: {last}"), hint);
    }
    if has("sudo:") {
        let hint =
            "allow it without a password: USER ALL=(root) NOPASSWD: /home/USER/.cache/danlu/*";
        return (format!("sudo was refused: {last}"), hint);
    }
    if has("Could not resolve") {
        return (last.to_owned(), "see the name of the machine");
    }
    if has("timed out") || has("Connection refused") || has("No route") || has("unreachable") {
        return (last.to_owned(), "see that the machine is on, and that its sshd can be reached");
    }
    let files = "see that its home directory is there and has room";
    match code {
        Some(81) => ("no directory for the program could be made there".to_owned(), files),
        Some(82) => ("the program could not be written there".to_owned(), files),
        Some(83) => {
            ("the program arrived damaged".to_owned(), "it is sent again with the next try")
        }
        _ if last.is_empty() => ("the connection was closed".to_owned(), "see the log of its sshd"),
        _ => (last.to_owned(), "danlu node check NAME tells how far one gets"),
    }
}

/// Where the keys of machines are kept that an administrator has let in.
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

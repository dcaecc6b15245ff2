//! A command of the administrator: the message is JSON on its standard input, the essentials are variables.

use super::{Delivered, Outgoing, document, http};
use danlu_messages::notify::channels as msg;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const LONGEST: Duration = Duration::from_secs(30);
/// Of what it prints to standard error, which administrators are shown when it fails.
const MOST_BYTES: u64 = 4 << 10;
/// For the rest of its output, once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct CommandHook {
    command: Vec<String>,
}

impl CommandHook {
    pub(super) fn new(command: &[String]) -> CommandHook {
        CommandHook { command: command.to_vec() }
    }

    pub(super) fn deliver(&self, name: &str, message: &Outgoing) -> Delivered {
        self.deliver_within(name, message, LONGEST)
    }

    fn deliver_within(&self, name: &str, message: &Outgoing, longest: Duration) -> Delivered {
        let mut child = match self.spawn(name, message) {
            Ok(child) => child,
            Err(error) => return Delivered::Later { answer: error.to_string(), after: None },
        };
        let said = self.talk(&mut child, name, message);
        let in_time = wait(&child, longest);
        // What it has left behind ends with it: the process is not reaped yet, so the group is still its own.
        if let Ok(pid) = i32::try_from(child.id()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let status = child.wait();
        let words = http::shown(&said.recv_timeout(LAST_WORDS).unwrap_or_default());
        match status {
            _ if !in_time => {
                let answer = msg::command_too_long(&longest.as_secs());
                Delivered::Later { answer, after: None }
            }
            Ok(status) if status.success() => Delivered::Yes { answer: status.to_string() },
            Ok(status) => {
                let answer = format!("{} {words}", msg::command_failed(&status));
                Delivered::Later { answer: answer.trim().to_owned(), after: None }
            }
            Err(error) => Delivered::Later { answer: error.to_string(), after: None },
        }
    }

    fn spawn(&self, name: &str, message: &Outgoing) -> std::io::Result<Child> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let task = message.letter.task();
        let text = |value: Option<String>| value.unwrap_or_default();
        let path = std::env::var("PATH");
        Command::new(program)
            .args(arguments)
            .env_clear()
            .env("PATH", path.unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned()))
            .env("DANLU_ID", &message.id)
            .env("DANLU_CHANNEL", name)
            .env("DANLU_KIND", message.letter.kind())
            .env("DANLU_TITLE", printable(&message.rendered.headline))
            .env("DANLU_URL", text(message.rendered.link.clone()))
            .env("DANLU_TASK_ID", text(task.map(|task| task.id.to_string())))
            .env("DANLU_TASK_NAME", printable(&text(task.map(|task| task.name.clone()))))
            .env("DANLU_TASK_USER", text(task.map(|task| task.user.clone())))
            .env("DANLU_TASK_STATE", task.map_or("", |task| task.state.as_str()))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }

    /// Writes the message and reads what it says, each for as long as the command lets us.
    fn talk(&self, child: &mut Child, name: &str, message: &Outgoing) -> mpsc::Receiver<String> {
        let Outgoing { id, letter, rendered, last_lines, efficiency, .. } = message;
        let body =
            document((id, name), letter, rendered, last_lines, efficiency.as_ref()).to_string();
        if let Some(mut stdin) = child.stdin.take() {
            // A command need not read it.
            thread::spawn(move || drop(stdin.write_all(body.as_bytes())));
        }
        let (said, heard) = mpsc::channel();
        if let Some(mut stderr) = child.stderr.take() {
            thread::spawn(move || {
                let mut words = Vec::new();
                let _ = stderr.by_ref().take(MOST_BYTES).read_to_end(&mut words);
                let _ = said.send(String::from_utf8_lossy(&words).into_owned());
                // It must not be stopped by a full pipe.
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            });
        }
        heard
    }
}

/// A variable has no zero byte.
fn printable(text: &str) -> String {
    text.chars().filter(|it| *it != '\0').collect()
}

/// Whether it has ended within the time. It is not reaped.
fn wait(child: &Child, longest: Duration) -> bool {
    let Ok(pid) = i32::try_from(child.id()) else { return false };
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        let waited = waitid(Id::Pid(Pid::from_raw(pid)), flags);
        let _ = ended.send(waited.is_ok());
    });
    end.recv_timeout(longest).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::channels::tests::outgoing;

    fn run(line: &str, longest: Duration) -> Delivered {
        let hook = CommandHook::new(&["/bin/sh".into(), "-c".into(), line.into()]);
        hook.deliver_within("log", &outgoing(), longest)
    }

    #[test]
    fn it_gets_the_message_and_says_how_it_went() {
        let good =
            "test \"$DANLU_TASK_ID $DANLU_KIND\" = '12 end' && grep -q '\"state\":\"failed\"'";
        assert!(matches!(run(good, LONGEST), Delivered::Yes { .. }), "{:?}", run(good, LONGEST));
        let Delivered::Later { answer, .. } = run("echo no room >&2; exit 3", LONGEST) else {
            panic!("it fails")
        };
        assert!(answer.contains("no room") && answer.contains('3'), "{answer}");
    }

    #[test]
    fn one_that_takes_too_long_is_ended_with_all_it_has_started() {
        let directory = tempfile::tempdir().expect("a directory");
        let mark = directory.path().join("mark");
        let line = format!("(sleep 2; touch {}) & sleep 600", mark.display());
        let since = std::time::Instant::now();
        let outcome = run(&line, Duration::from_millis(100));
        assert!(matches!(outcome, Delivered::Later { .. }), "{outcome:?}");
        assert!(since.elapsed() < Duration::from_secs(2), "nobody waits for it");
        let endless = run("yes >&2", Duration::from_millis(100));
        assert!(matches!(endless, Delivered::Later { .. }), "{endless:?}");
        assert!(!mark.exists());
    }
}

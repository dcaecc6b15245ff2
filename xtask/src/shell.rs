//! How programs are started: from the root of the repository, and never left behind.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root")
}

/// Where everything that is built or temporary goes.
pub(crate) fn target() -> PathBuf {
    let directory = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(directory)
}

/// `cargo` with these words as its arguments, and without colours, which nobody wants in a log.
pub(crate) fn cargo(words: &str) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(words.split_whitespace())
        .current_dir(root())
        .env("CARGO_TERM_COLOR", "never")
        .env("NO_COLOR", "1");
    command
}

/// Whether the program ended well; it talks to the terminal by itself.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("error: could not start {command:?}: {error}");
            false
        }
    }
}

/// Whether the program ended well, without showing what it says.
pub(crate) fn succeeds_silently(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What the program says, if it ends well.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.current_dir(root()).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(crate) struct Finished {
    pub(crate) success: bool,
    /// Everything it said on either stream, in order.
    pub(crate) output: String,
}

/// Runs a program, shows what it says as it says it, and keeps a copy.
pub(crate) fn tee(mut command: Command) -> Finished {
    try_tee(&mut command).unwrap_or_else(|error| {
        println!("error: could not run {command:?}: {error}");
        Finished { success: false, output: String::new() }
    })
}

fn try_tee(command: &mut Command) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The pipe ends when nobody holds its other side: neither must we.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let (sender, lines) = mpsc::sync_channel(1024);
    thread::spawn(move || {
        let mut lines = BufReader::new(reader).split(b'\n');
        while let Some(Ok(line)) = lines.next() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut output = String::new();
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line);
                writeln!(io::stdout(), "{line}")?;
                output.push_str(&line);
                output.push('\n');
            }
            // Something that it started may hold the pipe for longer than itself: do not wait for that.
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => break,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(Finished { success: child.wait()?.success(), output })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Finished {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        tee(command)
    }

    #[test]
    fn both_streams_are_kept_in_order() {
        let finished = sh("echo one; echo two >&2; printf three");
        assert!(finished.success);
        assert_eq!(finished.output, "one\ntwo\nthree\n");
    }

    #[test]
    fn failure_is_seen() {
        assert!(!sh("exit 3").success);
        assert!(!tee(Command::new("/nonexistent/program")).success);
    }
}

//! Script files given to `danlu submit`.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use danlu_messages::cli::program as msg;
use danlu_spec::script::{self, ScriptOptions};

use crate::{
    client::Client,
    failure::{Exit, Failure},
    screen,
    submit_context::{own_task, place},
};

/// What a script file stands for.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    pub(crate) lines: ScriptOptions,
}

/// Larger files are no scripts.
const MOST_BYTES: u64 = 1 << 20;

/// The words after the options: `train.sh --epochs 3`. `None` when they are a command.
pub(crate) fn read(words: &[String], client: &Client) -> Result<Option<Script>, Failure> {
    let [file, arguments @ ..] = words else { return Ok(None) };
    let Some(source) = read_text(file)? else { return Ok(None) };
    if !script::is_script(&source) {
        refuse_file_that_cannot_run(file)?;
        return Ok(None);
    }
    let path = std::path::absolute(file).map_err(|cause| unreadable(file, &cause))?;
    let path = path.to_string_lossy().into_owned();
    let run = script::command(&source, &path, arguments);
    if !run.captured {
        screen::note(&msg::file_is_read_when_the_task_starts(&file));
    }
    let name = path.rsplit('/').next().unwrap_or(file).to_owned();
    let mut lines = script::read(&format!("`{file}`"), &source, &place())?;
    if !lines.ignored.is_empty() {
        screen::note(&danlu_messages::slurm::options_have_no_effect(&lines.ignored.join(", ")));
    }
    let own = |back| own_task(client, back).map_err(|failure| failure.at(&lines.after_at));
    lines.patch.resolve_own(own)?;
    Ok(Some(Script { name, command: run.command, lines }))
}

/// `None` when it is no file, or none with text in it.
fn read_text(file: &str) -> Result<Option<String>, Failure> {
    let path = Path::new(file);
    let Ok(facts) = fs::metadata(path) else { return Ok(None) };
    // `make` is a command, even where a directory has a file of that name that is not meant.
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|opened| opened.take(MOST_BYTES).read_to_end(&mut bytes))
        .map_err(|cause| unreadable(file, &cause))?;
    Ok(String::from_utf8(bytes).ok())
}

/// `danlu submit train.py` would fail hours later, when its turn comes.
fn refuse_file_that_cannot_run(file: &str) -> Result<(), Failure> {
    let executable = fs::metadata(file).is_ok_and(|facts| facts.permissions().mode() & 0o111 != 0);
    if executable || !file.contains(['/', '.']) {
        return Ok(());
    }
    let run = if file.ends_with(".py") { "python" } else { "bash" };
    Err(Failure::new(Exit::Refused, msg::neither_program_nor_script(&file))
        .hint(format!("danlu submit -- {run} {file}")))
}

fn unreadable(file: &str, cause: &io::Error) -> Failure {
    Failure::new(Exit::Refused, msg::could_not_read_file_cause(&file, &cause))
        .hint(format!("ls -l {file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_script_when_it_says_so() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let client = Client::new(Some("/nowhere/danlu.sock")).expect("a client");
        let read_file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).expect("it can be written");
            read(&[path.display().to_string(), "x".into()], &client)
        };
        let script = read_file("a.sh", "#!/bin/sh\necho $1\n").expect("it can be read");
        let script = script.expect("it is a script");
        assert_eq!(script.name, "a.sh");
        assert_eq!(script.command[..3], ["/bin/sh", "-c", "#!/bin/sh\necho $1\n"]);
        assert_eq!(script.command[4], "x");
        let script = read_file("b.sh", "#DANLU -g 0\ntrue\n").expect("it can be read");
        let patch = script.expect("it is a script").lines.patch(false);
        assert_eq!(patch.gpus.value(), Some(&0));
        let failure = read_file("c.py", "print(1)\n").expect_err("it cannot run");
        assert_eq!(failure.status(), Exit::Refused as u8);
        assert!(read(&["no-such-file".into()], &client).expect("a command").is_none());
    }
}

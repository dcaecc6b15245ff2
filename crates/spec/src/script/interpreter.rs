//! The command that runs a script. The text of a shell script is part of it, so that later edits do not change queued tasks.

use danlu_messages::spec as msg;

use crate::input_error::InputError;

#[derive(Debug, PartialEq, Eq)]
pub struct ScriptCommand {
    pub command: Vec<String>,
    /// The task has its own copy of the script.
    pub captured: bool,
}

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];
/// One word of a command line cannot be longer than 128 KiB on Linux.
const LONGEST_WORD: usize = 100 << 10;
/// These would be replaced in the words of a command, and so in a script that is one of them.
const REPLACED: [&str; 3] = ["{gpu_list}", "{gpu_count}", "{task_id}"];

pub fn command(source: &str, path: &str, arguments: &[String]) -> ScriptCommand {
    let mut command = interpreter(source);
    let captured = is_shell(&command) && can_be_a_word(source);
    if captured {
        command.extend(["-c".to_owned(), source.to_owned()]);
    }
    command.push(path.to_owned());
    command.extend_from_slice(arguments);
    ScriptCommand { command, captured }
}

/// A script that was pasted is in no file, so that it must be a word of the command.
pub fn without_file(source: &str) -> Result<Vec<String>, InputError> {
    let mut command = interpreter(source);
    let program = program(&command);
    let hint = msg::save_script_there();
    if let Some(name) = REPLACED.iter().find(|name| source.contains(**name)) {
        return Err(InputError::refused(msg::script_would_be_replaced(&name)).hint(hint));
    }
    if !is_shell(&command) && !program.starts_with("python") || !can_be_a_word(source) {
        return Err(InputError::refused(msg::script_not_sendable(&program)).hint(hint));
    }
    command.extend(["-c".to_owned(), source.to_owned()]);
    Ok(command)
}

fn can_be_a_word(source: &str) -> bool {
    source.len() <= LONGEST_WORD
        && !source.contains('\0')
        && !REPLACED.iter().any(|name| source.contains(name))
}

/// `#!/usr/bin/env bash` is two words; like the kernel, more words after those are one.
fn interpreter(source: &str) -> Vec<String> {
    let first = source.lines().next().unwrap_or_default();
    let Some(line) = first.strip_prefix("#!").map(str::trim).filter(|line| !line.is_empty()) else {
        return vec!["/bin/sh".to_owned()];
    };
    let words = line.splitn(2, char::is_whitespace);
    words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

fn is_shell(command: &[String]) -> bool {
    SHELLS.contains(&program(command).as_str())
}

/// `bash`, of `/usr/bin/env bash` too.
fn program(command: &[String]) -> String {
    let base = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut names = command.iter().map(base);
    match names.next() {
        Some(name) if name == "env" => names.next().unwrap_or_default(),
        first => first.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[&str], captured: bool) {
        let run = command(source, "/a/job", &["x".to_owned()]);
        assert_eq!(
            (run.command, run.captured),
            (expect.iter().map(|word| (*word).to_owned()).collect(), captured)
        );
    }

    #[test]
    fn shell_scripts_are_captured() {
        let source = "#!/bin/bash -l\necho\n";
        check(source, &["/bin/bash", "-l", "-c", source, "/a/job", "x"], true);
        let source = "#!/usr/bin/env bash\necho\n";
        check(source, &["/usr/bin/env", "bash", "-c", source, "/a/job", "x"], true);
        let source = "#DANLU -g 1\necho\n";
        check(source, &["/bin/sh", "-c", source, "/a/job", "x"], true);
    }

    #[test]
    fn others_run_from_their_file() {
        check(
            "#!/usr/bin/env python3\nprint()\n",
            &["/usr/bin/env", "python3", "/a/job", "x"],
            false,
        );
        check("#!/usr/bin/python3 -u\n", &["/usr/bin/python3", "-u", "/a/job", "x"], false);
        check("#!/bin/sh\necho ${task_id}\n", &["/bin/sh", "/a/job", "x"], false);
    }

    #[test]
    fn pasted_scripts_are_words() {
        let check = |source: &str, expect: &[&str]| {
            let words = without_file(source).expect("it can be run");
            assert_eq!(words[..words.len() - 1], *expect);
        };
        check("echo\n", &["/bin/sh", "-c"]);
        check("#!/bin/bash -l\necho\n", &["/bin/bash", "-l", "-c"]);
        check("#!/usr/bin/env python3\nprint()\n", &["/usr/bin/env", "python3", "-c"]);
        for wrong in ["#!/usr/bin/perl\n", "echo ${task_id}\n", &"#".repeat(LONGEST_WORD + 1)] {
            assert!(without_file(wrong).is_err(), "it is sent");
        }
    }
}

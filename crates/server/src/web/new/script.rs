//! A pasted script: what its `#DANLU` and `#SBATCH` lines ask for, and how it is run.

use super::draft::Draft;
use crate::api::ApiError;
use crate::web::language::{Language, tell};

/// One word of a command line cannot be longer than 128 KiB on Linux.
const LONGEST: usize = 100 << 10;

/// The script itself is a word of the command: there is no file that somebody could change before it starts.
pub(super) fn command(source: &str, language: Language) -> Result<Vec<String>, ApiError> {
    let first = source.lines().next().unwrap_or_default();
    let mut words: Vec<String> = match first.strip_prefix("#!").map(str::trim) {
        Some(line) if !line.is_empty() => {
            line.splitn(2, char::is_whitespace).map(|word| word.trim().to_owned()).collect()
        }
        _ => vec!["/bin/sh".to_owned()],
    };
    let program = words.iter().map(|word| word.rsplit('/').next().unwrap_or_default());
    let program = program.into_iter().find(|name| *name != "env").unwrap_or_default();
    let known =
        ["sh", "bash", "dash", "zsh", "ksh"].contains(&program) || program.starts_with("python");
    if !known || source.len() > LONGEST || source.contains('\0') {
        let message = tell!(
            language,
            "a script for `{program}`, or one this long, cannot be sent from here",
            "无法在此提交 `{program}` 脚本，或脚本过长",
        );
        let hint = language.say(
            "save it as a file on the machine and give its path as the command",
            "请在机器上保存为文件，并将其路径作为命令",
        );
        return Err(ApiError::bad_request(message, hint));
    }
    words.extend(["-c".to_owned(), source.to_owned()]);
    Ok(words)
}

/// Fills fields that are still empty: what somebody typed counts more. Says which were filled.
pub(super) fn read_lines(
    draft: &mut Draft,
    language: Language,
) -> Result<Vec<&'static str>, ApiError> {
    let source = draft.get("script").to_owned();
    let mut wanted: Vec<(&'static str, String)> = Vec::new();
    for (number, line) in head(&source) {
        let (slurm, words) = match (marked(line, "#DANLU"), marked(line, "#SBATCH")) {
            (Some(words), _) => (false, words),
            (_, Some(words)) => (true, words),
            _ => continue,
        };
        let wrong = |word: &str| unknown(number, word, language);
        let words = shlex::split(words).ok_or_else(|| wrong(words))?;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, joined) = split(word).ok_or_else(|| wrong(word))?;
            let field = field(name, slurm).ok_or_else(|| wrong(word))?;
            if FLAGS.contains(&field) {
                wanted.push((field, "on".to_owned()));
                continue;
            }
            let value = joined.map(str::to_owned).or_else(|| words.next().cloned());
            let value = value.ok_or_else(|| wrong(word))?;
            let value = if slurm { translated(field, &value) } else { value };
            match wanted.iter_mut().find(|(known, _)| *known == field) {
                Some((_, before)) if SEVERAL.contains(&field) => *before += &format!("\n{value}"),
                Some((_, before)) => *before = value,
                None => wanted.push((field, value)),
            }
        }
    }
    let mut filled = Vec::new();
    for (field, value) in wanted.into_iter().filter(|(field, _)| !field.is_empty()) {
        if !draft.has(field) {
            draft.set(field, value);
            filled.push(field);
        }
    }
    Ok(filled)
}

/// Up to the first line that is neither empty nor a comment, as Slurm reads them.
fn head(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let comment =
        |(_, line): &(usize, &str)| line.trim().is_empty() || line.trim().starts_with('#');
    source.lines().enumerate().take_while(comment).map(|(place, line)| (place + 1, line))
}

fn marked<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.strip_prefix(mark).filter(|words| words.starts_with(char::is_whitespace))
}

const FLAGS: [&str; 3] = ["hold", "urgent", "preemptible"];
const SEVERAL: [&str; 3] = ["variables", "labels", "grid"];

/// The field that an option fills; what has no field is refused, never ignored.
fn field(option: &str, slurm: bool) -> Option<&'static str> {
    Some(match (option, slurm) {
        ("name" | "J" | "job-name", _) => "name",
        ("description", false) | ("comment", true) => "description",
        ("project", false) | ("account" | "A", true) => "project",
        ("label", false) => "labels",
        ("gpus" | "g", false)
        | ("gpus" | "G" | "gres" | "gpus-per-node" | "gpus-per-task", true) => "gpus",
        ("vram", false) => "vram",
        ("idle-util", false) => "idle_util",
        ("gpu-ids", false) => "gpu_ids",
        ("node" | "w", false) | ("nodelist" | "w", true) => "node",
        ("cpus" | "c", false) | ("cpus-per-task" | "c", true) => "cpus",
        ("mem", _) => "mem",
        ("resource", false) => "resources",
        ("time" | "t", _) => "time",
        ("begin", false) => "begin",
        ("priority" | "p", false) => "priority",
        ("urgent", false) => "urgent",
        ("preemptible", false) => "preemptible",
        ("hold", _) | ("H", true) => "hold",
        ("retries", false) => "retries",
        ("after" | "d", false) | ("dependency" | "d", true) => "after",
        ("array" | "a", _) => "array",
        ("grid", false) => "grid",
        ("dir", false) | ("chdir" | "D", true) => "directory",
        ("env", false) => "variables",
        ("conda", false) => "conda",
        ("venv", false) => "venv",
        ("output", false) | ("output" | "o", true) => "output",
        ("gpu-arg", false) => "gpu_arg",
        // One node, one process: as it is here anyway.
        ("nodes" | "N" | "ntasks" | "n" | "ntasks-per-node", true) => "",
        _ => return None,
    })
}

/// Slurm's ways to write values.
fn translated(field: &str, value: &str) -> String {
    match field {
        "gpus" => value
            .strip_prefix("gpu:")
            .unwrap_or(if value == "gpu" { "1" } else { value })
            .to_owned(),
        "mem" if value.bytes().all(|byte| byte.is_ascii_digit()) => format!("{value}M"),
        "output" => value
            .replace("%j", "{task_id}")
            .replace("%A", "{array_id}")
            .replace("%a", "{array_index}"),
        _ => value.to_owned(),
    }
}

fn split(word: &str) -> Option<(&str, Option<&str>)> {
    if let Some(long) = word.strip_prefix("--") {
        return Some(
            long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
        );
    }
    let short =
        word.strip_prefix('-').filter(|rest| !rest.is_empty() && rest.is_char_boundary(1))?;
    let (name, value) = short.split_at(1);
    Some((name, Some(value.strip_prefix('=').unwrap_or(value)).filter(|value| !value.is_empty())))
}

fn unknown(line: usize, word: &str, language: Language) -> ApiError {
    let message = tell!(
        language,
        "line {line} of the script: `{word}` is not known here",
        "脚本第 {line} 行：不支持 `{word}`"
    );
    let hint = language.say(
        "take it out, or submit the file with danlu submit",
        "请删除该选项，或用 danlu submit 提交文件",
    );
    ApiError::bad_request(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(source: &str) -> Result<Draft, ApiError> {
        let mut draft = Draft::default();
        draft.set("script", source.to_owned());
        draft.set("time", "5m".to_owned());
        read_lines(&mut draft, Language::English).map(|_| draft)
    }

    #[test]
    fn lines_fill_empty_fields() {
        let source = "#!/bin/bash\n#SBATCH --gres=gpu:a100:2 --mem=4096 -t 1:00:00\n#DANLU --label a=1 --label b=2 --hold\ntrue\n#DANLU -g 9\n";
        let draft = filled(source).expect("it is understood");
        let fields = ["gpus", "mem", "time", "labels", "hold"].map(|name| draft.get(name));
        assert_eq!(fields, ["a100:2", "4096M", "5m", "a=1\nb=2", "on"]);
    }

    #[test]
    fn what_is_not_known_is_named_with_its_line() {
        for source in
            ["#SBATCH --partition=gpu\n", "#DANLU --nonsense\n", "#DANLU -g\n", "#DANLU 'a\n"]
        {
            let error = filled(source).expect_err(source);
            assert!(error.0.message.contains("line 1"), "{error:?}");
        }
    }

    #[test]
    fn scripts_run_with_their_interpreter() {
        let check = |source: &str, expect: &[&str]| {
            let words = command(source, Language::English).expect("it can be run");
            assert_eq!(words[..words.len() - 1], *expect);
        };
        check("echo\n", &["/bin/sh", "-c"]);
        check("#!/bin/bash -l\necho\n", &["/bin/bash", "-l", "-c"]);
        check("#!/usr/bin/env python3\nprint()\n", &["/usr/bin/env", "python3", "-c"]);
        assert!(command("#!/usr/bin/perl\n", Language::English).is_err());
    }
}

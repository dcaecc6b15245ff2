//! Script files: what their `#DANLU` and `#SBATCH` lines ask for, and how the script is run.

mod directives;
mod interpreter;
mod sbatch;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use clap::Parser;

use crate::{
    client::Client,
    failure::{Exit, Failure, usage_message},
    language::{say, text},
    screen,
    task_options::{Fields, NewTaskOptions, TaskOptions, merge},
};
use directives::{Dialect, directives};
pub(crate) use sbatch::variables as slurm_variables;

/// What a script file stands for.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    pub(crate) fields: Fields,
    /// It was written for Slurm, and asks its environment for Slurm's variables.
    pub(crate) for_slurm: bool,
}

/// Larger files are no scripts.
const MOST_BYTES: u64 = 1 << 20;

/// The words after the options: `train.sh --epochs 3`. `None` when they are a command.
pub(crate) fn read(words: &[String], client: &Client) -> Result<Option<Script>, Failure> {
    let [file, arguments @ ..] = words else { return Ok(None) };
    let Some(source) = read_text(file)? else { return Ok(None) };
    let is_script = source.starts_with("#!") || !directives(&source).is_empty();
    if !is_script {
        refuse_file_that_cannot_run(file)?;
        return Ok(None);
    }
    let path = std::path::absolute(file).map_err(|cause| unreadable(file, &cause))?;
    let path = path.to_string_lossy().into_owned();
    let run = interpreter::command(&source, &path, arguments);
    if !run.captured {
        screen::note(&say!("`{file}` is read when the task starts", "`{file}` 将在任务开始时读取"));
    }
    let name = path.rsplit('/').next().unwrap_or(file).to_owned();
    let for_slurm = directives(&source).iter().any(|it| matches!(it.dialect, Dialect::Slurm));
    let fields = fields(file, &source, client)?;
    Ok(Some(Script { name, command: run.command, fields, for_slurm }))
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
    Err(Failure::new(
        Exit::Refused,
        say!(
            "`{file}` is neither executable nor a script with a `#!` line",
            "`{file}` 不可执行，也没有 `#!` 行",
        ),
    )
    .hint(format!("danlu submit -- {run} {file}")))
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    options: TaskOptions,
    #[command(flatten)]
    new: NewTaskOptions,
}

/// Line by line, so that a mistake is named with its line; later lines win.
fn fields(file: &str, source: &str, client: &Client) -> Result<Fields, Failure> {
    let mut fields = Fields::new();
    // Where Slurm's count of GPUs over all nodes stands.
    let mut in_all = None;
    for directive in directives(source) {
        let place = {
            let number = directive.line;
            say!("`{file}` line {number}: ", "`{file}` 第 {number} 行：")
        };
        let words = shlex::split(directive.words)
            .ok_or_else(|| Failure::new(Exit::Usage, format!("{place}{}", quotes())))?;
        let words = match directive.dialect {
            Dialect::Danlu => words,
            Dialect::Slurm => {
                if sbatch::counts_in_all(&words) {
                    in_all = Some(place.clone());
                }
                sbatch::translate(&words).map_err(|failure| failure.at(&place))?
            }
        };
        let line = Line::try_parse_from(words).map_err(|error| {
            Failure::new(Exit::Usage, format!("{place}{}", usage_message(&error)))
                .hint("danlu submit --help")
        })?;
        merge(&mut fields, line.options.fields(client).map_err(|failure| failure.at(&place))?);
        merge(&mut fields, line.new.fields());
    }
    match in_all {
        Some(place) => divided(fields).map_err(|failure| failure.at(&place)),
        None => Ok(fields),
    }
}

/// The same number of GPUs on each node.
fn divided(mut fields: Fields) -> Result<Fields, Failure> {
    let number = |name: &str| fields.get(name).and_then(serde_json::Value::as_u64);
    let (Some(nodes @ 2..), Some(gpus)) = (number("nodes"), number("gpus")) else {
        return Ok(fields);
    };
    if !gpus.is_multiple_of(nodes) {
        return Err(Failure::new(
            Exit::Refused,
            say!(
                "{gpus} GPUs cannot be divided equally among {nodes} nodes",
                "{gpus} 块 GPU 不能平均分到 {nodes} 台机器"
            ),
        )
        .hint("#SBATCH --gpus-per-node=4"));
    }
    fields.insert("gpus".to_owned(), (gpus / nodes).into());
    Ok(fields)
}

fn quotes() -> &'static str {
    text("a quote is not closed", "引号没有闭合")
}

fn unreadable(file: &str, cause: &io::Error) -> Failure {
    Failure::new(
        Exit::Refused,
        say!("could not read `{file}`: {cause}", "无法读取 `{file}`：{cause}"),
    )
    .hint(format!("ls -l {file}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parse(source: &str) -> Result<Value, Failure> {
        let client = Client::new(Some("/nowhere/danlu.sock"))?;
        fields("job.sh", source, &client).map(Value::Object)
    }

    #[test]
    fn lines_become_fields_and_later_ones_win() {
        let source = "#!/bin/bash\n\
                      #SBATCH --job-name=first --time=01:00:00\n\
                      #SBATCH --gres=gpu:a100:2\n\
                      # a remark\n\
                      #DANLU --name 'the second' --label a=1\n\
                      #DANLU --label b=2\n\
                      \n\
                      echo hello\n\
                      #DANLU --gpus 7\n";
        let expect = json!({
            "name": "the second", "time_limit": 3_600, "gpus": 2, "gpu_model": "a100",
            "labels": {"a": "1", "b": "2"},
        });
        assert_eq!(parse(source).expect("it is understood"), expect);
    }

    #[test]
    fn slurm_counts_gpus_over_all_nodes_and_danlu_on_each() {
        let gpus = |lines: &str| parse(lines).map(|fields| fields["gpus"].clone());
        assert_eq!(gpus("#SBATCH --nodes=2\n#SBATCH --gpus=8\n").ok(), Some(json!(4)));
        assert_eq!(gpus("#SBATCH -N 2 --gpus-per-node=8\n").ok(), Some(json!(8)));
        assert_eq!(gpus("#SBATCH --gres=gpu:8\n#SBATCH -N 2\n").ok(), Some(json!(8)));
        assert_eq!(gpus("#SBATCH --gpus=8\n").ok(), Some(json!(8)));
        assert_eq!(gpus("#DANLU --nodes 2 --gpus 8\n").ok(), Some(json!(8)));
        let failure = parse("#SBATCH -N 3\n#SBATCH -G 8\n").expect_err("not to be divided");
        assert!(format!("{failure:?}").contains("line 2"), "{failure:?}");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let check = |source: &str, status: Exit, words: &str| {
            let failure = parse(source).expect_err(source);
            assert_eq!(failure.status(), status as u8, "{failure:?}");
            assert!(format!("{failure:?}").contains(words), "{failure:?}");
        };
        check("#!/bin/sh\n#DANLU --nonsense\n", Exit::Usage, "line 2: unknown argument");
        check("#!/bin/sh\n\n#DANLU --gpus x\n", Exit::Usage, "line 3: `--gpus");
        check("#!/bin/sh\n#DANLU --name 'a\n", Exit::Usage, "line 2: a quote");
        check("#!/bin/sh\n#SBATCH --partition=gpu\n", Exit::Refused, "line 2: ");
        check("#!/bin/sh\n#SBATCH --mem=lots\n", Exit::Usage, "line 2: ");
        check("#!/bin/sh\n#DANLU --notify a@b\n", Exit::Refused, "line 2: ");
    }

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
        assert_eq!(script.expect("it is a script").fields["gpus"], 0);
        let failure = read_file("c.py", "print(1)\n").expect_err("it cannot run");
        assert_eq!(failure.status(), Exit::Refused as u8);
        assert!(read(&["no-such-file".into()], &client).expect("a command").is_none());
    }
}

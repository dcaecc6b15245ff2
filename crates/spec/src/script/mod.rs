//! Scripts: what their `#DANLU` and `#SBATCH` lines ask for, and how a script is run.
//!
//! The command line and the page *new task* both read them here, so that a script means the same to both.

mod directives;
mod interpreter;
mod sbatch;

use clap::Parser;

pub use interpreter::{Run, command, without_file};

use crate::{
    complaint::{Complaint, usage_message},
    language::{say, text},
    task_options::{Fields, NewTaskOptions, Submitter, TaskOptions, merge},
};
use directives::{Dialect, directives};

/// What the lines of a script ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    fields: Fields,
    /// It was written for Slurm, and asks its environment for Slurm's variables.
    for_slurm: bool,
}

/// Each is taken apart on its own; people write a dozen.
const MOST_LINES: usize = 200;

impl Lines {
    /// `is_array` where something else than the script says that it is one.
    pub fn fields(self, is_array: bool) -> Fields {
        let mut fields = Fields::new();
        if self.for_slurm {
            let is_array = is_array || self.fields.contains_key("array");
            fields.insert("variables".into(), sbatch::variables(is_array).into());
        }
        merge(&mut fields, self.fields);
        fields
    }
}

pub fn is_script(source: &str) -> bool {
    source.starts_with("#!") || !directives(source).is_empty()
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    options: TaskOptions,
    #[command(flatten)]
    new: NewTaskOptions,
}

/// Line by line, so that a mistake is named with its line; later lines win. `name` is how the script is called.
pub fn read<S: Submitter>(name: &str, source: &str, submitter: &S) -> Result<Lines, S::Error> {
    let mut lines = Lines::default();
    let directives = directives(source);
    if directives.len() > MOST_LINES {
        return Err(too_many(name).into());
    }
    // Where Slurm's count of GPUs over all nodes stands.
    let mut in_all = None;
    for directive in directives {
        let number = directive.line;
        let place = say!("{name} line {number}: ", "{name} 第 {number} 行：");
        if directive.dialect == Dialect::Slurm && counts_in_all(directive.words) {
            in_all = Some(place.clone());
        }
        let line = parse(directive.dialect, directive.words).map_err(|it| it.at(&place))?;
        let fields = line.options.fields(submitter).map_err(|error| S::at(&place, error))?;
        merge(&mut lines.fields, fields);
        merge(&mut lines.fields, line.new.fields());
        lines.for_slurm |= directive.dialect == Dialect::Slurm;
    }
    if let Some(place) = in_all {
        divide(&mut lines.fields).map_err(|complaint| complaint.at(&place))?;
    }
    Ok(lines)
}

fn counts_in_all(words: &str) -> bool {
    shlex::split(words).is_some_and(|words| sbatch::counts_in_all(&words))
}

/// The same number of GPUs on each node.
fn divide(fields: &mut Fields) -> Result<(), Complaint> {
    let number = |name: &str| fields.get(name).and_then(serde_json::Value::as_u64);
    let (Some(nodes @ 2..), Some(gpus)) = (number("nodes"), number("gpus")) else {
        return Ok(());
    };
    if !gpus.is_multiple_of(nodes) {
        return Err(Complaint::refused(say!(
            "{gpus} GPUs cannot be divided equally among {nodes} nodes",
            "{gpus} 块 GPU 不能平均分到 {nodes} 台机器"
        ))
        .hint("#SBATCH --gpus-per-node=4"));
    }
    fields.insert("gpus".to_owned(), (gpus / nodes).into());
    Ok(())
}

fn parse(dialect: Dialect, words: &str) -> Result<Line, Complaint> {
    let words = shlex::split(words)
        .ok_or_else(|| Complaint::usage(text("a quote is not closed", "引号没有闭合")))?;
    let words = match dialect {
        Dialect::Danlu => words,
        Dialect::Slurm => sbatch::translate(&words)?,
    };
    let line = Line::try_parse_from(words)
        .map_err(|error| Complaint::usage(usage_message(&error)).hint("danlu submit --help"))?;
    if line.options.is_shell_line() {
        return Err(Complaint::usage(text(
            "a script is no shell line: `--shell` makes no sense in it",
            "脚本中不能写 `--shell`",
        ))
        .hint(text("take it out", "请去掉它")));
    }
    Ok(line)
}

fn too_many(name: &str) -> Complaint {
    Complaint::refused(say!(
        "{name} has more than {MOST_LINES} lines with options",
        "{name} 的选项行超过 {MOST_LINES} 行",
    ))
    .hint(text("say it in fewer", "请减少行数"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complaint::ComplaintKind;
    use crate::task_options::AtHome;
    use serde_json::{Value, json};

    fn parse(source: &str) -> Result<Value, Complaint> {
        read("`job.sh`", source, &AtHome).map(|lines| Value::Object(lines.fields(false)))
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
            "variables": {"SLURM_JOB_ID": "{task_id}", "SLURM_JOBID": "{task_id}"},
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
        let complaint = parse("#SBATCH -N 3\n#SBATCH -G 8\n").expect_err("not to be divided");
        assert!(format!("{complaint:?}").contains("line 2"), "{complaint:?}");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let check = |source: &str, kind: ComplaintKind, words: &str| {
            let failure = parse(source).expect_err(source);
            assert_eq!(failure.kind, kind, "{failure:?}");
            assert!(format!("{failure:?}").contains(words), "{failure:?}");
        };
        check("#!/bin/sh\n#DANLU --nonsense\n", ComplaintKind::Usage, "line 2: unknown argument");
        check("#!/bin/sh\n\n#DANLU --gpus x\n", ComplaintKind::Usage, "line 3: `--gpus");
        check("#!/bin/sh\n#DANLU --name 'a\n", ComplaintKind::Usage, "line 2: a quote");
        check("#!/bin/sh\n#SBATCH --partition=gpu\n", ComplaintKind::Refused, "line 2: ");
        check("#!/bin/sh\n#SBATCH --mem=lots\n", ComplaintKind::Usage, "line 2: ");
        check("#!/bin/sh\n#DANLU --shell\n", ComplaintKind::Usage, "no shell line");
        check("#!/bin/sh\n#DANLU -d afterok:@~3\n", ComplaintKind::Refused, "line 2: there is no");
        check("#!/bin/sh\n#DANLU --notify a@b\n", ComplaintKind::Refused, "line 2: ");
    }

    #[test]
    fn places_are_those_of_who_submits() {
        let source = "#DANLU --dir runs --venv ~/v -d @\n";
        let expect = json!({
            "directory": "/home/ann/runs", "python": {"venv": "/home/ann/v"},
            "after": [{"task": 7, "kind": "after_ok"}],
        });
        assert_eq!(parse(source).expect("it is understood"), expect);
    }

    #[test]
    fn more_lines_than_anybody_writes_are_refused() {
        let lines = |count| "#DANLU --hold\n".repeat(count);
        assert!(parse(&lines(MOST_LINES)).is_ok());
        let complaint = parse(&lines(MOST_LINES + 1)).expect_err("too many");
        assert_eq!(complaint.kind, ComplaintKind::Refused);
    }
}

//! Scripts: what their `#DANLU` and `#SBATCH` lines ask for, and how a script is run.
//!
//! The command line and the page *new task* both read them here, so that a script means the same to both.

mod directives;
mod interpreter;
mod sbatch;

use clap::Parser;
use danlu_messages::spec as msg;

pub use interpreter::{Run, command, without_file};

use crate::{
    complaint::{Complaint, usage_message},
    options::{NewTaskOptions, TaskOptions},
    patch::{Patch, Place, Said},
};
use directives::{Dialect, Directive, directives};

/// What the lines of a script ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    pub patch: Patch,
    /// Words that name the line with the tasks to wait for, for who resolves them.
    pub after_at: String,
    /// It was written for Slurm, and asks its environment for Slurm's variables.
    for_slurm: bool,
}

/// Each is taken apart on its own; people write a dozen.
const MOST_LINES: usize = 200;

impl Lines {
    /// `is_array` where something else than the script says that it is one.
    pub fn patch(self, is_array: bool) -> Patch {
        let mut patch = Patch::default();
        if self.for_slurm {
            let is_array = is_array || self.patch.array.is_said();
            patch.variables = Said::Value(sbatch::variables(is_array));
        }
        patch.lay_over(self.patch);
        patch
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
pub fn read(name: &str, source: &str, place: &Place) -> Result<Lines, Complaint> {
    let mut lines = Lines::default();
    let directives = directives(source);
    if directives.len() > MOST_LINES {
        return Err(too_many(name));
    }
    // Where Slurm's count of GPUs over all nodes stands.
    let mut in_all = None;
    for directive in directives {
        let number = directive.line;
        let at = msg::name_line_number(&name, &number);
        if directive.dialect == Dialect::Slurm && counts_in_all(directive.words) {
            in_all = Some(at.clone());
        }
        let patch = line(&directive, place).map_err(|complaint| complaint.at(&at))?;
        lines.for_slurm |= directive.dialect == Dialect::Slurm;
        if patch.after.is_said() {
            lines.after_at = at;
        }
        lines.patch.lay_over(patch);
    }
    if let Some(at) = in_all {
        divide(&mut lines.patch).map_err(|complaint| complaint.at(&at))?;
    }
    Ok(lines)
}

fn line(directive: &Directive<'_>, place: &Place) -> Result<Patch, Complaint> {
    let line = parse(directive.dialect, directive.words)?;
    let mut patch = line.options.patch()?;
    patch.lay_over(line.new.patch()?);
    patch.settle(place)?;
    Ok(patch)
}

fn counts_in_all(words: &str) -> bool {
    shlex::split(words).is_some_and(|words| sbatch::counts_in_all(&words))
}

/// The same number of GPUs on each node.
fn divide(patch: &mut Patch) -> Result<(), Complaint> {
    let (Some(nodes @ 2..), Some(gpus)) = (patch.nodes.value(), patch.gpus.value()) else {
        return Ok(());
    };
    if !gpus.is_multiple_of(*nodes) {
        return Err(Complaint::refused(msg::gpus_gpus_cannot_be_divided_equally_among(
            &gpus, &nodes,
        ))
        .hint("#SBATCH --gpus-per-node=4"));
    }
    patch.gpus = Said::Value(gpus / nodes);
    Ok(())
}

fn parse(dialect: Dialect, words: &str) -> Result<Line, Complaint> {
    let words =
        shlex::split(words).ok_or_else(|| Complaint::usage(msg::a_quote_is_not_closed()))?;
    let words = match dialect {
        Dialect::Danlu => words,
        Dialect::Slurm => sbatch::translate(&words)?,
    };
    let line = Line::try_parse_from(words)
        .map_err(|error| Complaint::usage(usage_message(&error)).hint("danlu submit --help"))?;
    if line.options.is_shell_line() {
        return Err(Complaint::usage(msg::a_script_is_no_shell_line_shell_makes_no())
            .hint(msg::take_it_out()));
    }
    Ok(line)
}

fn too_many(name: &str) -> Complaint {
    Complaint::refused(msg::name_has_more_than_most_lines_lines_with(&name, &MOST_LINES))
        .hint(msg::say_it_in_fewer())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complaint::ComplaintKind;
    use serde_json::{Value, json};

    /// Of somebody in `/home/ann`, whose last task is 7.
    fn parse(source: &str) -> Result<Value, Complaint> {
        let home = "/home/ann".to_owned();
        let place = Place { directory: Ok(home.clone()), home };
        let mut lines = read("`job.sh`", source, &place)?;
        let own = |back| match back {
            0 => Ok(7),
            _ => Err(Complaint::refused("there is no such task").at(&lines.after_at)),
        };
        lines.patch.resolve_own(own)?;
        Ok(serde_json::to_value(lines.patch(false)).expect("plain data"))
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
        check(
            "#!/bin/sh\n\n#DANLU --gpus x\n",
            ComplaintKind::Usage,
            "line 3: invalid value `x` for `--gpus",
        );
        check("#!/bin/sh\n#DANLU --name 'a\n", ComplaintKind::Usage, "line 2: unclosed quote");
        check("#!/bin/sh\n#SBATCH --partition=gpu\n", ComplaintKind::Refused, "line 2: ");
        check("#!/bin/sh\n#SBATCH --mem=lots\n", ComplaintKind::Usage, "line 2: ");
        check("#!/bin/sh\n#DANLU --shell\n", ComplaintKind::Usage, "not allowed in a script");
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

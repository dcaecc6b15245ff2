//! Scripts: their `#DANLU` and `#SBATCH` lines as a patch, and the command that runs them.
//!
//! The command line and the page *new task* both read them here, so that a script means the same to both.

mod directives;
mod interpreter;
mod mail;
mod sbatch;
pub mod slurm_environment;

use clap::Parser;
use danlu_messages::spec as msg;

pub use interpreter::{ScriptCommand, command, without_file};

use crate::{
    input_error::{InputError, usage_message},
    options::{NewTaskOptions, TaskOptions},
    patch::{Change, Patch, Place},
};
use directives::{Dialect, Directive, directives};
pub use mail::Mail;
use sbatch::ScriptLine;
use slurm_environment::{JobShape, Submitter};
use std::collections::BTreeMap;

/// What the `#DANLU` and `#SBATCH` lines of a script ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOptions {
    pub patch: Patch,
    /// `job.sh line 3: ` of the line with dependencies, for errors when they are resolved.
    pub after_at: String,
    /// Options of `#SBATCH` lines that have no effect here, each once.
    pub ignored: Vec<String>,
    /// It has `#SBATCH` lines, so that it may expect Slurm's variables.
    for_slurm: bool,
    /// Where it is submitted, as far as that is known.
    submitted_in: String,
}

/// Each is taken apart on its own; people write a dozen.
const MOST_LINES: usize = 200;

impl ScriptOptions {
    /// `is_array` where something else than the script says that it is one.
    pub fn patch(self, is_array: bool) -> Patch {
        let mut patch = Patch::default();
        if self.for_slurm {
            patch.variables = Change::Set(self.slurm_variables(is_array));
        }
        patch.lay_over(self.patch);
        patch
    }

    fn slurm_variables(&self, is_array: bool) -> BTreeMap<String, String> {
        let patch = &self.patch;
        let nodes = patch.nodes.value().copied().unwrap_or(1).max(1);
        let gpus_per_node = patch.gpus.value().copied().unwrap_or(0);
        let cpus = patch.cpus.value().copied();
        let shape = JobShape {
            nodes,
            tasks: nodes,
            cpus_per_task: cpus,
            cpus_on_node: cpus.unwrap_or(1),
            gpus_per_node,
            gpus: gpus_per_node.saturating_mul(nodes),
            memory: patch.memory.value().copied(),
        };
        let by = Submitter { directory: self.submitted_in.clone(), ..Submitter::default() };
        let array = patch.array.value().map(|array| array.indices.as_slice());
        let array = array.or_else(|| is_array.then_some(&[][..]));
        let name = patch.name.value().map_or("", String::as_str);
        slurm_environment::variables(&by, name, &shape, array)
    }
}

pub fn is_script(source: &str) -> bool {
    source.starts_with("#!") || !directives(source).is_empty()
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct DanluLine {
    #[command(flatten)]
    options: TaskOptions,
    #[command(flatten)]
    new: NewTaskOptions,
}

/// Reads line by line, so that a mistake is named with its line; later lines win. `name` is how the script is called.
pub fn read(name: &str, source: &str, place: &Place) -> Result<ScriptOptions, InputError> {
    let submitted_in = place.directory.clone().unwrap_or_default();
    let mut lines = ScriptOptions { submitted_in, ..ScriptOptions::default() };
    let directives = directives(source);
    if directives.len() > MOST_LINES {
        return Err(too_many(name));
    }
    // The line whose number of GPUs is that of all nodes together.
    let mut gpus_of_all_nodes = None;
    let mut mail = Mail::default();
    for directive in directives {
        let number = directive.line;
        let at = msg::name_line_number(&name, &number);
        let ScriptLine { mut patch, gpus_of_all_nodes: of_all, mail: of_line, ignored } =
            line(&directive).map_err(|complaint| complaint.at(&at))?;
        for option in ignored {
            if !lines.ignored.contains(&option) {
                lines.ignored.push(option);
            }
        }
        patch.settle(place).map_err(|complaint| complaint.at(&at))?;
        mail.lay_over(of_line);
        lines.for_slurm |= directive.dialect == Dialect::Slurm;
        if patch.gpus.is_change() {
            gpus_of_all_nodes = of_all.then(|| at.clone());
        }
        if patch.after.is_change() {
            lines.after_at = at;
        }
        lines.patch.lay_over(patch);
    }
    if let Some(at) = gpus_of_all_nodes {
        divide(&mut lines.patch).map_err(|complaint| complaint.at(&at))?;
    }
    mail.put_into(&mut lines.patch);
    Ok(lines)
}

fn line(directive: &Directive<'_>) -> Result<ScriptLine, InputError> {
    let words =
        shlex::split(directive.words).ok_or_else(|| InputError::usage(msg::unclosed_quote()))?;
    match directive.dialect {
        Dialect::Danlu => Ok(ScriptLine { patch: danlu_line(&words)?, ..ScriptLine::default() }),
        Dialect::Slurm => sbatch::read(&words),
    }
}

fn danlu_line(words: &[String]) -> Result<Patch, InputError> {
    let line = DanluLine::try_parse_from(words)
        .map_err(|error| InputError::usage(usage_message(&error)).hint("danlu submit --help"))?;
    if line.options.is_shell_line() {
        return Err(InputError::usage(msg::shell_in_script()).hint(msg::take_it_out()));
    }
    let mut patch = line.options.patch()?;
    patch.lay_over(line.new.patch()?);
    Ok(patch)
}

/// The same number of GPUs on each node.
fn divide(patch: &mut Patch) -> Result<(), InputError> {
    let (Some(nodes @ 2..), Some(gpus)) = (patch.nodes.value(), patch.gpus.value()) else {
        return Ok(());
    };
    if !gpus.is_multiple_of(*nodes) {
        return Err(InputError::refused(msg::gpus_not_divisible(&gpus, &nodes))
            .hint("#SBATCH --gpus-per-node=4"));
    }
    patch.gpus = Change::Set(gpus / nodes);
    Ok(())
}

fn too_many(name: &str) -> InputError {
    InputError::refused(msg::too_many_option_lines(&name, &MOST_LINES)).hint(msg::say_it_in_fewer())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input_error::InputErrorKind;
    use serde_json::{Value, json};

    /// Of somebody in `/home/ann`, whose last task is 7.
    fn parse(source: &str) -> Result<Value, InputError> {
        let home = "/home/ann".to_owned();
        let place = Place { directory: Ok(home.clone()), home };
        let mut lines = read("`job.sh`", source, &place)?;
        let own = |back| match back {
            0 => Ok(7),
            _ => Err(InputError::refused("there is no such task").at(&lines.after_at)),
        };
        lines.patch.resolve_own(own)?;
        Ok(serde_json::to_value(lines.patch(false)).expect("plain data"))
    }

    #[test]
    fn mail_lines_say_who_is_told_of_what() {
        let of = |lines: &str| {
            parse(&format!("#!/bin/bash\n{lines}\ntrue\n")).map(|patch| patch["notify"].clone())
        };
        let both = "#SBATCH --mail-user=a@x.org,b@x.org\n#SBATCH --mail-type=END,FAIL";
        let expect = json!([{"on": ["end", "fail"], "to": "a@x.org"}, {"on": ["end", "fail"], "to": "b@x.org"}]);
        assert_eq!(of(both), Ok(expect));
        let all = json!([{"on": ["start", "end", "requeue"]}]);
        assert_eq!(of("#SBATCH --mail-type=ALL"), Ok(all));
        assert_eq!(of("#SBATCH --mail-type=NONE"), Ok(json!([{"on": []}])));
        let near = json!([{"on": ["fail", "expiring"]}]);
        assert_eq!(of("#SBATCH --mail-type=time_limit,TIME_LIMIT_80"), Ok(near));
        assert_eq!(of("#SBATCH --mail-user=a@x.org"), Ok(Value::Null), "as with Slurm");
        for wrong in ["--mail-type=STAGE_OUT", "--mail-type=SOON", "--mail-user=ann"] {
            let complaint = of(&format!("#SBATCH {wrong}")).expect_err(wrong);
            assert_eq!(complaint.kind, InputErrorKind::Refused, "{wrong}");
        }
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
        let mut fields = parse(source).expect("it is understood");
        let variables = fields["variables"].take();
        fields.as_object_mut().expect("an object").remove("variables");
        assert_eq!(fields, expect);
        for (name, value) in [
            ("SLURM_JOB_ID", "{task_id}"),
            ("SLURM_JOB_NAME", "the second"),
            ("SLURM_SUBMIT_DIR", "/home/ann"),
            ("SLURM_JOB_NODELIST", "{node}"),
            ("SLURM_JOB_GPUS", "{gpu_list}"),
        ] {
            assert_eq!(variables[name], value, "{name}");
        }
    }

    #[test]
    fn options_without_an_effect_are_told() {
        let place = Place { directory: Ok("/".to_owned()), home: String::new() };
        let source =
            "#!/bin/sh\n#SBATCH -p gpu --qos=high\n#SBATCH -p big -C a100\n#SBATCH --wckey=x\n";
        let lines = read("`job.sh`", source, &place).expect("it is understood");
        assert_eq!(lines.ignored, ["-p", "--qos", "-C"]);
    }

    #[test]
    fn slurm_counts_gpus_over_all_nodes_and_danlu_on_each() {
        let gpus = |lines: &str| parse(lines).map(|fields| fields["gpus"].clone());
        assert_eq!(gpus("#SBATCH --nodes=2\n#SBATCH --gpus=8\n").ok(), Some(json!(4)));
        assert_eq!(gpus("#SBATCH -N 2 --gpus-per-node=8\n").ok(), Some(json!(8)));
        assert_eq!(gpus("#SBATCH --gres=gpu:8\n#SBATCH -N 2\n").ok(), Some(json!(8)));
        assert_eq!(gpus("#SBATCH --gpus=8\n").ok(), Some(json!(8)));
        assert_eq!(gpus("#DANLU --nodes 2 --gpus 8\n").ok(), Some(json!(8)));
        // The last line that counts GPUs says how they are counted.
        let per_node = "#SBATCH -N 2 --gpus=8\n#SBATCH --gres=gpu:4\n";
        assert_eq!(gpus(per_node).ok(), Some(json!(4)));
        assert_eq!(gpus("#SBATCH -N 2 --gpus=8\n#DANLU --gpus 4\n").ok(), Some(json!(4)));
        let complaint = parse("#SBATCH -N 3\n#SBATCH -G 8\n").expect_err("not to be divided");
        assert!(format!("{complaint:?}").contains("line 2"), "{complaint:?}");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let check = |source: &str, kind: InputErrorKind, words: &str| {
            let failure = parse(source).expect_err(source);
            assert_eq!(failure.kind, kind, "{failure:?}");
            assert!(format!("{failure:?}").contains(words), "{failure:?}");
        };
        check("#!/bin/sh\n#DANLU --nonsense\n", InputErrorKind::Usage, "line 2: unknown argument");
        check(
            "#!/bin/sh\n\n#DANLU --gpus x\n",
            InputErrorKind::Usage,
            "line 3: invalid value `x` for `--gpus",
        );
        check("#!/bin/sh\n#DANLU --name 'a\n", InputErrorKind::Usage, "line 2: unclosed quote");
        check("#!/bin/sh\n#SBATCH --exclude=n1\n", InputErrorKind::Refused, "line 2: ");
        check("#!/bin/sh\n#SBATCH --mem=lots\n", InputErrorKind::Usage, "line 2: ");
        check("#!/bin/sh\n#DANLU --shell\n", InputErrorKind::Usage, "not allowed in a script");
        check("#!/bin/sh\n#DANLU -d afterok:@~3\n", InputErrorKind::Refused, "line 2: there is no");
        check("#!/bin/sh\n#DANLU --notify a@b\n", InputErrorKind::Usage, "line 2: ");
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
        assert_eq!(complaint.kind, InputErrorKind::Refused);
    }
}

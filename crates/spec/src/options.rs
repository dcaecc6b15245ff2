//! Options of `submit`, `run`, `clone`, `edit` and `#DANLU` lines, built for clap from the table of fields.

use crate::field::{Field, Flag, Shape, Text, heading, help};
use crate::input_error::InputError;
use crate::parse::time_limit::{TimeLimit, parse_time_limit};
use crate::patch::Patch;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// `false`: options of new and of waiting tasks. `true`: options of new tasks only.
#[derive(Debug, Default)]
pub struct Options<const NEW: bool> {
    /// In the order of the table, as it was written.
    said: Vec<(Field, String)>,
}

pub type TaskOptions = Options<false>;
pub type NewTaskOptions = Options<true>;

impl<const NEW: bool> Options<NEW> {
    pub fn patch(&self) -> Result<Patch, InputError> {
        let mut patch = Patch::default();
        for (field, value) in &self.said {
            if let Some(text) = field.row().text {
                // Each can be read; what remains is a `--truncate` of nothing.
                (text.read)(value, &mut patch)
                    .map_err(|reason| InputError::usage(reason).hint("--stdout FILE --truncate"))?;
            }
        }
        Ok(patch)
    }

    fn fields() -> impl Iterator<Item = (Field, Flag, Text)> {
        let fields = Field::ALL.iter().filter(|field| field.can_be_edited() != NEW);
        fields.filter_map(|field| Some((*field, field.row().option?, field.row().text?)))
    }

    fn says(&self, field: Field) -> bool {
        self.said.iter().any(|(said, _)| *said == field)
    }
}

impl TaskOptions {
    /// A limit that was written without a unit, so that the person can be told how it was read.
    pub fn ambiguous_limit(&self) -> Option<u64> {
        let (_, written) = self.said.iter().find(|(field, _)| *field == Field::Time)?;
        match parse_time_limit(written).ok()? {
            TimeLimit::Seconds { seconds, ambiguous: true } => Some(seconds),
            TimeLimit::Seconds { .. } | TimeLimit::None => None,
        }
    }

    pub fn is_shell_line(&self) -> bool {
        self.says(Field::Shell)
    }
}

impl NewTaskOptions {
    pub fn is_array(&self) -> bool {
        self.says(Field::Array) || self.says(Field::Grid)
    }
}

fn argument(field: Field, flag: Flag, text: Text) -> Arg {
    let argument =
        Arg::new(flag.long).long(flag.long).help(help(field)).help_heading(heading(flag.group));
    let argument = match flag.short {
        Some(letter) => argument.short(letter),
        None => argument,
    };
    let argument = match flag.alias {
        Some(alias) => argument.alias(alias),
        None => argument,
    };
    let argument = match flag.excludes.and_then(|other| other.row().option) {
        Some(other) => argument.conflicts_with(other.long),
        None => argument,
    };
    let read =
        move |given: &str| (text.read)(given, &mut Patch::default()).map(|()| given.to_owned());
    match text.shape {
        Shape::Switch => argument.action(ArgAction::SetTrue),
        Shape::SwitchOrLine => argument
            .value_name(flag.value)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .value_parser(read),
        Shape::Choice(choices) => argument
            .value_name(flag.value)
            .value_parser(PossibleValuesParser::new(choices))
            .hide_possible_values(true),
        Shape::Pairs(_) | Shape::Lines | Shape::List => {
            argument.value_name(flag.value).action(ArgAction::Append).value_parser(read)
        }
        Shape::Line | Shape::Number | Shape::Words => argument
            .value_name(flag.value)
            .allow_negative_numbers(field == Field::Priority)
            .allow_hyphen_values(field == Field::GpuArg)
            .value_parser(read),
    }
}

impl<const NEW: bool> Args for Options<NEW> {
    fn augment_args(command: Command) -> Command {
        let described = Self::fields().map(|(field, flag, text)| argument(field, flag, text));
        command.args(described)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const NEW: bool> FromArgMatches for Options<NEW> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut said = Vec::new();
        for (field, flag, text) in Self::fields() {
            match text.shape {
                Shape::Switch if matches.get_flag(flag.long) => said.push((field, String::new())),
                Shape::Switch => {}
                Shape::Line
                | Shape::SwitchOrLine
                | Shape::Number
                | Shape::Pairs(_)
                | Shape::Lines
                | Shape::List
                | Shape::Words
                | Shape::Choice(_) => {
                    let values = matches.get_many::<String>(flag.long).into_iter().flatten();
                    said.extend(values.map(|value| (field, value.clone())));
                }
            }
        }
        Ok(Self { said })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::{Value, json};

    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        options: TaskOptions,
        #[command(flatten)]
        new: NewTaskOptions,
    }

    fn patch(line: &str) -> Result<Patch, InputError> {
        let line = Line::try_parse_from(line.split_whitespace()).expect("the options are known");
        let mut patch = line.options.patch()?;
        patch.lay_over(line.new.patch()?);
        Ok(patch)
    }

    fn check(line: &str, expect: &Value) {
        let patch = patch(line).unwrap_or_else(|failure| panic!("{line}: {failure:?}"));
        let sent = serde_json::to_value(&patch).expect("plain data");
        assert_eq!(&sent, expect, "{line}");
        let read: Patch = serde_json::from_value(sent).expect("the server reads it");
        assert_eq!(read, patch, "{line}");
    }

    #[test]
    fn what_is_not_said_is_not_sent() {
        check("", &json!({}));
    }

    #[test]
    fn each_option_has_its_field() {
        check("-g 2", &json!({"gpus": 2, "gpu_model": null}));
        check(
            "--gpus=A100:4 --vram 40G",
            &json!({"gpus": 4, "gpu_model": "A100", "gpu_memory": 40_u64 << 30}),
        );
        check("-c 8 --mem 1G -t 90m", &json!({"cpus": 8, "memory": 1 << 30, "time_limit": 5_400}));
        check("-t none", &json!({"time_limit": null}));
        check("-w gpu1", &json!({"node": {"name": "gpu1"}}));
        check("-w rack=7", &json!({"node": {"label": {"key": "rack", "value": "7"}}}));
        check(
            "-p -3 --urgent --preemptible",
            &json!({"priority": -3, "urgent": true, "preemptible": true}),
        );
        check("--retries 2 --hold", &json!({"retries": 2, "retry_on": [], "hold": true}));
        check("--retries 2:cuda_oom", &json!({"retries": 2, "retry_on": ["cuda_oom"]}));
        check("--begin 2026-11-20T22:00:00Z", &json!({"begin": "2026-11-20T22:00:00Z"}));
        check(
            "-d afterok:12,afterany:14",
            &json!({"after": [{"task": 12, "kind": "after_ok"}, {"task": 14, "kind": "after_any"}]}),
        );
        check(
            "-J a --description b --project c",
            &json!({"name": "a", "description": "b", "project": "c"}),
        );
        check("--label a=1 --label b=2", &json!({"labels": {"a": "1", "b": "2"}}));
        check(
            "--dir /tmp --env A=1 --shell",
            &json!({"directory": "/tmp", "variables": {"A": "1"}, "shell": true}),
        );
        check("--shell=/bin/zsh", &json!({"shell": true, "shell_program": "/bin/zsh"}));
        check(
            "--gpu-arg=--gpus= --gpu-env uuid",
            &json!({"gpu_argument": "--gpus=", "gpus_by_uuid": true}),
        );
        check(
            "--grid a=1,2 --array %2",
            &json!({"array": {"indices": [], "at_once": 2, "grid": [{"name": "a", "values": ["1", "2"]}]}}),
        );
        check("--array 0-2%1", &json!({"array": {"indices": [0, 1, 2], "at_once": 1}}));
        check(
            "--exclusive --nodes 1",
            &json!({"nodes": 1, "shared": false, "exclusive": true, "idle_util": 0}),
        );
        check("-N 3 -g 2", &json!({"nodes": 3, "gpus": 2, "gpu_model": null}));
        check("--prefer gpu1", &json!({"prefer": {"name": "gpu1"}}));
        check("--prefer d=a", &json!({"prefer": {"label": {"key": "d", "value": "a"}}}));
        check(
            "--shared --vram 20G --idle-util 50",
            &json!({
                "gpu_memory": 20_u64 << 30, "shared": true, "exclusive": false, "idle_util": 50,
            }),
        );
        check("--resource a:2 --resource b", &json!({"resources": {"a": 2, "b": 1}}));
        check(
            "--notify start,end --notify fail:ops",
            &json!({"notify": [{"on": ["start", "end"]}, {"on": ["fail"], "to": "ops"}]}),
        );
        check("--conda torch", &json!({"python": {"conda": "torch"}}));
        check("--venv /opt/v", &json!({"python": {"venv": "/opt/v"}}));
    }

    #[test]
    fn output_files() {
        check("--output a", &json!({"output": {"both": "a"}}));
        check("--logpath a/", &json!({"output": {"both": "a/"}}));
        check(
            "--stdout a --stderr stdout",
            &json!({"output": {"stdout": {"append": {"path": "a"}}, "stderr": null}}),
        );
        check("--stderr b --truncate", &json!({"output": {"stderr": {"truncate": {"path": "b"}}}}));
        check("--stdout /dev/null", &json!({"output": {"stdout": "discard"}}));
        assert!(patch("--truncate").is_err());
    }
}

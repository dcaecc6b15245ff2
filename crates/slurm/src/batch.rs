//! Where the options of a job come from: lines of its script, variables, the command line; each wins over those before it.

use danlu_messages::{slurm as msg, spec as spec_msg};
use danlu_spec::input_error::InputError;

use crate::getopt::{self, Given};
use crate::options::{Program, TakesValue};

/// Each is taken apart on its own; people write a dozen.
const MOST_LINES: usize = 200;

/// The `#SBATCH` lines before the first command. `name` is how the script is called.
pub fn script_options(name: &str, source: &str) -> Result<Vec<Given>, InputError> {
    let mut options = Vec::new();
    let head = source.lines().enumerate().take_while(|(_, line)| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    });
    for (place, line) in head {
        let Some(words) = line.strip_prefix("#SBATCH") else { continue };
        if !words.starts_with(char::is_whitespace) {
            continue;
        }
        if options.len() > MOST_LINES {
            let message = spec_msg::too_many_option_lines(&name, &MOST_LINES);
            return Err(InputError::refused(message).hint(spec_msg::say_it_in_fewer()));
        }
        let at = spec_msg::name_line_number(&name, &(place + 1));
        let words = words.trim();
        // A remark may follow.
        let words = words.split(" #").next().unwrap_or_default();
        let words = shlex::split(words)
            .ok_or_else(|| InputError::usage(spec_msg::unclosed_quote()).at(&at))?;
        let line = getopt::read(Program::Sbatch, &words).map_err(|error| error.at(&at))?;
        if let Some(word) = line.operands.first() {
            return Err(InputError::usage(spec_msg::what_is_not_supported(word))
                .hint(spec_msg::option_expected())
                .at(&at));
        }
        options.extend(line.options);
    }
    Ok(options)
}

/// `SBATCH_PARTITION` and so on. A switch is on whatever its value is.
pub fn variable_options(program: Program, variable: impl Fn(&str) -> Option<String>) -> Vec<Given> {
    let Some(prefix) = program.variable_prefix() else { return Vec::new() };
    let rows = program.options().filter(|row| !row.variable.is_empty());
    rows.filter_map(|row| {
        let written = format!("{prefix}{}", row.variable);
        let value = variable(&written)?;
        let value = match row.value {
            TakesValue::No => None,
            TakesValue::Optional => Some(value).filter(|value| !value.is_empty()),
            TakesValue::Required => Some(value),
        };
        Some(Given { row, value, written })
    })
    .collect()
}

/// A script has to say what runs it, as `sbatch` wants it.
pub fn check_script(source: &str) -> Result<(), InputError> {
    if source.is_empty() {
        return Err(InputError::usage(msg::script_is_empty()));
    }
    if source.contains("\r\n") {
        return Err(InputError::usage(msg::script_has_dos_lines()).hint("dos2unix FILE"));
    }
    if !source.starts_with("#!") {
        return Err(
            InputError::usage(msg::script_has_no_interpreter()).hint(msg::add_an_interpreter())
        );
    }
    Ok(())
}

/// What `--wrap` makes of a line.
pub fn wrapped(line: &str) -> String {
    format!("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Submitter;
    use crate::job::JobOptions;
    use crate::options::Act;
    use serde_json::{Value, json};

    fn request(
        script: &str,
        variables: &[(&str, &str)],
        words: &[&str],
    ) -> Result<Value, InputError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut options = script_options("job.sh", script)?;
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        options.extend(variable_options(Program::Sbatch, variable));
        options.extend(getopt::read(Program::Sbatch, &words)?.options);
        let by =
            Submitter { user: "ann".into(), directory: "/home/ann".into(), ..Submitter::default() };
        let request = JobOptions::of(options).request(&by, "job.sh")?;
        let mut value = serde_json::to_value(request.patch).expect("plain data");
        value.as_object_mut().expect("an object").remove("variables");
        Ok(value)
    }

    fn of(words: &[&str]) -> Value {
        request("#!/bin/sh\n", &[], words).expect("it is understood")
    }

    #[test]
    fn the_command_line_wins_over_variables_and_they_over_the_script() {
        let script = "#!/bin/bash\n#SBATCH -t 10 -J script # a remark\n#SBATCH --gres=gpu:1\n\ntrue\n#SBATCH -J late\n";
        let variables = [("SBATCH_TIMELIMIT", "20"), ("SBATCH_JOB_NAME", "variable")];
        let got = request(script, &variables, &["--job-name=line"]).expect("fine");
        assert_eq!(
            (&got["name"], &got["time_limit"], &got["gpus"]),
            (&json!("line"), &json!(1200), &json!(1))
        );
        let got = request(script, &[], &["--gpus=2"]).expect("fine");
        assert_eq!((&got["name"], &got["gpus"]), (&json!("script"), &json!(2)));
    }

    #[test]
    fn options_become_the_fields_of_a_task() {
        let plain = json!({"name": "job.sh", "gpus": 0, "output": {"stdout": {"truncate": {"path": "slurm-{task_id}.out"}}}});
        assert_eq!(of(&[]), plain);
        for (words, key, value) in [
            (&["--gres=gpu:a100:2"][..], "gpus", json!(2)),
            (&["--gres=gpu:a100:2"], "gpu_model", json!("a100")),
            (&["--gpus-per-task=2", "-n", "3"], "gpus", json!(6)),
            (&["--gpus", "v100:4"], "gpus", json!(4)),
            (&["-c", "4"], "cpus", json!(4)),
            (&["-c4", "-n2"], "cpus", json!(8)),
            (&["--cpus-per-gpu=4", "-G2"], "cpus", json!(8)),
            (&["--mem=2G"], "memory", json!(2_u64 << 30)),
            (&["--mem=4GB"], "memory", json!(4_u64 << 30)),
            (&["--mem=512"], "memory", json!(512_u64 << 20)),
            (&["--mem-per-cpu=1G", "-c3"], "memory", json!(3_u64 << 30)),
            (&["--mem-per-gpu=1G", "-G2"], "memory", json!(2_u64 << 30)),
            (&["--mem=0"], "memory", Value::Null),
            (&["-t", "1-0"], "time_limit", json!(86_400)),
            (&["-t", "90"], "time_limit", json!(5_400)),
            (&["-t", "1:30"], "time_limit", json!(90)),
            (&["--time=UNLIMITED"], "time_limit", Value::Null),
            (&["-w", "gpu1"], "node", json!({"name": "gpu1"})),
            (&["-N", "2", "--gpus=4"], "nodes", json!(2)),
            (&["-N", "2", "--gpus=4"], "gpus", json!(2)),
            (&["-C", "gpu=a100"], "node", json!({"label": {"key": "gpu", "value": "a100"}})),
            (&["-C", "a100"], "node", Value::Null),
            (&["-H"], "hold", json!(true)),
            (&["-A", "lab"], "project", json!("lab")),
            (&["--comment", "why"], "description", json!("why")),
            (&["--mail-type=END"], "notify", json!([{"on": ["end"]}])),
            (&["-o", "/dev/null"], "output", json!({"stdout": "discard"})),
            (
                &["-o", "%x.%u", "-e", "%j.err", "--open-mode=append"],
                "output",
                json!({"stdout": {"append": {"path": "job.sh.ann"}}, "stderr": {"append": {"path": "{task_id}.err"}}}),
            ),
            (
                &["-a", "0-3%2"],
                "output",
                json!({"stdout": {"truncate": {"path": "slurm-{array_id}_{array_index}.out"}}}),
            ),
        ] {
            assert_eq!(of(words)[key], value, "{words:?}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        for words in [
            &["--gres=shard:1"][..],
            &["-w", "a,b"],
            &["-d", "afterok:1?afterok:2"],
            &["-d", "after:x"],
            &["-n", "0"],
            &["-n", "many"],
            &["--mem=lots"],
            &["--open-mode=x"],
            &["-N3", "-G", "4"],
            &["-i", "file"],
            &["-o", "%4a"],
        ] {
            let error = request("#!/bin/sh\n", &[], words).expect_err("it is refused");
            assert!(!error.message.is_empty(), "{words:?}");
        }
        let error =
            script_options("job.sh", "#!/bin/sh\n\n#SBATCH --nonsense\n").expect_err("unknown");
        assert!(error.message.contains("line 3"), "{error:?}");
        assert!(script_options("job.sh", "#!/bin/sh\n#SBATCH job\n").is_err());
    }

    #[test]
    fn dependencies_name_jobs_arrays_and_names() {
        let words = ["-d", "afterok:1:2_3,afterany:4,singleton"].map(str::to_owned);
        let options = JobOptions::of(getopt::read(Program::Sbatch, &words).expect("fine").options);
        assert!(options.has(Act::Dependency));
        let request = options.request(&Submitter::default(), "x").expect("fine");
        assert!(request.singleton);
        let jobs: Vec<u64> = request.after.iter().map(|after| after.job.job).collect();
        assert_eq!(jobs, [1, 2, 4]);
    }

    #[test]
    fn scripts_have_an_interpreter() {
        assert!(check_script("#!/bin/sh\ntrue\n").is_ok());
        for wrong in ["", "echo\n", "#!/bin/sh\r\ntrue\r\n"] {
            assert!(check_script(wrong).is_err(), "{wrong:?}");
        }
        assert!(wrapped("echo $1").starts_with("#!/bin/sh\n"));
    }
}

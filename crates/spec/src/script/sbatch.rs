//! `#SBATCH` lines that `danlu submit` and the pages read: a table from Slurm's options to the fields of a task. An option
//! that would change the meaning is refused; one that means nothing here is told.

use super::mail::Mail;
use crate::field::Field;
use crate::input_error::InputError;
use crate::parse::amount::parse_bytes_in;
use crate::patch::{Change, Patch};
use danlu_messages::spec as msg;

/// What an option of `sbatch` does.
#[derive(Clone, Copy)]
enum Effect {
    /// Sets this field; Slurm writes its value as Danlu does.
    Sets(Field),
    /// Turns this field on; the option takes no value.
    Enables(Field),
    /// Sets fields from a value in Slurm's notation.
    Converts(fn(&Written, &mut ScriptLine) -> Result<(), InputError>),
    /// No effect; the option takes no value.
    Ignored,
    /// Its value means nothing here; who gives it is told.
    Meaningless,
    /// No effect with this value, refused with any other.
    Only(&'static str),
    /// Refused; the function says what to write instead.
    Refused(fn() -> &'static str),
}

use Effect::{Converts, Enables, Ignored, Meaningless, Only, Refused, Sets};

/// Long and short names of Slurm's options. What is not listed is refused.
const OPTIONS: &[(&[&str], Effect)] = &[
    (&["job-name", "J"], Sets(Field::Name)),
    (&["output", "o"], Converts(|file, line| file_name(Field::Output, file, line))),
    (&["error", "e"], Converts(|file, line| file_name(Field::Stderr, file, line))),
    (&["time", "t"], Sets(Field::Time)),
    (&["gres"], Converts(gres)),
    (&["gpus", "G"], Converts(|count, line| gpus(count, line, true))),
    (&["gpus-per-node", "gpus-per-task"], Converts(|count, line| gpus(count, line, false))),
    (&["cpus-per-task", "c"], Sets(Field::Cpus)),
    (&["mem"], Converts(mem)),
    (&["array", "a"], Sets(Field::Array)),
    (&["dependency", "d"], Sets(Field::After)),
    (&["chdir", "D"], Sets(Field::Dir)),
    (&["comment"], Sets(Field::About)),
    (&["account", "A"], Sets(Field::Project)),
    (&["nodelist", "w"], Sets(Field::Node)),
    (&["begin", "b"], Sets(Field::Begin)),
    (&["export"], Converts(export)),
    (&["hold", "H"], Enables(Field::Hold)),
    (&["nodes", "N"], Converts(nodes)),
    (&["ntasks", "n", "ntasks-per-node"], Only("1")),
    (&["open-mode"], Only("append")),
    (&["kill-on-invalid-dep"], Only("yes")),
    (&["requeue", "parsable", "quiet", "Q", "verbose", "v"], Ignored),
    (&["mail-type"], Converts(|list, line| line.mail.set_types(&list.value))),
    (&["mail-user"], Converts(|list, line| line.mail.set_users(&list.value))),
    (
        &["partition", "p", "qos", "q", "constraint", "C", "reservation", "clusters", "M", "wckey"],
        Meaningless,
    ),
    (&["mem-per-cpu", "mem-per-gpu"], Refused(msg::give_the_total_memory)),
];

/// What one line of a script asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptLine {
    pub(super) patch: Patch,
    /// The number of GPUs in `patch` is that of all nodes together.
    pub(super) gpus_of_all_nodes: bool,
    pub(super) mail: Mail,
    /// Options without an effect.
    pub(super) ignored: Vec<String>,
}

/// The words of one `#SBATCH` line. Of an option that is repeated, the last one counts, as with `sbatch`.
pub(super) fn read(words: &[String]) -> Result<ScriptLine, InputError> {
    let mut line = ScriptLine::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, name, joined) = split(word)?;
        let mut value = || match joined {
            Some(value) => Ok(value.to_owned()),
            None => words.next().cloned().ok_or_else(|| needs_value(&option)),
        };
        match effect(name) {
            Sets(field) => {
                let value = value()?;
                Written { option, value }.set(field, &mut line)?;
            }
            Enables(field) => {
                let value = String::new();
                Written { option, value }.set(field, &mut line)?;
            }
            Converts(convert) => {
                let value = value()?;
                convert(&Written { option, value }, &mut line)?;
            }
            Ignored => {}
            Meaningless => {
                value()?;
                // A name for accounts, which have no names here.
                if name != "wckey" {
                    line.ignored.push(option);
                }
            }
            Only(possible) => {
                let value = value()?;
                if value != possible {
                    let hint = msg::only_flag_only_is_possible_here(&option, &possible);
                    return Err(Written { option, value }.unsupported().hint(hint));
                }
            }
            Refused(instead) => return Err(unsupported(&option).hint(instead())),
        }
    }
    Ok(line)
}

fn effect(name: &str) -> Effect {
    let row = OPTIONS.iter().find(|(names, _)| names.contains(&name));
    row.map_or(Refused(msg::remove_the_line), |(_, effect)| *effect)
}

/// An option as the script has it, so that messages name what its author wrote.
struct Written {
    /// `--nodes`, `-N`.
    option: String,
    value: String,
}

impl Written {
    fn set(&self, field: Field, line: &mut ScriptLine) -> Result<(), InputError> {
        self.set_to(field, &self.value, line)
    }

    fn set_to(&self, field: Field, text: &str, line: &mut ScriptLine) -> Result<(), InputError> {
        field.read(text, &mut line.patch).map_err(|reason| self.unreadable(&reason))
    }

    fn unsupported(&self) -> InputError {
        let Written { option, value } = self;
        let separator = if option.starts_with("--") { "=" } else { " " };
        unsupported(&format!("{option}{separator}{value}"))
    }

    fn unreadable(&self, reason: &str) -> InputError {
        let message = msg::argument_cannot_be_value_reason(&self.option, &self.value, &reason);
        InputError::usage(message)
    }
}

/// As it is shown, its name, and a value that is written together with it: `--time=5`, `-t5`.
fn split(word: &str) -> Result<(String, &str, Option<&str>), InputError> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        return Ok((format!("--{name}"), name, value));
    }
    let short = word.strip_prefix('-').filter(|rest| rest.is_char_boundary(1) && !rest.is_empty());
    let Some(short) = short else {
        return Err(unsupported(word).hint(msg::option_expected()));
    };
    let (name, value) = short.split_at(1);
    let value = value.strip_prefix('=').unwrap_or(value);
    Ok((format!("-{name}"), name, Some(value).filter(|value| !value.is_empty())))
}

/// `2` or `2-2`: an exact number.
fn nodes(count: &Written, line: &mut ScriptLine) -> Result<(), InputError> {
    let (least, most) = count.value.split_once('-').unwrap_or((&count.value, &count.value));
    match least.parse::<u32>() {
        // The default.
        Ok(1) if least == most => Ok(()),
        Ok(nodes @ 1..) if least == most => {
            line.patch.nodes = Change::Set(nodes);
            Ok(())
        }
        Ok(_) | Err(_) => Err(count.unsupported().hint(msg::give_exact_nodes())),
    }
}

fn gpus(count: &Written, line: &mut ScriptLine, of_all_nodes: bool) -> Result<(), InputError> {
    count.set(Field::Gpus, line)?;
    line.gpus_of_all_nodes = of_all_nodes;
    Ok(())
}

/// `gpu:2`, `gpu:a100:2`, `gpu`: of each node.
fn gres(list: &Written, line: &mut ScriptLine) -> Result<(), InputError> {
    let wrong = || list.unsupported().hint("--gres=gpu:2, --gres=gpu:a100:2");
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // `(S:0-1)` after it names sockets.
    let resource = list.value.split('(').next().unwrap_or_default();
    let gpus = match resource.split(':').collect::<Vec<_>>().as_slice() {
        _ if resource.contains(',') => return Err(wrong()),
        ["gpu"] => "1".to_owned(),
        ["gpu", count] if is_number(count) => (*count).to_owned(),
        ["gpu", model] => format!("{model}:1"),
        ["gpu", model, count] => format!("{model}:{count}"),
        _ => return Err(wrong()),
    };
    list.set_to(Field::Gpus, &gpus, line)?;
    line.gpus_of_all_nodes = false;
    Ok(())
}

/// A number without a unit is megabytes.
fn mem(size: &Written, line: &mut ScriptLine) -> Result<(), InputError> {
    if size.value == "0" {
        return Err(size.unsupported().hint(msg::say_how_much_mem_64g()));
    }
    let bytes = parse_bytes_in(&size.value, 1 << 20).map_err(|reason| size.unreadable(&reason))?;
    line.patch.memory = Change::Set(bytes);
    Ok(())
}

/// `ALL`, `ALL,A=1,B=2`.
fn export(list: &Written, line: &mut ScriptLine) -> Result<(), InputError> {
    for part in list.value.split(',') {
        match part {
            "ALL" => {}
            pair if pair.contains('=') => list.set_to(Field::Env, pair, line)?,
            _ => {
                let hint = msg::environment_always_captured();
                return Err(list.unsupported().hint(hint));
            }
        }
    }
    Ok(())
}

/// `%j`, `%A`, `%a` and `%N` as the placeholders of Danlu.
fn file_name(field: Field, file: &Written, line: &mut ScriptLine) -> Result<(), InputError> {
    let mut name = String::new();
    let mut rest = file.value.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        name += match rest.next() {
            Some('%') => "%",
            Some('j' | 'J') => "{task_id}",
            Some('A') => "{array_id}",
            Some('a') => "{array_index}",
            Some('N') => "{node}",
            Some(_) | None => return Err(file.unsupported().hint(msg::j_a_a_and_n_are_known())),
        };
    }
    file.set_to(field, &name, line)
}

fn unsupported(what: &str) -> InputError {
    InputError::refused(msg::what_is_not_supported(&what))
}

fn needs_value(option: &str) -> InputError {
    InputError::usage(msg::argument_needs_a_value(&option))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input_error::InputErrorKind;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn read_slurm(line: &str) -> Result<Patch, InputError> {
        read(&words(line)).map(|line| line.patch)
    }

    #[test]
    fn the_common_options_have_their_equals() {
        for (slurm, danlu) in [
            ("--job-name=a", "--name=a"),
            ("-J a", "--name=a"),
            ("--output=a.out", "--output=a.out"),
            ("-o 100%%.out", "--output=100%.out"),
            ("-o out/%A_%a-%j.txt", "--output=out/{array_id}_{array_index}-{task_id}.txt"),
            ("-e a.err", "--stderr=a.err"),
            ("--time=1-00:00:00", "--time=1-00:00:00"),
            ("-t 30", "--time=30"),
            ("-t30", "--time=30"),
            ("--gres=gpu:2", "--gpus=2"),
            ("--gres=gpu:a100:2", "--gpus=a100:2"),
            ("--gres gpu:a100", "--gpus=a100:1"),
            ("--gres=gpu:2(S:0)", "--gpus=2"),
            ("--gpus=v100:1", "--gpus=v100:1"),
            ("--gpus-per-node=4", "--gpus=4"),
            ("-c 8", "--cpus=8"),
            ("--mem=16G", "--mem=17179869184"),
            ("--mem=1024", "--mem=1073741824"),
            ("-a 0-9%2", "--array=0-9%2"),
            ("-d afterok:12:13", "--after=afterok:12:13"),
            ("-D /tmp", "--dir=/tmp"),
            ("--account=lab", "--project=lab"),
            ("--export=ALL,A=1", "--env=A=1"),
            ("--hold", "--hold"),
            ("--begin=now+1hour", "--begin=now+1hour"),
            ("-N 1 -n 1 --ntasks-per-node=1 --requeue", ""),
            ("--nodes=2 --ntasks-per-node=1", "--nodes=2"),
            ("-N 4-4", "--nodes=4"),
        ] {
            let expect = super::super::danlu_line(&words(danlu)).expect(danlu);
            // A time that is relative to now is a little later in the second line.
            let without_begin =
                |patch: Patch| (patch.begin.is_change(), patch.only(|key| key != "begin"));
            let read = read_slurm(slurm).expect(slurm);
            assert_eq!(without_begin(read), without_begin(expect), "{slurm}");
        }
    }

    #[test]
    fn what_has_no_equal_is_refused() {
        for slurm in [
            "--nodes=2-4",
            "--nodes=0",
            "-n 4",
            "--mail-type=STAGE_OUT",
            "--gres=shard:1",
            "--gres=gpu:1,nvme:1",
            "--mem=0",
            "--mem-per-cpu=4G",
            "--export=NONE",
            "--output=%x.out",
            "--open-mode=truncate",
            "--exclusive",
            "job.sh",
            "-",
        ] {
            let failure = read_slurm(slurm).expect_err(slurm);
            assert_eq!(failure.kind, InputErrorKind::Refused, "{slurm}");
        }
        assert_eq!(read_slurm("--time").expect_err("no value").kind, InputErrorKind::Usage);
    }

    #[test]
    fn errors_name_the_option_that_was_written() {
        let message = |line: &str| read_slurm(line).expect_err(line).message;
        assert_eq!(message("-N 2-4"), "`-N 2-4` is not supported");
        assert_eq!(message("--nodes=2-4"), "`--nodes=2-4` is not supported");
        assert_eq!(message("-n 4"), "`-n 4` is not supported");
        for (line, start) in [
            ("-t soon", "invalid value `soon` for `-t`: "),
            ("--time=soon", "invalid value `soon` for `--time`: "),
            ("-c many", "invalid value `many` for `-c`: "),
            ("--cpus-per-task=many", "invalid value `many` for `--cpus-per-task`: "),
            ("--gres=gpu:a100:x", "invalid value `gpu:a100:x` for `--gres`: "),
            ("--mem=lots", "invalid value `lots` for `--mem`: "),
            ("-d after:7", "invalid value `after:7` for `-d`: "),
        ] {
            assert!(message(line).starts_with(start), "{}", message(line));
        }
    }

    #[test]
    fn of_repeated_options_the_last_one_counts() {
        let gpus = |line: &str| {
            let line = read(&words(line)).expect(line);
            (line.patch.gpus, line.gpus_of_all_nodes)
        };
        assert_eq!(gpus("--gpus=8 --gres=gpu:4"), (Change::Set(4), false));
        assert_eq!(gpus("--gres=gpu:4 -G 8"), (Change::Set(8), true));
        assert_eq!(gpus("--gpus=8 --time=5"), (Change::Set(8), true));
        assert_eq!(gpus("--time=5"), (Change::Keep, false));
    }

    #[test]
    fn an_option_stands_once_in_the_table() {
        let names: Vec<&str> = OPTIONS.iter().flat_map(|(names, _)| *names).copied().collect();
        let unique: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), unique.len());
    }
}

//! How `getopt_long` reads a command line: `-n4`, `-n 4`, `--ntasks=4`, `--nta 4`, bundled switches, and where it ends.

use danlu_messages::slurm as msg;
use danlu_spec::input_error::InputError;

use crate::options::{Act, OptionRow, Program, Support, TakesValue};

/// An option of a command line, of a variable or of a line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub row: &'static OptionRow,
    /// Left out where it was not written.
    pub value: Option<String>,
    /// `--partition`, `-p`, `SBATCH_PARTITION`: as its author wrote it.
    pub written: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub options: Vec<Given>,
    /// What is no option.
    pub operands: Vec<String>,
}

/// Commands that start programs end their options at the first operand; others take operands between options.
pub fn read(program: Program, words: &[String]) -> Result<CommandLine, InputError> {
    let mut line = CommandLine::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut next = || words.next().cloned();
        if word == "--" {
            line.operands.extend(words.cloned());
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            line.options.push(long_option(program, long, &mut next)?);
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            short_options(program, letters, &mut next, &mut line.options)?;
        } else {
            line.operands.push(word.clone());
            if program.starts_programs() {
                line.operands.extend(words.cloned());
                break;
            }
        }
    }
    Ok(line)
}

fn long_option(
    program: Program,
    word: &str,
    next: &mut dyn FnMut() -> Option<String>,
) -> Result<Given, InputError> {
    let (name, joined) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let row = find_long(program, name)?;
    let written = format!("--{}", row.long);
    let value = match (row.value, joined) {
        (TakesValue::No, Some(_)) => {
            return Err(usage(program, &msg::option_takes_no_value(&written)));
        }
        (TakesValue::No | TakesValue::Optional, None) => None,
        (TakesValue::Required | TakesValue::Optional, Some(value)) => Some(value),
        (TakesValue::Required, None) => Some(
            next().ok_or_else(|| usage(program, &msg::option_requires_an_argument(&written)))?,
        ),
    };
    Ok(Given { row, value, written })
}

/// By its whole name, or by a beginning that no other option has.
fn find_long(program: Program, name: &str) -> Result<&'static OptionRow, InputError> {
    let rows = || program.options().filter(|row| !row.long.is_empty());
    if let Some(row) = rows().find(|row| row.long == name) {
        return Ok(row);
    }
    let unknown = || usage(program, &msg::unrecognized_option(&format!("--{name}")));
    let begun: Vec<&'static OptionRow> = rows().filter(|row| row.long.starts_with(name)).collect();
    match begun.as_slice() {
        [] => Err(unknown()),
        [row] => Ok(row),
        // Different names of one thing.
        [first, rest @ ..]
            if rest.iter().all(|row| row.support == first.support && first.support.is_done()) =>
        {
            Ok(first)
        }
        several => {
            let names: Vec<String> = several.iter().map(|row| format!("--{}", row.long)).collect();
            Err(usage(program, &msg::ambiguous_option(&format!("--{name}"), &names.join(" "))))
        }
    }
}

fn short_options(
    program: Program,
    letters: &str,
    next: &mut dyn FnMut() -> Option<String>,
    found: &mut Vec<Given>,
) -> Result<(), InputError> {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let written = format!("-{letter}");
        let row = program.options().find(|row| row.short == Some(letter));
        let row = row.ok_or_else(|| usage(program, &msg::unrecognized_option(&written)))?;
        let joined = rest.as_str();
        let joined = joined.strip_prefix('=').unwrap_or(joined).to_owned();
        let value = match row.value {
            TakesValue::No => None,
            TakesValue::Optional if joined.is_empty() => None,
            TakesValue::Required if joined.is_empty() => Some(
                next()
                    .ok_or_else(|| usage(program, &msg::option_requires_an_argument(&written)))?,
            ),
            TakesValue::Required | TakesValue::Optional => Some(joined),
        };
        let ends = row.value != TakesValue::No;
        found.push(Given { row, value, written });
        if ends {
            break;
        }
    }
    Ok(())
}

fn usage(program: Program, message: &str) -> InputError {
    InputError::usage(message).hint(msg::try_help(&program.name()))
}

/// A constraint that names no label has none.
fn effect(given: &Given) -> Support {
    match given.row.support {
        Support::Does(Act::Constraint) if label(given).is_none() => Support::Ignored,
        support => support,
    }
}

/// `KEY=VALUE` of a constraint, as `sinfo` shows labels.
pub(crate) fn label(given: &Given) -> Option<(&str, &str)> {
    let (key, value) = given.value.as_deref()?.split_once('=')?;
    let plain = |text: &str| !text.is_empty() && !text.contains(['&', '|', '[', '*', '(', '=']);
    (plain(key) && plain(value)).then_some((key, value))
}

/// What was given without an effect, each once; where a flag would change the meaning, or everything has to have an effect,
/// that is an error.
pub fn without_effect(options: &[Given], strict: bool) -> Result<Vec<String>, InputError> {
    let mut ignored: Vec<String> = Vec::new();
    for given in options {
        match effect(given) {
            Support::Does(_) | Support::Silent => {}
            Support::Refused => {
                return Err(InputError::refused(msg::option_not_supported(&given.written))
                    .hint(msg::see_the_table()));
            }
            Support::Ignored if strict => {
                return Err(InputError::refused(msg::option_has_no_effect(&given.written))
                    .hint(msg::strict_is_set()));
            }
            Support::Ignored => {
                if !ignored.contains(&given.written) {
                    ignored.push(given.written.clone());
                }
            }
        }
    }
    Ok(ignored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn given(program: Program, line: &str) -> Vec<(String, Option<String>)> {
        let line = read(program, &words(line)).expect(line);
        let option = |given: Given| (given.row.long.to_owned(), given.value);
        line.options.into_iter().map(option).collect()
    }

    #[test]
    fn values_are_joined_apart_or_left_out() {
        let four = [("ntasks".to_owned(), Some("4".to_owned()))];
        for line in ["-n4", "-n 4", "-n=4", "--ntasks=4", "--ntasks 4"] {
            assert_eq!(given(Program::Sbatch, line), four, "{line}");
        }
        assert_eq!(given(Program::Sbatch, "-HW"), [("hold".into(), None), ("wait".into(), None)]);
        assert_eq!(given(Program::Sbatch, "--parti x"), [("partition".into(), Some("x".into()))]);
        assert_eq!(given(Program::Sbatch, "--nice"), [("nice".into(), None)]);
        assert_eq!(given(Program::Sbatch, "--nice=5"), [("nice".into(), Some("5".into()))]);
        assert_eq!(
            given(Program::Squeue, "-ho %i"),
            [("noheader".into(), None), ("format".into(), Some("%i".into()))]
        );
    }

    #[test]
    fn the_command_begins_at_the_first_word_that_is_no_option() {
        let line = read(Program::Srun, &words("-n 2 python -n 7 --x")).expect("fine");
        assert_eq!(line.options.len(), 1);
        assert_eq!(line.operands, words("python -n 7 --x"));
        let line = read(Program::Sbatch, &words("-H -- -odd.sh -n")).expect("fine");
        assert_eq!(line.operands, words("-odd.sh -n"));
        let line = read(Program::Scancel, &words("12 --signal USR1 13")).expect("fine");
        assert_eq!((line.options.len(), line.operands), (1, words("12 13")));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |line: &str| read(Program::Sbatch, &words(line)).expect_err(line).message;
        assert_eq!(message("--nonsense"), "unrecognized option '--nonsense'");
        assert_eq!(message("--wrap"), "option '--wrap' requires an argument");
        assert_eq!(message("--hold=yes"), "option '--hold' doesn't allow an argument");
        assert!(message("--gpus-per=2").contains("ambiguous"), "{}", message("--gpus-per=2"));
        assert_eq!(message("-?"), "unrecognized option '-?'");
    }

    #[test]
    fn what_has_no_effect_is_told_once_or_refused() {
        let check = |line: &str, strict| {
            without_effect(&read(Program::Sbatch, &words(line)).expect(line).options, strict)
        };
        let partition = "-p gpu --qos=high -p big --time 5";
        assert_eq!(check(partition, false), Ok(vec!["-p".into(), "--qos".into()]));
        assert!(check(partition, true).expect_err("strict").message.contains("-p"));
        assert_eq!(check("-C a100", false), Ok(vec!["-C".into()]));
        assert_eq!(check("-C gpu=a100", true), Ok(vec![]));
        let error = check("--exclude=n1", false).expect_err("it would change the meaning");
        assert!(error.message.contains("--exclude"), "{error:?}");
        assert_eq!(check("--time 5", true), Ok(vec![]));
    }
}

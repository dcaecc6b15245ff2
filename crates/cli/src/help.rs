//! Help and usage errors, with clap's own messages in the user's language.
//!
//! It takes a while to put together, so that only those who ask for it pay for it.

use std::process::ExitCode;

use clap::{Command, CommandFactory as _, error::ErrorKind};
use danlu_messages::cli::program as msg;

use crate::{GlobalArguments, commands::Verb, failure::Failure};

/// What is wrong with this command line, or the help that it asks for.
pub(crate) fn explain() -> ExitCode {
    let command = command();
    match command.clone().try_get_matches() {
        Err(error) if shows_help_or_version(&error) => show(&error),
        Err(error) => Failure::usage(&error, &command).report(),
        Ok(_) => unreachable!("the same command line was refused a moment ago"),
    }
}

/// `danlu help`, `danlu help VERB`.
pub(crate) fn show_verb(path: &[String]) -> ExitCode {
    let command = command();
    let words = ["danlu"].into_iter().chain(path.iter().map(String::as_str)).chain(["--help"]);
    match command.clone().try_get_matches_from(words) {
        Err(error) if shows_help_or_version(&error) => show(&error),
        Err(error) => Failure::usage(&error, &command).report(),
        Ok(_) => unreachable!("--help is always answered with help"),
    }
}

fn shows_help_or_version(error: &clap::Error) -> bool {
    !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

fn show(help_or_version: &clap::Error) -> ExitCode {
    // A reader that is gone (`danlu --help | head -1`) has seen enough.
    let _ = help_or_version.print();
    ExitCode::from(u8::try_from(help_or_version.exit_code()).unwrap_or(1))
}

/// The command line as clap sees it, ready to be shown.
pub(crate) fn command() -> Command {
    let mut command = Verb::add_all(GlobalArguments::command());
    // Verbs describe themselves when they are built.
    command.build();
    let template = root_template(&command);
    headings(command).mut_subcommands(verb).help_template(template)
}

fn verb(verb: Command) -> Command {
    let usage = msg::usage();
    let gap = msg::nothing();
    let template =
        format!("{{about-with-newline}}\n{usage}{gap}{{usage}}\n\n{{all-args}}{{after-help}}");
    headings(verb)
        .mut_subcommands(self::verb)
        .subcommand_help_heading(msg::verbs())
        .help_template(template)
}

/// Headings of our own, because clap's are in English.
fn headings(command: Command) -> Command {
    let options = msg::options();
    command.mut_args(|arg| match arg.get_help_heading() {
        Some(_) => arg,
        None if arg.is_positional() => arg.help_heading(msg::arguments()),
        None => arg.help_heading(options),
    })
}

/// Verbs in groups, with their other names.
fn root_template(command: &Command) -> String {
    let (usage, gap) = (msg::usage(), msg::nothing());
    let mut out = format!("{{about-with-newline}}\n{usage}{gap}{{usage}}\n");
    for (heading, verbs) in groups() {
        out += &format!("\n{heading}{}\n", msg::colon());
        for name in verbs {
            // A verb that is not there is found by a test.
            let Some(verb) = command.find_subcommand(name) else { continue };
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let others: Vec<&str> = verb.get_all_aliases().collect();
            let others = match others.as_slice() {
                [] => String::new(),
                others => format!("  ({})", others.join(", ")),
            };
            out += &format!("  {name:<12}{about}{others}\n");
        }
    }
    let (options, notes) = (msg::options_colon(), msg::notes());
    out + &format!("\n{options}\n{{options}}\n\n{notes}")
}

type Group = (&'static str, &'static [&'static str]);

fn groups() -> [Group; 5] {
    [
        (
            msg::group_tasks(),
            &["submit", "run", "ls", "top", "show", "why", "logs", "follow", "wait", "debug"],
        ),
        (
            msg::group_change_tasks(),
            &[
                "cancel", "hold", "release", "pause", "resume", "retry", "clone", "edit", "start",
                "move", "extend", "keep", "rm",
            ],
        ),
        (
            msg::group_machines(),
            &[
                "gpus", "gpu", "nodes", "node", "agent", "status", "notify", "report", "metrics",
                "doctor",
            ],
        ),
        (
            msg::group_server(),
            &[
                "up",
                "down",
                "reload",
                "policy",
                "set",
                "user",
                "token",
                "announce",
                "notices",
                "audit",
                "archive",
                "pause-queue",
                "resume-queue",
                "config",
                "service",
                "backup",
                "restore",
                "db",
                "reset",
            ],
        ),
        (
            msg::group_more(),
            &["demo", "sim", "slurm", "slurm-shims", "completions", "man", "version", "help"],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group() {
        let command = command();
        let mut shown: Vec<&str> =
            groups().iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        let mut known: Vec<&str> = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
            .map(Command::get_name)
            .collect();
        shown.sort_unstable();
        known.sort_unstable();
        assert_eq!(shown, known);
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}

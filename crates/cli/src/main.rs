//! `danlu`, the one binary: reads the command line, runs the verb, turns a failure into words and an exit status.

mod commands;
mod failure;
mod language;

use std::process::ExitCode;

use clap::{
    ArgAction, Command, CommandFactory as _, FromArgMatches as _, Parser, error::ErrorKind,
};

use crate::{
    commands::Verb,
    failure::Failure,
    language::{Language, text},
};

#[derive(Debug, Parser)]
#[command(
    name = "danlu",
    version,
    about = text(
        "Danlu shares GPU servers: it queues tasks, places them on GPUs and says why they wait.",
        "丹炉：共享 GPU 服务器的任务管理器。它让任务排队，为任务分配 GPU，并说明任务为何等待。",
    ),
    override_usage = text("danlu VERB [OPTIONS]", "danlu 动词 [选项]"),
    subcommand_help_heading = text("Verbs", "动词"),
    subcommand_value_name = "VERB",
    after_help = text(
        "Examples:\n  \
           danlu demo                             see the scheduler at work, in a few seconds\n  \
           danlu sim --help                       replay a trace of your own cluster\n\n\
         Messages are in English or Chinese: set DANLU_LANG=en or DANLU_LANG=zh.",
        "示例：\n  \
           danlu demo                             几秒钟看懂调度器\n  \
           danlu sim --help                       用您自己集群的记录做回放\n\n\
         界面语言为英文或中文：设置 DANLU_LANG=en 或 DANLU_LANG=zh。",
    ),
    disable_help_flag = true,
    disable_version_flag = true,
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,

    #[arg(short, long, global = true, action = ArgAction::Help, display_order = 900, help = text("Show this help", "显示本帮助"))]
    help: Option<bool>,

    #[arg(short = 'V', long, action = ArgAction::Version, display_order = 901, help = text("Show the version", "显示版本"))]
    version: Option<bool>,
}

fn main() -> ExitCode {
    let command = command();
    let arguments =
        command.clone().try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    let result = match arguments {
        Ok(arguments) => commands::run(arguments.verb),
        Err(error) if shows_help_or_version(&error) => return show(&error),
        Err(error) => Err(Failure::usage(&error, &command)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
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

/// The command line as clap sees it, with clap's own words in the person's language.
fn command() -> Command {
    let mut command = Arguments::command();
    // clap adds its verb `help` while it builds.
    command.build();
    command = command.mut_subcommand("help", |verb| {
        verb.about(text("Show this help, or that of a verb", "显示本帮助，或某个动词的帮助"))
    });
    match Language::current() {
        Language::English => command,
        Language::Chinese => command
            .mut_subcommands(|verb| verb.help_template(CHINESE_VERB_HELP))
            .help_template(CHINESE_HELP),
    }
}

const CHINESE_HELP: &str = "\
{about-with-newline}
用法：{usage}

动词：
{subcommands}

选项：
{options}{after-help}";

const CHINESE_VERB_HELP: &str = "\
{about-with-newline}
用法：{usage}

选项：
{options}{after-help}";

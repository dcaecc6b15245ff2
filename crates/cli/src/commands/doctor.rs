//! `danlu doctor`: what is wrong with this machine, and what to type about it.

mod checks;

use std::{io, process::ExitCode};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::{
    failure::Failure,
    language::text,
    screen::{
        self,
        colour::{self, Colour, paint},
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Check this machine, and say what to fix", "检查本机并说明如何修复"),
    override_usage = text("danlu doctor [OPTIONS]", "danlu doctor [选项]"),
    after_help = text(
        "The exit code is 1 when something has to be fixed.",
        "有需要修复的问题时退出码为 1。",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

/// What one check has found.
#[derive(Debug, Serialize)]
struct Finding {
    verdict: Verdict,
    what: String,
    /// What to do, where there is something to do.
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Fine,
    /// It works, but could be better.
    Note,
    Wrong,
}

pub(crate) fn run(server: Option<&str>, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let findings = checks::all(server);
    if arguments.json {
        screen::print_document(&json!({ "v": 1, "findings": findings }).to_string())?;
    } else {
        let on = colour::wanted(&io::stdout());
        screen::print(&findings.iter().map(|finding| line(finding, on)).collect::<String>())?;
    }
    let wrong = findings.iter().any(|finding| finding.verdict == Verdict::Wrong);
    Ok(ExitCode::from(u8::from(wrong)))
}

fn line(finding: &Finding, on: bool) -> String {
    let (word, colour) = match finding.verdict {
        Verdict::Fine => (text("fine ", "正常"), Colour::Green),
        Verdict::Note => (text("note ", "提示"), Colour::Yellow),
        Verdict::Wrong => (text("wrong", "问题"), Colour::Red),
    };
    let hint = finding.hint.as_ref().map(|hint| format!("       → {hint}\n")).unwrap_or_default();
    format!("{}  {}\n{hint}", paint(word, Some(colour), on), finding.what)
}

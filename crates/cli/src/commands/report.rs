//! `danlu report`: what has been, in sum.

use clap::Args;
use danlu_wire::api::{AccuracyView, Document, Predictions};

use crate::{
    client::{Client, read},
    failure::Failure,
    language::{say, text},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("How good predictions were", "预测准确程度的统计"),
    override_usage = text("danlu report --predictions [--json]", "danlu report --predictions [--json]"),
    after_help = text(
        "Where nobody says how long a task runs, tasks that have ended tell (danlu set predictions).\n\n\
         Examples:\n  danlu report --predictions",
        "没有写明时限时，由已结束的任务来预测（danlu set predictions）。\n\n\
         示例：\n  danlu report --predictions",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, required = true, help = text(
        "How long tasks ran and waited, and what was predicted",
        "任务实际运行与等待多久，以及当时的预测",
    ))]
    predictions: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let document = client.get_document("/reports/predictions")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let told = read::<Document<Predictions>>(&document)?.content.predictions;
    let durations = line(text("how long tasks run", "运行时长"), &told.durations);
    let starts = line(text("how long tasks wait", "等待时长"), &told.starts);
    screen::print(&(durations + &starts))
}

fn line(what: &str, accuracy: &AccuracyView) -> String {
    let compared = accuracy.compared;
    let Some(share) = accuracy.within_25_percent else {
        return say!("{what}: nothing to compare yet\n", "{what}：还没有可比较的任务\n");
    };
    let percent = share * 100.0;
    let bias = accuracy.bias.map(leaning).unwrap_or_default();
    say!(
        "{what}: {compared} predictions, {percent:.0} % within ± 25 %{bias}\n",
        "{what}：{compared} 次预测，{percent:.0} % 误差在 ± 25 % 以内{bias}\n"
    )
}

fn leaning(bias: f64) -> String {
    let percent = bias.abs() * 100.0;
    if bias < 0.0 {
        say!(", {percent:.0} % too short in sum", "，总体偏短 {percent:.0} %")
    } else {
        say!(", {percent:.0} % too long in sum", "，总体偏长 {percent:.0} %")
    }
}

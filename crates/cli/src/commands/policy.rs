//! `danlu policy`: who comes first, shown and changed.

use clap::{Args, Subcommand};

use super::set;
use crate::{
    client::{Client, answers::SettingsAnswer, read},
    failure::Failure,
    language::text,
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Show or change who comes first", "查看或修改调度策略"),
    override_usage = text("danlu policy [show | set NAME]", "danlu policy [show | set 名称]"),
    after_help = text(
        "NAME is an order, or an order and a backfill rule:\n  \
           balance  users in turn, who has few GPUs first (the default)\n  \
           fifo     first come, first served\n  \
           auto     by what ended tasks tell, with a backfill rule of its own\n  \
           sjf      shortest first\n  \
           srtf     shortest rest first, preempts\n  \
           las      least service first, preempts\n\n  \
           none     the first in the queue blocks the others\n  \
           skip     whatever fits starts\n  \
           easy     a later task starts if it does not delay the first (the default)\n\n\
         Examples:\n  danlu policy\n  danlu policy set fifo+easy",
        "名称是次序，或次序加回填规则：\n  \
           balance  用户轮流，占用 GPU 少的优先（默认）\n  \
           fifo     先来先服务\n  \
           auto     由已结束的任务推断，自带回填规则\n  \
           sjf      最短优先\n  \
           srtf     剩余最短优先，可抢占\n  \
           las      已得服务最少优先，可抢占\n\n  \
           none     队首挡住后面的任务\n  \
           skip     放得下的就开始\n  \
           easy     不推迟队首的任务可以先开始（默认）\n\n\
         示例：\n  danlu policy\n  danlu policy set fifo+easy",
    ),
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(about = text("Show the policy", "查看策略"), override_usage = "danlu policy show [--json]")]
    Show {
        #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
        json: bool,
    },
    #[command(about = text("Change it, at once", "修改策略，立即生效"), override_usage = text("danlu policy set NAME", "danlu policy set 名称"))]
    Set {
        #[arg(value_name = "NAME", help = text("Such as balance, or fifo+easy", "如 balance 或 fifo+easy"))]
        name: String,
    },
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let document = match &arguments.what {
        Some(What::Set { name }) => change(client, name)?,
        Some(What::Show { json: true }) => {
            return screen::print_document(&client.get_document("/settings")?);
        }
        Some(What::Show { json: false }) | None => client.get_document("/settings")?,
    };
    let settings = set::flat(&read::<SettingsAnswer>(&document)?.settings);
    let of = |key: &str| {
        settings.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value.as_str())
    };
    screen::print(&format!("{}+{}\n", of("order"), of("backfill")))
}

fn change(client: &Client, name: &str) -> Result<String, Failure> {
    let (order, backfill) = match name.split_once('+') {
        Some((order, backfill)) => (order, Some(backfill)),
        None => (name, None),
    };
    let document = set::change(client, "order", order)?;
    match backfill {
        Some(backfill) => set::change(client, "backfill", backfill),
        None => Ok(document),
    }
}

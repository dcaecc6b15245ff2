//! Tasks that wait for others which are to be cancelled or removed: they too?

use std::io::{self, IsTerminal as _};

use clap::Args;
use danlu_wire::api::{Dependents, Document};

use crate::{
    client::Client,
    failure::Failure,
    language::{say, text},
    screen::{self, confirm::confirm, places},
};

#[derive(Debug, Args)]
pub(super) struct Cascade {
    #[arg(long, help = text(
        "Also cancel all tasks that wait for them",
        "同时取消所有等待它们的任务",
    ))]
    cascade: bool,
}

/// More in one address is asked about in no question.
const MOST_ASKED: usize = 2_000;

impl Cascade {
    /// Whether those that wait go too. A person is asked; a script has to say so.
    pub(super) fn agreed(&self, client: &Client, ids: &[u64], yes: bool) -> Result<bool, Failure> {
        if self.cascade || ids.is_empty() || ids.len() > MOST_ASKED {
            return Ok(self.cascade);
        }
        let list: Vec<String> = ids.iter().map(u64::to_string).collect();
        let document: Document<Dependents> =
            client.get(&format!("/dependents?ids={}", list.join(",")))?;
        let waiting = document.content.ids;
        let count = waiting.len();
        if count == 0 {
            return Ok(false);
        }
        let list = places::list(&waiting);
        if yes || !io::stdin().is_terminal() {
            screen::note(&say!(
                "{count} tasks wait for them and stay: {list} (--cascade cancels them too)",
                "有 {count} 个任务在等待它们，将保留：{list}（--cascade 可一并取消）",
            ));
            return Ok(false);
        }
        confirm(&say!(
            "also cancel {count} tasks that wait for them ({list})?",
            "同时取消等待它们的 {count} 个任务（{list}）？",
        ))
    }
}

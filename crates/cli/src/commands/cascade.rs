//! The option `--cascade` of `cancel` and `rm`: whether tasks that depend on the selected ones are cancelled too.

use std::io::{self, IsTerminal as _};

use clap::Args;
use danlu_messages::cli::cascade as msg;
use danlu_wire::api::{Dependents, Document};

use crate::{
    client::Client,
    failure::Failure,
    screen::{self, confirm::confirm, places},
};

#[derive(Debug, Args)]
pub(super) struct CascadeOption {
    #[arg(long, help = msg::cascade())]
    cascade: bool,
}

/// More in one address is asked about in no question.
const MOST_ASKED: usize = 2_000;

impl CascadeOption {
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
            screen::note(&msg::dependents_kept(&count, &list));
            return Ok(false);
        }
        confirm(&msg::confirm_dependents(&count, &list))
    }
}

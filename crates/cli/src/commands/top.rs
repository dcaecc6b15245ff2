//! `danlu top`: a live screen of GPUs, the queue and the selected task.

use std::{process::ExitCode, sync::Arc};

use clap::Args;
use danlu_messages::cli::top as msg;
use danlu_wire::api::ME;

use crate::{
    client::Query,
    failure::Failure,
    top::{ListSource, PAGE_LINES, TaskScope, TopModel, TopScreen, show},
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_top_options(),
    after_help = msg::help(),
)]
pub(crate) struct TopArguments {
    #[arg(short, long, help = msg::only_mine())]
    mine: bool,
}

pub(crate) fn run(server: Option<&str>, arguments: &TopArguments) -> Result<ExitCode, Failure> {
    let scope = if arguments.mine { TaskScope::Mine } else { TaskScope::Everybody };
    let source: ListSource = Arc::new(|client, wanted| {
        let user = match wanted.scope {
            TaskScope::Everybody => None,
            TaskScope::Mine => Some(ME.to_owned()),
        };
        let text = (!wanted.filter.is_empty()).then(|| wanted.filter.clone());
        let query = Query { user, text, ..Query::default() };
        Ok(client.overview_page(&query, &wanted.place, PAGE_LINES)?)
    });
    show(server, TopModel::new(TopScreen::Top, scope, (0, 0)), &source)
}

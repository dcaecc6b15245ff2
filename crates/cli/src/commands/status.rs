//! `danlu status`: counts of tasks and GPUs, per machine, and the running tasks.

use std::io;

use clap::Args;
use danlu_messages::cli::status as msg;
use danlu_wire::api::{Document, GpuStateName, GpuTotals, NodeView, Status, TaskView};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, read},
    failure::Failure,
    screen::{
        self, amounts, colour, places, states,
        table::{Column, Table},
        tasks, width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_status_options(),
)]
pub(crate) struct StatusArguments {
    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &StatusArguments) -> Result<(), Failure> {
    let document = client.get_document("/status")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let status = read::<Document<Status>>(&document)?.content;
    let mut out = notices::lines(&status.notices);
    out += &totals(&status);
    out += &status.per_node.iter().map(node).collect::<String>();
    if !status.running.is_empty() {
        let on = colour::wanted(&io::stdout());
        out += &format!("\n{}", running(&status.running).render(width::of_stdout(), on));
    }
    screen::print(&out)
}

fn totals(status: &Status) -> String {
    let machines = status.nodes;
    let GpuTotals(gpus) = &status.gpus;
    let (total, free) = (gpus.total(), gpus.of(GpuStateName::Free));
    let (held, foreign) = (gpus.of(GpuStateName::Held), gpus.of(GpuStateName::Foreign));
    let other = total.saturating_sub(free + held + foreign);
    let other = match other {
        0 => String::new(),
        count => msg::count_other(&count),
    };
    let known =
        status.tasks.iter().map(|(state, count)| format!("{count} {}", states::word(*state)));
    let known: Vec<String> = known.collect();
    let tasks = if known.is_empty() { msg::none().to_owned() } else { known.join(msg::comma()) };
    msg::totals(&machines, &total, &free, &held, &foreign, &other, &tasks)
}

fn node(node: &NodeView) -> String {
    let (free, all) = (node.gpus_free, node.gpus);
    let (name, state) = (width::plain(&node.name), states::node(node.state));
    let ids = places::list(&node.tasks);
    let ids = if ids.is_empty() { msg::none().to_owned() } else { ids };
    msg::node_line(&name, &free, &all, &state, &ids)
}

fn running(all: &[TaskView]) -> Table {
    let now = Timestamp::now();
    let mut table = Table::new(vec![
        Column::right(msg::id()),
        Column::left(msg::user()).shrinks(10, 6),
        Column::left(msg::name()).shrinks(16, 8),
        Column::left(msg::state()),
        Column::right(msg::time()),
        Column::left(msg::where_()).shrinks(20, 8),
    ]);
    for task in all {
        let time = tasks::duration(task, now).map_or_else(|| "–".to_owned(), amounts::clock);
        table.row(vec![
            task.id.to_string().into(),
            task.user.as_str().into(),
            tasks::name(task).into(),
            states::word(task.state).into(),
            time.into(),
            places::place(task.node.as_deref(), &task.gpu_ids).into(),
        ]);
    }
    table
}

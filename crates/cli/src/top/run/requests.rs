//! What is asked of the server, each in a thread of its own, so that the screen never waits.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, SyncSender, channel},
    },
    thread,
};

use danlu_messages::cli::top as msg;
use danlu_wire::api::{Act, ActName, Acted, Document, GpuView, Gpus, Overview, TaskStateName};

use super::{Happening, TopInput};
use crate::{
    client::{Client, Query, read},
    commands::explain_wait,
    failure::Failure,
    parse::task_state::{ACTIVE, OPEN},
    screen::tasks,
    top::model::{Holder, Holders, ListRequest, TopAct},
};

/// How the list is read.
pub(crate) type ListSource =
    Arc<dyn Fn(&Client, &ListRequest) -> Result<Overview, Failure> + Send + Sync>;

/// What is read again and again.
pub(super) enum Fetch {
    Tasks(ListRequest),
    Gpus,
}

/// Answers in order; the screen asks for each kind only after the last answer.
pub(super) fn reader(
    client: Client,
    source: ListSource,
    told: SyncSender<Happening>,
) -> Sender<Fetch> {
    let (ask, asked): (Sender<Fetch>, Receiver<Fetch>) = channel();
    thread::spawn(move || {
        let mut holders = Holders::new();
        for fetch in asked {
            let answer = match fetch {
                Fetch::Tasks(request) => Happening::Tasks(Box::new(source(&client, &request))),
                Fetch::Gpus => {
                    let gpus = gpus(&client, &mut holders);
                    Happening::Gpus(gpus.map(|gpus| (gpus, holders.clone())))
                }
            };
            if told.send(answer).is_err() {
                return;
            }
        }
    });
    ask
}

/// Who holds them is asked only when there is a new holder.
fn gpus(client: &Client, holders: &mut Holders) -> Result<Vec<GpuView>, Failure> {
    let document: Document<Gpus> = client.get("/gpus")?;
    let gpus = document.content.gpus;
    let mut tasks = gpus.iter().flat_map(|gpu| &gpu.tasks);
    if tasks.any(|id| !holders.contains_key(id)) {
        let running = client.page(&Query { states: ACTIVE.to_vec(), ..Query::default() })?.tasks;
        let holder = |task: &danlu_wire::api::TaskView| Holder {
            user: task.user.clone(),
            name: tasks::name(task),
        };
        *holders = running.iter().map(|task| (task.id, holder(task))).collect();
    }
    Ok(gpus)
}

/// Does something to tasks, and says so.
pub(super) fn act(server: Option<String>, act: TopAct, told: SyncSender<Happening>) {
    thread::spawn(move || {
        let done = Client::new(server.as_deref()).and_then(|client| acted(&client, &act));
        let words = done.unwrap_or_else(|failure| failure.message().to_owned());
        let _ = told.send(Happening::Input(TopInput::Word(words)));
    });
}

fn acted(client: &Client, wanted: &TopAct) -> Result<String, Failure> {
    let ids = match wanted.array {
        None => vec![wanted.task],
        Some(first) => {
            let query = Query {
                array: Some(first),
                states: sensible(wanted.act).to_vec(),
                ..Query::default()
            };
            client.list(&query)?.iter().map(|task| task.id).collect()
        }
    };
    let document = client.send("POST", "/tasks/act", &Act::new(wanted.act, ids))?;
    let acted: Document<Acted> = read(&document)?;
    let results = acted.content.results;
    let done: Vec<u64> =
        results.iter().filter(|it| it.error.is_none()).map(|result| result.id).collect();
    if let Some(error) = results.into_iter().find_map(|result| result.error) {
        return Err(error.into());
    }
    let tasks = match done.as_slice() {
        [id] => msg::the_task(id),
        several => msg::the_tasks(&several.len()),
    };
    Ok(match wanted.act {
        ActName::Hold => msg::acted_hold(&tasks),
        ActName::Release => msg::acted_release(&tasks),
        ActName::Cancel
        | ActName::Pause
        | ActName::Resume
        | ActName::Retry
        | ActName::Start
        | ActName::Move
        | ActName::Extend
        | ActName::Keep
        | ActName::Requeue
        | ActName::Remove => msg::acted_cancel(&tasks),
    })
}

/// The elements of an array to which it is done.
fn sensible(act: ActName) -> &'static [TaskStateName] {
    match act {
        ActName::Hold => &[TaskStateName::Queued, TaskStateName::Blocked],
        ActName::Release => &[TaskStateName::Held],
        ActName::Cancel
        | ActName::Pause
        | ActName::Resume
        | ActName::Retry
        | ActName::Start
        | ActName::Move
        | ActName::Extend
        | ActName::Keep
        | ActName::Requeue
        | ActName::Remove => &OPEN,
    }
}

pub(super) fn explain(server: Option<String>, task: u64, told: SyncSender<Happening>) {
    thread::spawn(move || {
        let said = Client::new(server.as_deref()).and_then(|client| explain_wait(&client, task));
        let text = said.unwrap_or_else(|failure| failure.message().to_owned());
        let _ = told.send(Happening::Input(TopInput::Reason { task, text }));
    });
}

//! Asks the server for the tasks that job ids and filters name.

use danlu_slurm::{job_id::JobId, queries, queries::JobFilter};
use danlu_wire::api::{TaskStateName, TaskView};

use super::SlurmError;
use crate::client::{Client, Query};

/// The elements of an array, or the one task.
pub(super) fn named(client: &Client, id: &JobId) -> Result<Vec<TaskView>, SlurmError> {
    let of_array = Query { array: Some(id.job), oldest_first: true, ..Query::default() };
    let mut tasks = client.list(&of_array)?;
    if tasks.is_empty() {
        let one = Query { ids: Some(id.job.to_string()), ..Query::default() };
        tasks = client.list(&one)?;
    }
    tasks.retain(|task| queries::names(id, task));
    Ok(tasks)
}

/// By their ids where there are some, else all that `query` finds; each once, in the order of ids.
pub(super) fn chosen(
    client: &Client,
    filter: &JobFilter,
    query: &Query,
) -> Result<Vec<TaskView>, SlurmError> {
    let mut tasks = Vec::new();
    if filter.jobs.is_empty() {
        tasks = client.list(query)?;
    } else {
        for id in &filter.jobs {
            tasks.extend(named(client, id)?);
        }
        tasks.sort_by_key(|task| task.id);
        tasks.dedup_by_key(|task| task.id);
    }
    tasks.retain(|task| filter.admits(task));
    Ok(tasks)
}

/// What has not ended, and what has ended since then: the rest of the past is not asked for.
pub(super) fn since(
    client: &Client,
    filter: &JobFilter,
    since: Option<jiff::Timestamp>,
) -> Result<Vec<TaskView>, SlurmError> {
    let user = match filter.users.as_deref() {
        Some([user]) => Some(user.clone()),
        Some(_) | None => None,
    };
    let (ended, open): (Vec<_>, Vec<_>) =
        TaskStateName::ALL.into_iter().partition(|state| state.is_over());
    let open = Query { states: open, user: user.clone(), ..Query::default() };
    let since = since.map(|at| at.to_string());
    let ended = Query { states: ended, user, since, ..Query::default() };
    let mut tasks = client.list(&open)?;
    tasks.extend(client.list(&ended)?);
    tasks.retain(|task| filter.admits(task));
    // One may have ended between the two questions: the later answer counts.
    tasks.reverse();
    tasks.sort_by_key(|task| task.id);
    tasks.dedup_by_key(|task| task.id);
    Ok(tasks)
}

/// With what lists leave out.
pub(super) fn with_details(
    client: &Client,
    tasks: Vec<TaskView>,
) -> Result<Vec<TaskView>, SlurmError> {
    tasks.into_iter().map(|task| Ok(client.task(task.id)?)).collect()
}

/// `me` is looked up only where it is needed.
pub(super) fn with_me(client: &Client, filter: &mut JobFilter) -> Result<(), SlurmError> {
    if filter.me {
        filter.users = Some(vec![client.who_am_i()?.user]);
    }
    Ok(())
}

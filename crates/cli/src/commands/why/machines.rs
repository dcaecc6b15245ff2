//! Which task holds which GPU, machine by machine.

use std::collections::BTreeMap;

use danlu_core::{Request, resources::NodeSelector};
use danlu_messages::cli::why as msg;
use danlu_wire::api::{Document, ForeignView, GpuStateName, GpuView, Gpus, TaskView};
use jiff::{Timestamp, ToSpan as _};

use crate::{
    client::{Client, Query},
    failure::Failure,
    parse::task_state::ACTIVE,
    screen::{amounts, clock, states, width},
};

/// Of the machines that could run what is needed.
pub(super) fn lines(
    client: &Client,
    needs: Option<&Request>,
    now: Timestamp,
) -> Result<String, Failure> {
    let gpus: Document<Gpus> = client.get("/gpus")?;
    let running = client.page(&Query { states: ACTIVE.to_vec(), ..Query::default() })?;
    let running: BTreeMap<u64, &TaskView> =
        running.tasks.iter().map(|task| (task.id, task)).collect();
    let mut nodes: BTreeMap<&str, Vec<&GpuView>> = BTreeMap::new();
    for gpu in &gpus.content.gpus {
        nodes.entry(&gpu.node).or_default().push(gpu);
    }
    if let Some(NodeSelector::Name(name)) = needs.and_then(|needs| needs.node.as_ref()) {
        nodes.retain(|node, _| node == name);
    }
    let columns = width::of_stdout();
    let line = |(node, gpus): (&&str, &Vec<&GpuView>)| {
        wrapped(node, &parts(gpus, needs, &running, now), columns)
    };
    Ok(nodes.iter().map(line).collect())
}

/// `2 free`, `2 held by 412 (alice)`, `GPU 4 used outside Danlu by chen`; `no A100`.
fn parts(
    gpus: &[&GpuView],
    needs: Option<&Request>,
    running: &BTreeMap<u64, &TaskView>,
    now: Timestamp,
) -> Vec<String> {
    let wanted = needs.and_then(|needs| needs.gpu_model.as_ref());
    let gpus: Vec<&GpuView> = gpus.iter().copied().filter(|gpu| is_called(gpu, wanted)).collect();
    if let Some(model) = wanted.filter(|_| gpus.is_empty()) {
        return vec![msg::no_model(&model)];
    }
    let free = gpus.iter().filter(|gpu| gpu.state == GpuStateName::Free).count();
    let mut parts = vec![msg::free_free(&free)];
    let mut held: BTreeMap<&[u64], usize> = BTreeMap::new();
    for gpu in gpus.iter().filter(|gpu| !gpu.tasks.is_empty()) {
        *held.entry(&gpu.tasks).or_default() += 1;
    }
    for (tasks, count) in held {
        let named = |id: &u64| {
            let who = running.get(id).map(|task| holder(task, now)).unwrap_or_default();
            format!("{id}{who}")
        };
        let names: Vec<String> = tasks.iter().map(named).collect();
        let names = names.join(msg::comma());
        parts.push(match tasks.len() {
            1 => msg::count_held_by_names(&count, &names),
            _ => msg::count_shared_by_names(&count, &names),
        });
    }
    for gpu in gpus.iter().filter(|gpu| gpu.tasks.is_empty() && gpu.state != GpuStateName::Free) {
        let (index, state) = (gpu.index, states::gpu(gpu.state));
        match gpu.foreign.first() {
            Some(process) => {
                let who = foreign(process);
                parts.push(msg::gpu_index_used_outside_danlu_by_who(&index, &who));
            }
            None => parts.push(format!("GPU {index} {state}")),
        }
    }
    parts
}

fn is_called(gpu: &GpuView, wanted: Option<&String>) -> bool {
    let called = |model: &String| gpu.model.to_lowercase().contains(&model.to_lowercase());
    wanted.is_none_or(called)
}

fn holder(task: &TaskView, now: Timestamp) -> String {
    let user = width::plain(&task.user);
    let started = task.started_at.as_deref().and_then(clock::read);
    let limit = task.time_limit.and_then(|limit| i64::try_from(limit).ok());
    let ends = started.zip(limit).and_then(|(from, limit)| from.checked_add(limit.seconds()).ok());
    match ends {
        Some(ends) => {
            let at = clock::short(ends, now);
            msg::ends_by(&user, &at)
        }
        None => msg::user(&user),
    }
}

/// Command lines go on for screens; their beginning tells enough.
fn shortened(command: &str) -> String {
    const MOST: usize = 48;
    match command.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command.to_owned(),
    }
}

pub(crate) fn foreign(process: &ForeignView) -> String {
    let (user, pid) = (width::plain(&process.user), process.pid);
    let mut about = Vec::new();
    if !process.command.is_empty() {
        about.push(shortened(&width::plain(&process.command)));
    }
    about.extend(process.memory.map(amounts::bytes_in_words));
    about.extend(process.stopped.then(|| danlu_messages::idle::stopped_stays().to_owned()));
    let about = about.join(", ");
    if about.is_empty() {
        format!("{user}, pid {pid}")
    } else {
        format!("{user}, pid {pid} ({about})")
    }
}

/// Parts stay whole; a line ends where the next would not fit.
fn wrapped(node: &str, parts: &[String], columns: Option<usize>) -> String {
    let node = width::plain(node);
    let indent = " ".repeat(4 + width::of(&node));
    let mut out = String::new();
    let mut line = format!("  {node}  ");
    let mut first = true;
    for part in parts {
        let gap = if first { "" } else { " · " };
        let wide = width::of(&line) + width::of(gap) + width::of(part);
        if !first && columns.is_some_and(|columns| wide > columns) {
            out += &format!("{line}\n");
            line = format!("{indent}{part}");
        } else {
            line += &format!("{gap}{part}");
        }
        first = false;
    }
    out + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_parts_only() {
        let parts =
            ["2 free".to_owned(), "2 held by 412 (ada)".to_owned(), "GPU 7 unknown".to_owned()];
        assert_eq!(
            wrapped("gpu1", &parts, None),
            "  gpu1  2 free · 2 held by 412 (ada) · GPU 7 unknown\n"
        );
        let expect = "  gpu1  2 free · 2 held by 412 (ada)\n        GPU 7 unknown\n";
        assert_eq!(wrapped("gpu1", &parts, Some(45)), expect);
    }
}

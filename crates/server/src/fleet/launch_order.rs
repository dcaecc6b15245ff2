//! Makes the launch order that a node receives from a decision of the core.

use crate::fleet::logins::Logins;
use crate::store::environment;
use crate::store::{Store, StoreError};
use danlu_core::effect::Launch;
use danlu_core::task::{Output, Stream};
use danlu_core::{GpuId, State, TaskId, User};
use danlu_wire::launch::{
    AssignedGpu, Command, DEFAULT_UMASK, Environment, ErrorSink, GpuNames, GpuOrder, LaunchOrder,
    Ranks, Sink,
};
use thiserror::Error;

/// Everything the node needs. The environment comes from the store, where it is kept once.
///
/// `user` is the OS user that it runs as; `None` where the daemon serves its own user only.
pub(crate) fn order(
    state: &State,
    store: &Store,
    launch: &Launch,
    user: Option<String>,
) -> Result<LaunchOrder, StartError> {
    let (task, spec) = (&state.tasks[&launch.task], &launch.spec);
    let node = &state.nodes[&launch.node];
    let how = &spec.launch;
    let mut variables = match &how.environment {
        Some(hash) => stored_environment(store, hash)?,
        None => Vec::new(),
    };
    let replaced = |line: &String| {
        line.split_once('=').is_some_and(|(name, _)| how.variables.contains_key(name))
    };
    variables.retain(|line| !replaced(line));
    variables.extend(how.variables.iter().map(|(name, value)| format!("{name}={value}")));
    variables.extend(task.values().into_iter().map(|(name, value)| swept(name, value)));
    let command = match how.shell {
        true => shell(how.shell_program.as_deref(), spec.command.join(" ")),
        false => Command::Argv(spec.command.clone()),
    };
    let known = |id: &GpuId| node.gpus.iter().find(|gpu| gpu.id == *id);
    let index = |id: &GpuId| known(id).map_or(0, |gpu| gpu.index);
    let assigned = launch.gpus.iter().map(|id| AssignedGpu { uuid: id.clone(), index: index(id) });
    let mut order = LaunchOrder::new(launch.run, launch.task, command, &how.directory);
    order.attempt = launch.attempt;
    order.array = task.array;
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    order.values = task.values().into_iter().map(owned).collect();
    order.environment = Environment(variables);
    order.python.clone_from(&how.python);
    order.user = user;
    order.umask = how.umask.unwrap_or(DEFAULT_UMASK);
    order.output = output(task.id, &how.output);
    order.gpus = GpuOrder {
        assigned: assigned.collect(),
        named_by: if how.gpus_by_uuid { GpuNames::Uuid } else { GpuNames::Index },
        argument: how.gpu_argument.clone(),
        // A machine has GPUs of one vendor: its probe asks one driver.
        vendor: launch.gpus.first().and_then(known).map(|gpu| gpu.vendor).unwrap_or_default(),
    };
    order.time_limit = launch.time_limit;
    order.grace = state.settings().stop_grace;
    order.log_limit = state.settings().limits.log_size;
    order.memory_limit = (spec.request.memory > 0).then_some(spec.request.memory);
    order.gpu_memory = (spec.request.gpu_memory > 0).then_some(spec.request.gpu_memory);
    order.node = node.name.clone();
    order.ranks = ranks(state, launch);
    Ok(order)
}

/// Why a run cannot be started, though a machine has room for it.
#[derive(Debug, Error)]
pub(crate) enum StartError {
    #[error("could not read the environment it was submitted with: {0}")]
    Environment(#[from] StoreError),
    #[error(
        "the environment it was submitted with is missing from the database; submit the task again"
    )]
    NoEnvironment,
}

/// A command must not run without the variables that its owner had.
fn stored_environment(store: &Store, hash: &str) -> Result<Vec<String>, StartError> {
    let packed = store.environment(hash)?.ok_or(StartError::NoEnvironment)?;
    Ok(environment::variables(&packed))
}

/// `None`: the user's own, which only the machine knows that it runs on.
fn shell(chosen: Option<&str>, line: String) -> Command {
    let shell = chosen.unwrap_or("/bin/sh").to_owned();
    Command::Shell { shell, line, of_user: chosen.is_none() }
}

/// The OS user that an account's tasks run as on a machine, and who owns their files there. Assigned by administrators, or
/// the name of the account: users cannot change it themselves.
pub(crate) fn runs_as(logins: &Logins, owner: &User, node: &str) -> String {
    logins.os_user(owner.id, node).unwrap_or_else(|| owner.os_name().to_owned())
}

/// For a run on several nodes: where its parts meet.
fn ranks(state: &State, launch: &Launch) -> Option<Ranks> {
    if launch.nodes.len() < 2 {
        return None;
    }
    let names = launch.nodes.iter().map(|id| state.nodes[id].name.clone());
    let nodes: Vec<String> = names.collect();
    let parts = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let each = u32::try_from(launch.gpus.len()).unwrap_or(u32::MAX).max(1);
    Some(Ranks {
        rank: launch.rank,
        master_address: state.nodes[&launch.nodes[0]]
            .labels
            .get(ADDRESS)
            .unwrap_or(&nodes[0])
            .clone(),
        nodes,
        // Two runs that meet on one node at a time have different numbers, mostly far less than this apart.
        master_port: FIRST_PORT + u16::try_from(launch.run.number % PORTS).unwrap_or(0),
        world_size: parts.saturating_mul(each),
    })
}

/// A label that says where the other machines find a node, if not by its name or the host of `--ssh`.
const ADDRESS: &str = "address";

/// Below the ports that the system gives out by itself.
const FIRST_PORT: u16 = 20_000;
const PORTS: u64 = 10_000;

/// `DANLU_GRID_LR=1e-3`.
fn swept(name: &str, value: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().map(plain).collect();
    format!("DANLU_GRID_{name}={value}")
}

pub(crate) fn output(task: TaskId, wanted: &Output) -> danlu_wire::launch::Output {
    let sink = |stream: &Stream| match stream {
        Stream::Append { path } => Sink::file(path, true),
        Stream::Truncate { path } => Sink::file(path, false),
        Stream::Discard => Sink::Discard,
    };
    // Whether it is a directory is found out where it is opened, by the user.
    let both = wanted.both.as_ref().map(|path| Sink::File {
        path: path.clone(),
        append: true,
        task_in_directory: Some(task),
        own: false,
    });
    let stdout = wanted.stdout.as_ref().map(sink).or(both);
    let stderr = match &wanted.stderr {
        // The same file twice is one stream.
        Some(stream) if !is_same(&sink(stream), stdout.as_ref()) => ErrorSink::Own(sink(stream)),
        _ => ErrorSink::WithStdout,
    };
    danlu_wire::launch::Output { stdout: stdout.unwrap_or_default(), stderr }
}

fn is_same(stream: &Sink, stdout: Option<&Sink>) -> bool {
    match (stream, stdout) {
        (Sink::File { path, append, .. }, Some(Sink::File { path: other, append: also, .. })) => {
            path == other && append == also
        }
        (stream, stdout) => Some(stream) == stdout,
    }
}

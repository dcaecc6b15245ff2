//! Converts rows of the read model to response bodies.

use crate::read_model::{BriefState, ReadModel};
use danlu_core::gpu::GpuCondition;
use danlu_core::node::Link;
use danlu_core::notify_rule::NotifyRule;
use danlu_core::run::{Exit, PartState, RunPart, RunState, RunUsage};
use danlu_core::task::{Canceller, Outcome, TaskState};
use danlu_core::{FailureClass, GpuId, Node, NodeId, Request, Run, Task, TaskId, Time, WaitReason};
use danlu_messages::machines::MachineProblem;
use danlu_messages::{ends, errors};
use danlu_wire::api::{
    Failure, ForeignView, GpuCounts, GpuStateName, GpuView, NodeStateName, NodeView, PartStateName,
    PartView, RunStateName, RunView, TaskDetails, TaskStateName, TaskView,
};
use std::collections::{BTreeMap, BTreeSet};

/// One row of a list.
pub(crate) fn task(model: &ReadModel, task: &Task, wait: Option<WaitReason>) -> TaskView {
    let run = task.trail().last_run.and_then(|id| model.runs.get(&id));
    let run = run.map(|run| &**run);
    let spec = &task.spec;
    let over = task.is_finished();
    TaskView {
        id: task.id.0,
        name: task_name(task),
        user: model.users.get(&task.owner).map_or_else(String::new, |user| user.name.clone()),
        state: state_name(model, task.id),
        why: wait
            .as_ref()
            .map(super::state_text::waits)
            .or_else(|| task.outcome().and_then(super::state_text::ended)),
        wait,
        command: spec.command.clone(),
        shell: spec.launch.shell,
        gpus: spec.request.gpus,
        node: run.filter(|_| is_or_was_running(task)).and_then(|run| node_names(model, run)),
        gpu_ids: run
            .filter(|_| is_or_was_running(task))
            .map_or_else(Vec::new, |run| gpu_ids(model, run)),
        submitted_at: rfc3339(task.submitted_at),
        started_at: run.and_then(started_at).map(rfc3339),
        ended_at: match &task.state {
            TaskState::Finished { at, .. } => Some(rfc3339(run.and_then(ended_at).unwrap_or(*at))),
            TaskState::Held
            | TaskState::Blocked { .. }
            | TaskState::Queued { .. }
            | TaskState::Active { .. } => None,
        },
        exit_code: run.filter(|_| over).and_then(exit_code),
        failure: task.outcome().and_then(|outcome| failure(outcome, run)),
        attempt: task.trail().attempts.max(1),
        array: task.array.map(|element| element.first.0),
        index: task.array.map(|element| element.index),
        grid: task.values().into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        priority: spec.priority,
        urgent: spec.urgent,
        project: spec.project.clone(),
        labels: spec.labels.clone(),
        time_limit: task.time_limit().map(|span| span.0 / 1000),
        silent_paths: Vec::new(),
        idle: None,
        kept_until: run
            .filter(|run| !run.is_ended())
            .and_then(|run| run.idle.kept_until)
            .map(rfc3339),
        details: None,
    }
}

/// What only the owner and admins see: there may be secrets in it.
#[derive(Default)]
pub(crate) struct PrivateDetails {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) environment: Option<Vec<String>>,
    pub(crate) notify: Vec<NotifyRule>,
}

pub(crate) fn details(
    model: &ReadModel,
    task: &Task,
    inside: Option<PrivateDetails>,
) -> TaskDetails {
    let spec = &task.spec;
    let inside = inside.unwrap_or_default();
    TaskDetails {
        description: spec.description.clone(),
        directory: spec.launch.directory.clone(),
        shell_program: spec.launch.shell_program.clone(),
        request: Request::clone(&spec.request),
        after: spec.after.clone(),
        retries: spec.retries,
        retry_on: spec.retry_on.clone(),
        begin: spec.begin.map(rfc3339),
        preemptible: spec.preemptible,
        notify: inside.notify,
        output: spec.launch.output.clone(),
        gpu_argument: spec.launch.gpu_argument.clone(),
        gpus_by_uuid: spec.launch.gpus_by_uuid,
        python: spec.launch.python.clone(),
        umask: spec.launch.umask,
        variables: inside.variables,
        runs: model.runs_of(task.id).map(|run| run_view(model, run)).collect(),
        environment: inside.environment,
    }
}

pub(crate) fn state_name(model: &ReadModel, id: TaskId) -> TaskStateName {
    match model.briefs.get(&id).map(|brief| brief.state) {
        Some(BriefState::Waiting(name) | BriefState::Ended(name)) => name,
        Some(BriefState::Active) => active_state(model, id),
        None => TaskStateName::Lost,
    }
}

/// Of a task that has a run.
pub(crate) fn active_state(model: &ReadModel, id: TaskId) -> TaskStateName {
    let run = model.tasks.get(&id).and_then(|task| model.runs.get(&task.trail().last_run?));
    match run {
        Some(run) if is_lost(model, run) => TaskStateName::Lost,
        Some(run) => match run.state {
            RunState::Starting => TaskStateName::Starting,
            RunState::Paused { .. } => TaskStateName::Paused,
            RunState::Stopping { .. } => TaskStateName::Stopping,
            RunState::Running { .. } | RunState::Ended { .. } => TaskStateName::Running,
        },
        None => TaskStateName::Starting,
    }
}

/// Which tasks hold each GPU, and which GPUs are shared.
#[derive(Default)]
pub(crate) struct GpuHolders<'a> {
    tasks: BTreeMap<(NodeId, &'a GpuId), Vec<u64>>,
    shared: BTreeSet<(NodeId, &'a GpuId)>,
}

impl<'a> GpuHolders<'a> {
    /// On all machines at once, for who looks at all of them.
    pub(crate) fn of_all(model: &'a ReadModel) -> GpuHolders<'a> {
        GpuHolders::on(model, |_| true)
    }

    fn on(model: &'a ReadModel, is_meant: impl Fn(NodeId) -> bool) -> GpuHolders<'a> {
        let mut holders = GpuHolders::default();
        for run in model.active_runs() {
            let task = model.tasks.get(&run.task);
            let shares = task.is_some_and(|task| task.spec.request.is_shared());
            for part in run.parts.iter().filter(|part| is_meant(part.node) && !part.is_ended()) {
                for gpu in part.gpus.iter().map(|gpu| (part.node, gpu)) {
                    holders.tasks.entry(gpu).or_default().push(run.task.0);
                    if shares {
                        holders.shared.insert(gpu);
                    }
                }
            }
        }
        holders
    }
}

pub(crate) fn gpus(model: &ReadModel, node: &Node) -> Vec<GpuView> {
    gpus_of(model, node, &GpuHolders::on(model, |it| it == node.id))
}

pub(crate) fn gpus_of(model: &ReadModel, node: &Node, holders: &GpuHolders<'_>) -> Vec<GpuView> {
    let view = |gpu: &danlu_core::gpu::Gpu| {
        let place = (node.id, &gpu.id);
        let tasks = holders.tasks.get(&place).cloned().unwrap_or_default();
        let rule = node.rule_of(gpu);
        let several = holders.shared.contains(&place) || rule.slots() > 1;
        let also_on = also_on(model, gpu, node);
        let state = match &gpu.condition {
            _ if rule.disabled == Some(true) => GpuStateName::Disabled,
            _ if rule.quarantined.is_some() => GpuStateName::Quarantined,
            _ if !tasks.is_empty() && several => GpuStateName::Shared,
            _ if !tasks.is_empty() => GpuStateName::Held,
            _ if !also_on.is_empty() => GpuStateName::Conflict,
            GpuCondition::Idle if node.is_ready() => GpuStateName::Free,
            GpuCondition::Foreign { .. } => GpuStateName::Foreign,
            GpuCondition::Dirty => GpuStateName::Dirty,
            GpuCondition::Idle | GpuCondition::Unknown | GpuCondition::Missing => {
                GpuStateName::Unknown
            }
        };
        GpuView {
            node: node.name.clone(),
            index: gpu.index,
            uuid: gpu.id.to_string(),
            model: gpu.model.clone(),
            state,
            memory_total: gpu.memory,
            memory_used: None,
            utilization: None,
            temperature: None,
            power: None,
            tasks,
            foreign: foreign(&gpu.condition),
            slots: rule.slots().into(),
            idle: None,
            why: rule.quarantined,
            also_on,
        }
    };
    node.gpus.iter().map(view).collect()
}

/// The other machines that claim a GPU: they list it, and it is not disabled there or is still in use.
fn also_on(model: &ReadModel, gpu: &danlu_core::gpu::Gpu, node: &Node) -> Vec<String> {
    let is_held = |on: &Node| {
        let parts = model.active_runs().filter_map(|run| run.part_on(on.id));
        parts.filter(|part| !part.is_ended()).any(|part| part.gpus.contains(&gpu.id))
    };
    let is_disabled = |on: &Node| {
        let listed = on.gpus.iter().find(|it| it.id == gpu.id);
        listed.is_some_and(|it| on.rule_of(it).disabled == Some(true))
    };
    let claims = |on: &&Node| !is_disabled(on) || is_held(on);
    model.also_listed(&gpu.id, node.id).filter(claims).map(|on| on.name.clone()).collect()
}

/// How many GPUs are in each state.
pub(crate) fn gpu_states(model: &ReadModel) -> GpuCounts {
    let holders = GpuHolders::of_all(model);
    let gpus = model.nodes.values().flat_map(|node| gpus_of(model, node, &holders));
    gpus.map(|gpu| gpu.state).collect()
}

pub(crate) fn node(model: &ReadModel, node: &Node) -> NodeView {
    let gpus = gpus(model, node);
    let capacity = node.capacity;
    let on_node = |run: &&Run| run.part_on(node.id).is_some_and(|part| !part.is_ended());
    let unfit = node.unfit.as_ref();
    let problem = unfit.map(|unfit| MachineProblem::Unfit(unfit.trouble.clone()));
    NodeView {
        name: node.name.clone(),
        state: match node.link {
            Link::Ready { .. } if node.unfit.is_some() => NodeStateName::Unfit,
            Link::Ready { .. } if node.draining => NodeStateName::Draining,
            Link::Ready { .. } => NodeStateName::Ready,
            Link::Unverified { .. } => NodeStateName::Unverified,
            Link::Down { .. } => NodeStateName::Down,
        },
        schedulable: node.is_open(),
        cpus: capacity.map_or(0, |it| it.cpus),
        memory_total: capacity.map_or(0, |it| it.memory),
        memory_used: None,
        gpus: gpus.len(),
        gpus_free: gpus.iter().filter(|gpu| gpu.state == GpuStateName::Free).count(),
        tasks: model.active_runs().filter(on_node).map(|run| run.task.0).collect(),
        version: None,
        last_contact_at: None,
        route: "local".to_owned(),
        labels: node.labels.clone(),
        host_name: None,
        clock_ahead_ms: None,
        load: None,
        disk_free: None,
        disk_total: None,
        received: None,
        sent: None,
        probe: None,
        system: None,
        problem: problem.as_ref().map(MachineProblem::message),
        hint: problem.as_ref().map(MachineProblem::hint),
        since: match (node.link, unfit) {
            (Link::Ready { .. }, Some(unfit)) => Some(rfc3339(unfit.since)),
            (
                Link::Ready { since } | Link::Unverified { since } | Link::Down { since },
                None | Some(_),
            ) => Some(rfc3339(since)),
        },
        same_as: Vec::new(),
        failed_metrics: Vec::new(),
        role: danlu_wire::api::NodeRole::default().into(),
    }
}

fn run_view(model: &ReadModel, run: &Run) -> RunView {
    RunView {
        run: run.id.to_string(),
        attempt: run.attempt,
        state: match run.state {
            _ if is_lost(model, run) => RunStateName::Lost,
            RunState::Starting => RunStateName::Starting,
            RunState::Running { .. } => RunStateName::Running,
            RunState::Paused { .. } => RunStateName::Paused,
            RunState::Stopping { .. } => RunStateName::Stopping,
            RunState::Ended { .. } => RunStateName::Ended,
        },
        nodes: run.parts.iter().filter_map(|part| node_name(model, part.node)).collect(),
        gpu_ids: gpu_ids(model, run),
        parts: match run.parts.len() {
            0 | 1 => Vec::new(),
            _ => run.parts.iter().map(|part| part_view(model, part)).collect(),
        },
        peak_gpu_memory: run.peak_gpu_memory,
        cpu_time_ms: Some(run.used.cpu_time.0).filter(|ms| *ms > 0),
        peak_memory: run.used.memory(),
        log_bytes: Some(run.used.log_bytes).filter(|bytes| *bytes > 0),
        efficiency: None,
        started_at: started_at(run).map(rfc3339),
        ended_at: ended_at(run).map(rfc3339),
        exit_code: exit_code(run),
        exit: end(run).map(|(exit, _)| ends::exit(exit)),
        failure: end(run).and_then(|(exit, failure)| Some(failure_view(failure?, exit, &run.used))),
    }
}

fn part_view(model: &ReadModel, part: &RunPart) -> PartView {
    let away = model.nodes.get(&part.node).is_none_or(|node| !node.is_ready());
    let exit = match &part.state {
        PartState::Ended { exit, .. } => Some(exit),
        PartState::Launching { .. } | PartState::Alive { .. } => None,
    };
    PartView {
        node: node_name(model, part.node).unwrap_or_default(),
        gpu_ids: part_gpu_ids(model, part),
        state: match &part.state {
            PartState::Ended { .. } => PartStateName::Ended,
            PartState::Launching { .. } | PartState::Alive { .. } if away => PartStateName::Lost,
            PartState::Launching { .. } => PartStateName::Starting,
            PartState::Alive { .. } => PartStateName::Running,
        },
        exit_code: exit.and_then(shell_code),
        exit: exit.map(ends::exit),
    }
}

fn task_name(task: &Task) -> String {
    if !task.spec.name.is_empty() {
        return task.spec.name.clone();
    }
    let first = task.spec.command.first().map_or("", String::as_str);
    if task.spec.launch.shell {
        return first.chars().take(40).collect();
    }
    first.rsplit('/').next().unwrap_or(first).chars().take(40).collect()
}

fn is_or_was_running(task: &Task) -> bool {
    matches!(task.state, TaskState::Active { .. } | TaskState::Finished { .. })
}

pub(crate) fn is_lost(model: &ReadModel, run: &Run) -> bool {
    let away = |part: &&RunPart| model.nodes.get(&part.node).is_none_or(|node| !node.is_ready());
    !run.is_ended() && run.parts.iter().filter(|part| !part.is_ended()).any(|part| away(&part))
}

fn node_name(model: &ReadModel, id: danlu_core::NodeId) -> Option<String> {
    model.nodes.get(&id).map(|node| node.name.clone())
}

/// `gpu1`, or `gpu1,gpu2` of a run on several.
fn node_names(model: &ReadModel, run: &Run) -> Option<String> {
    let names = run.parts.iter().filter_map(|part| node_name(model, part.node));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| names.join(","))
}

pub(crate) fn gpu_ids(model: &ReadModel, run: &Run) -> Vec<u32> {
    run.parts.iter().flat_map(|part| part_gpu_ids(model, part)).collect()
}

pub(crate) fn part_gpu_ids(model: &ReadModel, part: &RunPart) -> Vec<u32> {
    let index = |node: &Node, id: &danlu_core::GpuId| {
        node.gpus.iter().find(|gpu| gpu.id == *id).map(|gpu| gpu.index)
    };
    let Some(node) = model.nodes.get(&part.node) else { return Vec::new() };
    part.gpus.iter().filter_map(|id| index(node, id)).collect()
}

pub(crate) fn started_at(run: &Run) -> Option<Time> {
    run.parts.iter().filter_map(|part| part.started_at).min()
}

pub(crate) fn ended_at(run: &Run) -> Option<Time> {
    let end = |part: &RunPart| match part.state {
        PartState::Ended { at, .. } => Some(at),
        PartState::Launching { .. } | PartState::Alive { .. } => None,
    };
    run.parts.iter().map(end).collect::<Option<Vec<Time>>>()?.into_iter().max()
}

pub(super) fn exit_code(run: &Run) -> Option<i32> {
    end(run).and_then(|(exit, _)| shell_code(exit))
}

/// How a run ended, and why it failed.
fn end(run: &Run) -> Option<(&Exit, Option<&danlu_core::Failure>)> {
    match &run.state {
        RunState::Ended { exit, failure, .. } => Some((exit, failure.as_ref())),
        RunState::Starting
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Stopping { .. } => None,
    }
}

/// As a shell reports it.
fn shell_code(exit: &Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(*code),
        Exit::Signal(signal) => Some(128 + signal),
        Exit::TimedOut => Some(124),
        Exit::Launch { .. }
        | Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::Abandoned
        | Exit::Trouble(_)
        | Exit::NoRecord => None,
    }
}

/// The failure of an ended task, from its last run.
fn failure(outcome: &Outcome, run: Option<&Run>) -> Option<Failure> {
    let last = run.and_then(|run| {
        let (exit, failure) = end(run)?;
        Some(failure_view(failure?, exit, &run.used))
    });
    match outcome {
        Outcome::Cancelled { by: Canceller::IdleRule } => last,
        Outcome::Succeeded
        | Outcome::Cancelled { by: Canceller::User(_) | Canceller::Daemon }
        | Outcome::DependencyFailed { .. } => None,
        Outcome::GaveUp { attempts } => Some(Failure {
            class: FailureClass::Killed.into(),
            evidence: Some(errors::gave_up(attempts)),
        }),
        Outcome::TimedOut => last.or_else(|| plain(&Exit::TimedOut)),
        Outcome::LaunchError { message } => {
            last.or_else(|| plain(&Exit::Launch { message: message.clone() }))
        }
        Outcome::Failed { exit } => last.or_else(|| plain(exit)),
    }
}

/// For runs of which nothing else is known.
fn plain(exit: &Exit) -> Option<Failure> {
    let failure = danlu_core::Failure::of_exit(exit)?;
    Some(failure_view(&failure, exit, &RunUsage::default()))
}

fn failure_view(failure: &danlu_core::Failure, exit: &Exit, used: &RunUsage) -> Failure {
    let evidence = Some(ends::evidence(failure, exit, used));
    Failure { class: failure.class.into(), evidence }
}

fn foreign(condition: &GpuCondition) -> Vec<ForeignView> {
    let GpuCondition::Foreign { processes } = condition else { return Vec::new() };
    let view = |process: &danlu_core::gpu::ForeignProcess| ForeignView {
        pid: process.pid,
        user: process.user.clone(),
        command: String::new(),
        memory: None,
        stopped: false,
    };
    processes.iter().map(view).collect()
}

pub(crate) fn rfc3339(time: Time) -> String {
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(timestamp) => format!("{timestamp:.3}"),
        Err(_) => String::from("unknown"),
    }
}

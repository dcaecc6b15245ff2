//! Inputs and events as short text for the history.

use super::engine_driver::Decision;
use danlu_core::{Event, Input, NodeMessage, Reply};
use std::fmt;

/// An input and the answer to it.
pub(super) struct InputText<'a>(pub(super) &'a Input, pub(super) &'a Decision);

/// An event.
pub(super) struct EventText<'a>(pub(super) &'a Event);

impl fmt::Display for InputText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Input::Boot { epoch, restored, ids_from } => {
                let restored = if *restored { ", restored" } else { "" };
                write!(f, "boot, epoch {epoch}{restored}, ids from {ids_from}")
            }
            Input::EndUnknownRuns { node, .. } => write!(f, "end unknown runs of node {node}"),
            Input::AddUser { name, .. } => write!(f, "add user {name}"),
            Input::SetUser { user, change, .. } => write!(f, "set user {user}: {change:?}"),
            Input::RemoveUser { user, .. } => write!(f, "remove user {user}"),
            Input::Submit { by, spec, key } => {
                let key = key.as_deref().unwrap_or("no key");
                let request = &spec.request;
                write!(f, "user {by} submits {key}: {} gpus, {:?}", request.gpus, spec.command)?;
                if request.nodes > 1 {
                    write!(f, ", on {} nodes", request.nodes)?;
                }
                if let Some(array) = &spec.array {
                    write!(f, ", array of {}", array.indices.len())?;
                }
                if !spec.after.is_empty() {
                    write!(f, ", after")?;
                    for dependency in &spec.after {
                        write!(f, " {:?} {}", dependency.kind, dependency.task)?;
                    }
                }
                Ok(())
            }
            Input::Cancel { task, .. } => write!(f, "cancel task {task}"),
            Input::Hold { task, .. } => write!(f, "hold task {task}"),
            Input::Release { task, .. } => write!(f, "release task {task}"),
            Input::Retry { task, .. } => write!(f, "retry task {task}"),
            Input::Requeue { task, .. } => write!(f, "put task {task} back"),
            Input::Pause { task, .. } => write!(f, "pause task {task}"),
            Input::Resume { task, .. } => write!(f, "resume task {task}"),
            Input::Edit { task, .. } => write!(f, "edit task {task}"),
            Input::Extend { task, more, .. } => write!(f, "extend task {task} by {}ms", more.0),
            Input::Keep { task, time, .. } => write!(f, "keep task {task} for {}ms", time.0),
            Input::NoteIdle { run, since, rung, .. } => {
                write!(f, "run {run} is idle since {}: {rung:?}", since.0)
            }
            Input::NoteUsed { run } => write!(f, "run {run} is used again"),
            Input::StopIdle { run, since, .. } => {
                write!(f, "stop run {run}, idle since {}", since.0)
            }
            Input::Move { task, position, .. } => write!(f, "move task {task} to {position}"),
            Input::Start { task, .. } => write!(f, "start task {task}"),
            Input::Remove { task, .. } => write!(f, "remove task {task}"),
            Input::Abandon { run, .. } => write!(f, "abandon run {run}"),
            Input::AddNode { name, .. } => write!(f, "add node {name}"),
            Input::RemoveNode { node, .. } => write!(f, "remove node {node}"),
            Input::SetLabels { node, change, .. } => write!(f, "label node {node}: {change:?}"),
            Input::DeclareLost { node, force, .. } => {
                write!(f, "declare node {node} lost{}", if *force { " by force" } else { "" })
            }
            Input::SetResources { node, resources, .. } => {
                write!(f, "node {node} has {resources:?}")
            }
            Input::Drain { node, .. } => write!(f, "drain node {node}"),
            Input::Undrain { node, .. } => write!(f, "undrain node {node}"),
            Input::Configure { settings, .. } => write!(
                f,
                "configure {:?} {:?} {:?}",
                settings.order, settings.backfill, settings.placement
            ),
            Input::ManageGpus { node, change, .. } => write!(f, "gpus of node {node}: {change:?}"),
            Input::Node { node, session, message } => {
                write!(f, "node {node} session {session}: ")?;
                message_words(message, f)
            }
            Input::Recall(retired) => write!(f, "recall task {}", retired.task.id),
            Input::SkipIds { below, .. } => write!(f, "skip ids below {below}"),
            Input::Schedule => write!(f, "schedule"),
        }?;
        match self.1 {
            Ok(Reply::Done) => Ok(()),
            Ok(Reply::Task(task)) => write!(f, " -> task {task}"),
            Ok(Reply::Node(node)) => write!(f, " -> node {node}"),
            Ok(Reply::User(user)) => write!(f, " -> user {user}"),
            Err(refusal) => write!(f, " -> refused: {refusal:?}"),
        }
    }
}

fn message_words(message: &NodeMessage, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match message {
        NodeMessage::Connected => write!(f, "connected"),
        NodeMessage::Report(report) => {
            write!(f, "report of {} gpus, runs", report.gpus.len())?;
            for run in &report.runs {
                use danlu_core::run::ReportedState::{Alive, Ended};
                match &run.state {
                    Alive { .. } => write!(f, " {}", run.run)?,
                    Ended(ending) => write!(f, " {} ({:?})", run.run, ending.exit)?,
                }
            }
            Ok(())
        }
        NodeMessage::Started { run, .. } => write!(f, "run {run} started"),
        NodeMessage::Ended { run, ending } => {
            let stopped = if ending.stopped { ", stopped" } else { "" };
            write!(f, "run {run} ended: {:?}{stopped}", ending.exit)
        }
        NodeMessage::LogDropped { run } => write!(f, "log of run {run} is gone"),
        NodeMessage::Gpus(gpus) => {
            write!(f, "gpus")?;
            for gpu in gpus {
                use danlu_core::gpu::GpuCondition::{Dirty, Foreign, Idle, Missing, Unknown};
                let condition = match gpu.condition {
                    Idle => "",
                    Foreign { .. } => " foreign",
                    Dirty => " dirty",
                    Missing => " missing",
                    Unknown => " unknown",
                };
                let broken = if gpu.broken.is_some() { " broken" } else { "" };
                write!(f, " {}={}{condition}{broken}", gpu.index, gpu.id)?;
                for seen in &gpu.runs {
                    write!(f, " ({} uses {})", seen.run, seen.peak)?;
                }
            }
            Ok(())
        }
        NodeMessage::Memory { free } => write!(f, "{free} bytes of memory free"),
        NodeMessage::Fitness { trouble } => write!(f, "trouble: {trouble:?}"),
        NodeMessage::Lost => write!(f, "lost"),
    }
}

impl fmt::Display for EventText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Event::Booted { epoch, .. } => write!(f, "booted in epoch {epoch}"),
            Event::IdsSkipped => write!(f, "ids skipped"),
            Event::TaskInDoubt { task, why } => write!(f, "task {task} in doubt: {why:?}"),
            Event::NodeUnfit { node, trouble } => {
                write!(f, "node {node} unfit: {:?}", trouble.kind)
            }
            Event::NodeFit { node } => write!(f, "node {node} well again"),
            Event::NodeHasUnknownRuns { node, runs } => {
                write!(f, "node {node} has unknown runs:")?;
                runs.iter().try_for_each(|run| write!(f, " {run}"))
            }
            Event::UnknownRunsStopping { node, .. } => {
                write!(f, "unknown runs of node {node} stopping")
            }
            Event::UnknownRunsEnded { node, runs } => {
                write!(f, "unknown runs ended on node {node}:")?;
                runs.iter().try_for_each(|run| write!(f, " {run}"))
            }
            Event::UserAdded { user } => write!(f, "user {user} added"),
            Event::ProjectCharged { project } => write!(f, "project {project} charged"),
            Event::UserChanged { user } => write!(f, "user {user} changed"),
            Event::SettingsChanged => write!(f, "settings changed"),
            Event::TaskSubmitted { task, .. } => write!(f, "task {task} submitted"),
            Event::TasksSubmitted { first, count, .. } => {
                write!(f, "{count} tasks from {first} on submitted")
            }
            Event::TaskHeld { task } => write!(f, "task {task} held"),
            Event::TaskReleased { task } => write!(f, "task {task} released"),
            Event::TaskUnblocked { task } => write!(f, "task {task} unblocked"),
            Event::TaskRequeued { task, why } => write!(f, "task {task} queued again: {why:?}"),
            Event::TaskDue { task } => write!(f, "the time of task {task} has come"),
            Event::TaskRetried { task } => write!(f, "task {task} to be run again"),
            Event::TaskEdited { task, .. } => write!(f, "task {task} edited"),
            Event::TaskExtended { task, .. } => write!(f, "task {task} has more time"),
            Event::TasksMoved { tasks } => write!(f, "{} tasks moved", tasks.len()),
            Event::TaskFinished { task, outcome } => write!(f, "task {task} finished: {outcome:?}"),
            Event::TaskRemoved { task, .. } => write!(f, "task {task} removed"),
            Event::TasksRetired { tasks, .. } => {
                write!(f, "only the history has")?;
                tasks.iter().try_for_each(|task| write!(f, " {task}"))
            }
            Event::TaskRecalled { task, .. } => write!(f, "task {task} is out of the history"),
            Event::RunLaunched { run, task, nodes, .. } => {
                write!(f, "run {run} (task {task}) launched on")?;
                nodes.iter().try_for_each(|node| write!(f, " {node}"))
            }
            Event::PartStarted { run, node } => write!(f, "run {run} started on {node}"),
            Event::RunPaused { run } => write!(f, "run {run} paused"),
            Event::RunResumed { run } => write!(f, "run {run} resumed"),
            Event::RunIdle { run, rung, .. } => write!(f, "run {run} idle: {rung:?}"),
            Event::RunUsedAgain { run } => write!(f, "run {run} is used again"),
            Event::RunKept { run, until, .. } => write!(f, "run {run} kept until {}", until.0),
            Event::RunStopping { run, why } => write!(f, "run {run} stopping: {why:?}"),
            Event::PartEnded { run, node, exit } => {
                write!(f, "run {run} ended on {node}: {exit:?}")
            }
            Event::RunEnded { run, task, exit, .. } => {
                write!(f, "run {run} (task {task}) ended: {exit:?}")
            }
            Event::LogDropped { run, node } => write!(f, "log of run {run} is gone from {node}"),
            Event::NodeAdded { node } => write!(f, "node {node} added"),
            Event::NodeRemoved { node } => write!(f, "node {node} removed"),
            Event::NodeConnected { node, session } => {
                write!(f, "node {node} has session {session}")
            }
            Event::NodeReady { node } => write!(f, "node {node} ready"),
            Event::NodeHasStrays { node, runs } => {
                write!(f, "node {node} has strays:")?;
                runs.iter().try_for_each(|run| write!(f, " {run}"))
            }
            Event::NodeLost { node } => write!(f, "node {node} lost"),
            Event::NodeResourcesChanged { node } => write!(f, "node {node} has other resources"),
            Event::NodeLabelsChanged { node } => write!(f, "node {node} has other labels"),
            Event::RunsDeclaredLost { node, runs } => {
                write!(f, "declared lost on node {node}:")?;
                runs.iter().try_for_each(|run| write!(f, " {run}"))
            }
            Event::NodeDraining { node } => write!(f, "node {node} draining"),
            Event::NodeUndrained { node } => write!(f, "node {node} undrained"),
            Event::GpusChanged { node } => write!(f, "gpus of node {node} changed"),
            Event::GpuQuarantined { node, gpu, why, .. } => {
                write!(f, "gpu {gpu} of node {node} is quarantined: {why}")
            }
            Event::DecisionRejected { task, reason } => {
                write!(f, "no start of task {task}: {reason}")
            }
            Event::LateMessageIgnored { node, .. } => {
                write!(f, "late message from node {node} ignored")
            }
        }
    }
}

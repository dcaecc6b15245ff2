//! The patch that would submit an existing task again, for `edit` and `clone`.

use super::{Change, Patch};
use crate::parse::dependency::UnresolvedDependency;
use danlu_core::resources::{Request, Sharing};
use danlu_core::task::{ArraySpec, Dependency, LaunchSpec, TaskSpec};
use danlu_wire::api::{Array, TaskView};

/// Without its environment, which is kept apart. `begin` is written as the caller writes times.
pub fn described(spec: TaskSpec, begin: Option<String>) -> Patch {
    let launch = LaunchSpec::clone(&spec.launch);
    Patch {
        name: spec.name.into(),
        description: spec.description.into(),
        project: spec.project.into(),
        labels: spec.labels.into(),
        command: spec.command.into(),
        shell: launch.shell.into(),
        shell_program: launch.shell_program.into(),
        directory: launch.directory.into(),
        variables: launch.variables.into(),
        time_limit: spec.time_limit.map(|span| span.0 / 1000).into(),
        retries: spec.retries.into(),
        retry_on: spec.retry_on.into(),
        begin: begin.into(),
        preemptible: spec.preemptible.into(),
        notify: spec.notify.into(),
        urgent: spec.urgent.into(),
        priority: spec.priority.into(),
        after: wishes(&spec.after).into(),
        array: spec.array.map(array).into(),
        output: Change::Set(launch.output.into()),
        gpu_argument: launch.gpu_argument.into(),
        gpus_by_uuid: launch.gpus_by_uuid.into(),
        python: launch.python.into(),
        umask: launch.umask.into(),
        ..needs(Request::clone(&spec.request))
    }
}

impl Patch {
    /// Of a task with its details, apart from its array and its environment.
    pub fn of(task: &TaskView) -> Option<Patch> {
        let details = task.details.as_ref()?;
        Some(Patch {
            name: task.name.clone().into(),
            description: details.description.clone().into(),
            project: task.project.clone().into(),
            labels: task.labels.clone().into(),
            command: task.command.clone().into(),
            shell: task.shell.into(),
            shell_program: details.shell_program.clone().into(),
            directory: details.directory.clone().into(),
            variables: details.variables.clone().into(),
            time_limit: task.time_limit.into(),
            retries: details.retries.into(),
            retry_on: details.retry_on.clone().into(),
            begin: details.begin.clone().into(),
            preemptible: details.preemptible.into(),
            notify: details.notify.clone().into(),
            urgent: task.urgent.into(),
            priority: task.priority.into(),
            after: wishes(&details.after).into(),
            output: Change::Set(details.output.clone().into()),
            gpu_argument: details.gpu_argument.clone().into(),
            gpus_by_uuid: details.gpus_by_uuid.into(),
            python: details.python.clone().into(),
            umask: details.umask.into(),
            ..needs(details.request.clone())
        })
    }
}

fn needs(request: Request) -> Patch {
    Patch {
        gpus: request.gpus_per_node().into(),
        nodes: request.nodes.into(),
        cpus: request.cpus.into(),
        memory: request.memory.into(),
        gpu_memory: request.gpu_memory.into(),
        shared: request.is_shared().into(),
        idle_util: match request.sharing {
            Sharing::Shared { idle_utilization } => idle_utilization,
            Sharing::Slot | Sharing::Exclusive => 0,
        }
        .into(),
        exclusive: (request.sharing == Sharing::Exclusive).into(),
        gpu_model: request.gpu_model.into(),
        node: request.node.into(),
        prefer: request.prefer.into(),
        resources: request.resources.into(),
        gpu_ids: request.gpu_ids.into(),
        ..Patch::default()
    }
}

fn wishes(after: &[Dependency]) -> Vec<UnresolvedDependency> {
    after.iter().copied().map(UnresolvedDependency::from).collect()
}

fn array(ArraySpec { indices, at_once, grid }: ArraySpec) -> Array {
    Array { indices, at_once, grid }
}

//! Whether users take turns as `balance` promises, as far as the rows show it.

use super::verdict::{Verdict, ensure};
use danlu_core::quota::{Quota, QuotaSettings};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskState;
use danlu_core::view::View;
use danlu_core::{Event, Span, State, Task, Time, User};
use std::sync::Arc;

/// In strict order, no task of a worse class has started while the first task of a better one would still fit.
pub(super) fn classes_are_kept(after: &State, events: &[Event], now: Time) -> Verdict {
    let settings = after.settings();
    let strict = (settings.order, settings.backfill) == (Order::Balance, Backfill::None);
    // Named GPUs may be kept free for the task that names them.
    let named = |task: &Task| task.is_queued() && !task.spec.request.gpu_ids.is_empty();
    // Starving tasks go first, and users who have reached their quota last.
    let patient = settings.reserve_after == Span::ZERO;
    let unlimited = settings.quota == QuotaSettings::default();
    // Under `auto_inside` another task of a user may be the first.
    let plain = strict && patient && unlimited && !settings.auto_inside;
    if !plain || after.tasks.values().any(|task| named(task)) {
        return Ok(());
    }
    let started = events.iter().filter_map(|event| match event {
        Event::RunLaunched { task, .. } => after.tasks.get(task),
        _ => None,
    });
    // A task without GPUs passes the one that blocks all others.
    let started = started.filter(|task| task.spec.request.gpus > 0);
    let class = |user: &User| user.priority.0.min(1);
    let Some(worst) =
        started.filter_map(|task| after.users.get(&task.owner)).max_by_key(|user| class(user))
    else {
        return Ok(());
    };
    let view = View::new(after, now);
    for user in after.users.values().filter(|user| class(user) < class(worst)) {
        let due = |task: &&Arc<Task>| task.is_queued() && task.trail().not_before.is_none();
        let queued = after.tasks.values().filter(|task| task.owner == user.id).filter(due);
        let first = queued.min_by_key(|it| (!it.spec.urgent, it.spec.priority, it.place));
        let Some(first) = first.filter(|task| task.spec.array.is_none()) else { continue };
        let fits = view.place(&first.spec.request).is_some();
        ensure!(
            !fits,
            "user {} goes before user {}, but task {} waits",
            user.id,
            worst.id,
            first.id
        );
    }
    Ok(())
}

/// A user who got something is within their quota.
pub(super) fn quotas_are_kept(after: &State, events: &[Event]) -> Verdict {
    for event in events {
        let Event::RunLaunched { task, .. } = event else { continue };
        let Some(task) = after.tasks.get(task) else { continue };
        let mine = |other: &&Task| other.owner == task.owner;
        let ours = |other: &&Task| other.spec.project == task.spec.project;
        let quota = &after.settings().quota;
        let user = after.users.get(&task.owner).map(|user| quota.of_user(&user.name));
        within(after, user, mine, task)?;
        let project = task.spec.project.as_ref().and_then(|project| quota.project.get(project));
        within(after, project.copied(), ours, task)?;
    }
    Ok(())
}

fn within(
    state: &State,
    quota: Option<Quota>,
    counts: impl Fn(&&Task) -> bool,
    started: &Task,
) -> Verdict {
    let Some(quota) = quota else { return Ok(()) };
    let active = |task: &&Task| matches!(task.state, TaskState::Active { .. });
    let running: Vec<&Task> =
        state.tasks.values().map(Arc::as_ref).filter(active).filter(counts).collect();
    let (tasks, id) = (running.len() as u64, started.id);
    let most = quota.running_tasks.unwrap_or(u64::MAX);
    ensure!(tasks <= most, "task {id} is started as number {tasks} of {most}");
    if started.spec.request.gpus > 0 {
        let gpus: u64 = running.iter().map(|task| u64::from(task.spec.request.gpus)).sum();
        let most = quota.running_gpus.unwrap_or(u64::MAX);
        ensure!(gpus <= most, "task {id} is started, which makes {gpus} GPUs of {most}");
    }
    Ok(())
}

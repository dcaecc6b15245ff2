//! Whether users take turns as `balance` promises, as far as it can be told from the rows alone.

use super::verdict::{Verdict, ensure};
use danlu_core::settings::{Backfill, Order};
use danlu_core::view::View;
use danlu_core::{Event, State, Task, Time, User};

/// In strict order nobody of a worse class has started while a better one's first task would still fit.
pub(super) fn classes_are_kept(after: &State, events: &[Event], now: Time) -> Verdict {
    let settings = after.settings();
    let strict = (settings.order, settings.backfill) == (Order::Balance, Backfill::None);
    // GPUs that somebody has named may be kept free for them.
    let named = |task: &Task| task.is_queued() && !task.spec.request.gpu_ids.is_empty();
    // Under `auto_inside` another task of a user may be the first.
    if !strict || settings.auto_inside || after.tasks.values().any(named) {
        return Ok(());
    }
    let started = events.iter().filter_map(|event| match event {
        Event::RunLaunched { task, .. } => after.tasks.get(task),
        _ => None,
    });
    let class = |user: &User| user.priority.0.min(1);
    let Some(worst) =
        started.filter_map(|task| after.users.get(&task.owner)).max_by_key(|user| class(user))
    else {
        return Ok(());
    };
    let view = View::new(after, now);
    for user in after.users.values().filter(|user| class(user) < class(worst)) {
        let due = |task: &&Task| task.is_queued() && task.not_before.is_none();
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

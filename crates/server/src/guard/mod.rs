//! Processes that Danlu did not start, on GPUs that it has allocated: both sides are told, administrators see it, and
//! may have it ended.

mod intruders;

use crate::api::Api;
use crate::daemon::clock;
use crate::daemon::notices::{self, NoticeKind};
use crate::notify::letter::ForeignFacts;
use crate::read_model::ReadModel;
use crate::store::{Deed, RecordChange};
use danlu_core::idle::GuardSettings;
use danlu_core::settings::Visibility;
use danlu_core::{Span, Time, UserId};
use danlu_messages::acts::Act;
use danlu_wire::agent::EndForeign;
use intruders::{Intruder, intruders};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tracing::warn;

/// What is seen for a shorter time may be a process of the run itself that was not known as such yet.
const SETTLES: Span = Span::from_secs(5);
/// Checks at most this often while much happens.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// More at once are told of as some of them leave.
const MOST: usize = 50;

#[derive(Debug, Clone, Copy)]
struct Seen {
    since: Time,
    told: bool,
    /// When its end was ordered last.
    ordered_at: Option<Time>,
}

type Known = BTreeMap<Intruder, Seen>;

pub(crate) async fn watch(api: Api) {
    let mut news = api.handle.reader().news();
    let mut known = Known::new();
    loop {
        let wait = look(&api, &mut known).await;
        match wait {
            Some(wait) => drop(tokio::time::timeout(wait, news.recv()).await),
            None => {
                if let Err(RecvError::Closed) = news.recv().await {
                    return;
                }
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
        // All that came meanwhile is looked at together.
        news = news.resubscribe();
    }
}

/// Answers when to look again although nothing happens.
async fn look(api: &Api, known: &mut Known) -> Option<Duration> {
    let (model, now) = (api.handle.model(), clock::now());
    let found = intruders(&model);
    let gone: Vec<Intruder> = known.keys().filter(|it| !found.contains(it)).cloned().collect();
    for intruder in gone {
        known.remove(&intruder);
    }
    for intruder in found {
        if known.len() < MOST {
            known.entry(intruder).or_insert(Seen { since: now, told: false, ordered_at: None });
        }
    }
    take_notices_away(api, known).await;
    let due = |it: &Seen| !it.told && now.since(it.since) >= SETTLES;
    let fresh: Vec<Intruder> =
        known.iter().filter(|(_, it)| due(it)).map(|(intruder, _)| intruder.clone()).collect();
    for intruder in fresh {
        tell(api, &model, &intruder, now).await;
        known.entry(intruder).and_modify(|it| it.told = true);
    }
    let rule = &model.ledger.settings.guard;
    for (intruder, seen) in known.iter_mut() {
        if end_at(seen, rule).is_some_and(|at| at <= now) && may_be_ended(api, intruder) {
            seen.ordered_at = Some(now);
            end(api, &model, intruder, rule.grace).await;
        }
    }
    let told = known.values().filter(|it| !it.told).map(|it| it.since + SETTLES);
    let ends = known.iter().filter(|(it, _)| may_be_ended(api, it));
    let next = told.chain(ends.filter_map(|(_, seen)| end_at(seen, rule))).min();
    next.map(|at| Duration::from_millis(at.since(now).0.max(1)))
}

/// When it is to be ended, if that is wanted: once it has been there for the grace period, and again if it stays.
fn end_at(seen: &Seen, rule: &GuardSettings) -> Option<Time> {
    let wanted = rule.end_foreign && seen.told;
    let again = seen.ordered_at.map(|at| at + rule.grace.times(2).max(SETTLES));
    wanted.then(|| again.unwrap_or(seen.since + rule.grace.max(SETTLES)))
}

/// The agent looks again, and more closely.
fn may_be_ended(api: &Api, intruder: &Intruder) -> bool {
    let seen = api.live.details(intruder.node, &intruder.gpu);
    let process = seen.and_then(|gpu| gpu.foreign.into_iter().find(|it| it.pid == intruder.pid));
    intruder.user != "root" && process.is_some_and(|process| process.container.is_none())
}

async fn end(api: &Api, model: &ReadModel, intruder: &Intruder, grace: Span) {
    let Some((facts, ..)) = facts(api, model, intruder) else { return };
    let order = EndForeign { gpu: intruder.gpu.clone(), pid: intruder.pid, grace };
    let known = match facts.node == api.config.node_name {
        true => {
            api.evictions.end(&order);
            true
        }
        false => api.nodes.end_foreign(intruder.node, order),
    };
    let how = if known { "TERM, then KILL" } else { "the agent there is too old" };
    let deed = Deed {
        user: "danlu".into(),
        origin: "automatic".into(),
        act: Act::EndForeign,
        target: format!("GPU {} of {}", facts.gpu, facts.node),
        detail: format!(
            "pid {} of {}, allocated to task {}; rule guard.end_foreign; {how} after {grace}",
            facts.pid, intruder.user, facts.task
        ),
    };
    if let Err(cause) = api.handle.keep(Vec::new(), Some(deed)).await {
        warn!(cause = cause.message(), "the end of a foreign process is not noted");
    }
}

async fn tell(api: &Api, model: &ReadModel, intruder: &Intruder, now: Time) {
    let Some((facts, owner, theirs)) = facts(api, model, intruder) else { return };
    let kind = NoticeKind::ForeignProcess {
        node: facts.node.clone(),
        gpu: facts.gpu,
        pid: facts.pid,
        user: intruder.user.clone(),
        task: facts.task.0,
    };
    let there = api.handle.notices().all().iter().any(|notice| notice.what == kind);
    let cause = format!("foreign.{}.{}.{}", intruder.node, intruder.pid, intruder.run);
    api.notifier.tell_of_foreign(cause, facts.clone(), owner, theirs, now);
    if there {
        return;
    }
    let (record, _) = notices::record(kind, now);
    let deed = Deed {
        user: "danlu".into(),
        origin: "automatic".into(),
        act: Act::TellOfForeign,
        target: format!("GPU {} of {}", facts.gpu, facts.node),
        detail: format!("pid {} of {}, allocated to task {}", facts.pid, intruder.user, facts.task),
    };
    if let Err(cause) = api.handle.keep(vec![record], Some(deed)).await {
        warn!(cause = cause.message(), "a foreign process is not noted");
    }
}

/// What is to be said, the owner of the run, and whose process it is, if that is a user.
fn facts(
    api: &Api,
    model: &ReadModel,
    intruder: &Intruder,
) -> Option<(ForeignFacts, UserId, Option<UserId>)> {
    let (run, node) = (model.runs.get(&intruder.run)?, model.nodes.get(&intruder.node)?);
    let task = model.tasks.get(&run.task)?;
    let gpu = node.gpus.iter().find(|gpu| gpu.id == intruder.gpu)?;
    let seen = api.live.details(intruder.node, &intruder.gpu);
    let process = seen.and_then(|gpu| gpu.foreign.into_iter().find(|it| it.pid == intruder.pid));
    let is_theirs = |id: &UserId| {
        let named = api.logins.os_user(*id, &node.name);
        let usual = || model.users.get(id).map(|user| user.os_name().to_owned());
        named.or_else(usual).is_some_and(|name| name == intruder.user)
    };
    let theirs = model.users.keys().copied().find(is_theirs).filter(|id| *id != task.owner);
    // Who may not see what others do is not told who it is.
    let whole = model.ledger.settings.visibility == Visibility::All;
    let facts = ForeignFacts {
        node: node.name.clone(),
        gpu: gpu.index,
        pid: intruder.pid,
        user: if whole { intruder.user.clone() } else { String::new() },
        command: process.filter(|_| whole).map(|it| it.command).unwrap_or_default(),
        task: task.id,
        owner: model.users.get(&task.owner).map(|user| user.name.clone()).filter(|_| whole),
    };
    Some((facts, task.owner, theirs))
}

/// Of processes that have left.
async fn take_notices_away(api: &Api, known: &Known) {
    let model = api.handle.model();
    let is_there = |node: &str, pid: u32| {
        known.keys().any(|it| {
            it.pid == pid && model.nodes.get(&it.node).is_some_and(|known| known.name == node)
        })
    };
    let over: Vec<RecordChange> = api
        .handle
        .notices()
        .all()
        .iter()
        .filter(|notice| {
            matches!(&notice.what, NoticeKind::ForeignProcess { node, pid, .. } if !is_there(node, *pid))
        })
        .map(|notice| RecordChange::Delete { kind: notices::KIND, id: notice.id.clone() })
        .collect();
    if !over.is_empty()
        && let Err(cause) = api.handle.keep(over, None).await
    {
        warn!(cause = cause.message(), "a notice about a foreign process stays");
    }
}

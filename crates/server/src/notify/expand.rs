//! What an event means for people: who is sent which message. Pure.

use super::letter::{IdleStop, Letter, Matter, RequeuedFor, TaskFacts, TaskNews, state_of};
use super::recipients::{self, KnownChannels, Occasion, Recipient};
use super::tidings::Tidings;
use crate::read_model::ReadModel;
use crate::store::StoredEvent;
use danlu_core::event::RequeueReason;
use danlu_core::idle::{IdleKind, IdleRung};
use danlu_core::node::Link;
use danlu_core::task::{Canceller, Outcome};
use danlu_core::{GpuId, Node, NodeId, Run, RunId, Task, TaskId, Time, User, UserId};
use danlu_wire::api::Notify;

/// A message and whom it is for. `cause` is the same however often it is made: it becomes part of the message's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addressed {
    pub(crate) cause: String,
    pub(crate) to: Recipient,
    pub(crate) letter: Letter,
}

/// What is known beside the event.
pub(crate) struct Surroundings<'a> {
    pub(crate) model: &'a ReadModel,
    pub(crate) wanted: &'a dyn Fn(UserId) -> Notify,
    pub(crate) known: &'a KnownChannels,
    /// What people have been told last.
    pub(crate) announced: &'a str,
}

pub(crate) fn expand(stored: &StoredEvent, around: &Surroundings<'_>) -> Vec<Addressed> {
    let StoredEvent { number, at, event } = stored;
    let cause = number.to_string();
    match Tidings::of(event) {
        Tidings::Started { run, node } => around.started(&cause, *at, run, node),
        Tidings::Finished { task, outcome } => around.finished(&cause, *at, task, outcome),
        Tidings::Requeued { task, why } => {
            let why = match why {
                RequeueReason::Failed => RequeuedFor::Failure,
                RequeueReason::Lost => RequeuedFor::Loss,
                RequeueReason::Preempted => RequeuedFor::Preemption,
                RequeueReason::Asked => RequeuedFor::Request,
                RequeueReason::Idle => RequeuedFor::Idle,
                // Nothing has happened to it.
                RequeueReason::NeverStarted | RequeueReason::NodeUnfit => return Vec::new(),
            };
            // That somebody has stopped it is for whoever hears of it at all.
            let occasion = match why {
                RequeuedFor::Idle => Occasion::Trouble,
                RequeuedFor::Failure
                | RequeuedFor::Loss
                | RequeuedFor::Preemption
                | RequeuedFor::Request => Occasion::Warning,
            };
            around.task(&cause, *at, task, occasion, TaskNews::Requeued { why })
        }
        Tidings::InDoubt { task } => {
            around.task(&cause, *at, task, Occasion::Trouble, TaskNews::InDoubt)
        }
        Tidings::Idle { run, rung, kind, since } => {
            around.idle(&cause, *at, run, (rung, kind, since))
        }
        Tidings::Settings => around.announcement(&cause, *at),
        Tidings::Quarantined { node, gpu, why, owners } => {
            around.quarantined(&cause, *at, (node, gpu), why, owners)
        }
        Tidings::RunEnded { owner } => around.quota(*at, owner),
        // Told of when it has lasted, or when its time has come.
        Tidings::NodeLost { .. }
        | Tidings::NodeBack { .. }
        | Tidings::LimitChanged { .. }
        | Tidings::Nothing => Vec::new(),
    }
}

fn addressed(cause: &str, mut to: Vec<Recipient>, letter: &Letter) -> Vec<Addressed> {
    // A channel that several people have is told once.
    to.sort_by(|one, other| (&one.target, one).cmp(&(&other.target, other)));
    to.dedup_by(|one, other| one.target == other.target);
    let each = |to| Addressed { cause: cause.to_owned(), to, letter: letter.clone() };
    to.into_iter().map(each).collect()
}

impl Surroundings<'_> {
    fn started(&self, cause: &str, at: Time, run: RunId, node: NodeId) -> Vec<Addressed> {
        let run = self.model.runs.get(&run);
        // Of a run on several machines, once.
        let first = run.and_then(|run| run.parts.first()).is_some_and(|part| part.node == node);
        let Some(run) = run.filter(|_| first) else { return Vec::new() };
        let Some(task) = self.model.tasks.get(&run.task) else { return Vec::new() };
        self.told(cause, at, task, Some(run), Occasion::Start, TaskNews::Started)
    }

    fn finished(&self, cause: &str, at: Time, id: TaskId, outcome: &Outcome) -> Vec<Addressed> {
        let Some(task) = self.model.tasks.get(&id) else { return Vec::new() };
        let occasion = match outcome {
            Outcome::Succeeded => Occasion::Success,
            Outcome::Cancelled { by: Canceller::User(by) } if *by == task.owner => {
                Occasion::OwnCancel
            }
            Outcome::Cancelled { .. }
            | Outcome::Failed { .. }
            | Outcome::TimedOut
            | Outcome::DependencyFailed { .. }
            | Outcome::GaveUp { .. }
            | Outcome::LaunchError { .. } => Occasion::Failure,
        };
        let run = self.last_run(task);
        let mut told = self.told(cause, at, task, run, occasion, TaskNews::Ended);
        for Addressed { letter, .. } in &mut told {
            if let Matter::Task { task, .. } = &mut letter.matter {
                // It may have been run again since.
                (task.state, task.ended_at) = (state_of(outcome), Some(at));
            }
        }
        told
    }

    pub(crate) fn task(
        &self,
        cause: &str,
        at: Time,
        id: TaskId,
        occasion: Occasion,
        news: TaskNews,
    ) -> Vec<Addressed> {
        let Some(task) = self.model.tasks.get(&id) else { return Vec::new() };
        let run = self.last_run(task);
        self.told(cause, at, task, run, occasion, news)
    }

    fn idle(
        &self,
        cause: &str,
        at: Time,
        run: RunId,
        (rung, kind, since): (IdleRung, IdleKind, Time),
    ) -> Vec<Addressed> {
        let Some(run) = self.model.runs.get(&run) else { return Vec::new() };
        let settings = &self.model.ledger.settings.idle;
        let stop = settings.stopped_after().filter(|_| rung == IdleRung::Asked);
        let stops = stop.map(|(after, requeue)| IdleStop {
            at: at + after.saturating_sub(settings.ask_after),
            requeue,
        });
        self.task(cause, at, run.task, Occasion::Trouble, TaskNews::Idle { since, kind, stops })
    }

    fn last_run(&self, task: &Task) -> Option<&Run> {
        self.model.runs.get(&task.trail().last_run?).map(|run| &**run)
    }

    fn told(
        &self,
        cause: &str,
        at: Time,
        task: &Task,
        run: Option<&Run>,
        occasion: Occasion,
        news: TaskNews,
    ) -> Vec<Addressed> {
        let Some(owner) = self.active(task.owner) else { return Vec::new() };
        let wanted = (self.wanted)(owner.id);
        let to = recipients::of_task(&task.spec.notify, occasion, (owner, &wanted), self.known);
        if to.is_empty() {
            return Vec::new();
        }
        let facts = Box::new(TaskFacts::of(self.model, task, run));
        addressed(cause, to, &Letter { at, matter: Matter::Task { news, task: facts } })
    }

    fn quarantined(
        &self,
        cause: &str,
        at: Time,
        (node, gpu): (NodeId, &GpuId),
        why: &str,
        owners: &[UserId],
    ) -> Vec<Addressed> {
        let Some(node) = self.model.nodes.get(&node) else { return Vec::new() };
        let found = node.gpus.iter().find(|it| it.id == *gpu);
        let holds = |run: &&Run| run.part_on(node.id).is_some_and(|part| part.gpus.contains(gpu));
        let holders = self.model.active_runs().filter(holds);
        let matter = Matter::GpuQuarantined {
            node: node.name.clone(),
            gpu: found.map_or(0, |gpu| gpu.index),
            model: found.map_or_else(String::new, |gpu| gpu.model.clone()),
            why: why.to_owned(),
            tasks: holders.map(|run| run.task.0).collect(),
        };
        let mut to = self.admins();
        for owner in owners {
            to.extend(self.person(*owner, |wanted| wanted.trouble));
        }
        addressed(cause, to, &Letter { at, matter })
    }

    /// Those who may not come in are told nothing.
    fn active(&self, user: UserId) -> Option<&User> {
        self.model.users.get(&user).map(|user| &**user).filter(|user| user.is_active())
    }

    pub(crate) fn person(&self, user: UserId, wants: impl Fn(&Notify) -> bool) -> Vec<Recipient> {
        let Some(user) = self.active(user) else { return Vec::new() };
        let wanted = (self.wanted)(user.id);
        let to = || recipients::usual(user, &wanted, self.known);
        wants(&wanted).then(to).unwrap_or_default()
    }

    pub(crate) fn admins(&self) -> Vec<Recipient> {
        let users = self.model.users.values().map(|user| &**user);
        recipients::admins(users, self.wanted, self.known)
    }

    fn announcement(&self, cause: &str, at: Time) -> Vec<Addressed> {
        let text = &self.model.ledger.settings.announcement;
        if text.is_empty() || text == self.announced {
            return Vec::new();
        }
        let users = self.model.users.keys();
        let to = users.flat_map(|user| self.person(*user, |wanted| wanted.announcement)).collect();
        addressed(cause, to, &Letter { at, matter: Matter::Announcement { text: text.clone() } })
    }

    /// Once in a period: the cause names the period, and a cause is told of once.
    fn quota(&self, at: Time, owner: UserId) -> Vec<Addressed> {
        let Some(user) = self.active(owner) else { return Vec::new() };
        let quota = &self.model.ledger.settings.quota;
        let Some(most) = quota.of_user(&user.name).gpu_hours else { return Vec::new() };
        let used = user.spent.micros / 3_600_000_000;
        let period_of = |at: Time| at.0 / i64::try_from(quota.period.0.max(1)).unwrap_or(i64::MAX);
        let period = period_of(at);
        if used < most || period_of(user.spent.at) != period {
            return Vec::new();
        }
        let to = self.person(owner, |wanted| wanted.trouble);
        let matter = Matter::Quota { used, most };
        addressed(&format!("{QUOTA}{owner}.{period}"), to, &Letter { at, matter })
    }

    /// Those whose tasks are on it, and the administrators.
    pub(crate) fn lost_node(&self, absence: &Absence) -> Vec<Addressed> {
        let Absence { node, name, since } = absence;
        let here = |run: &&Run| run.part_on(*node).is_some_and(|part| !part.is_ended());
        let tasks: Vec<TaskId> =
            self.model.active_runs().filter(here).map(|run| run.task).collect();
        let (cause, at) = (absence.cause(), *since);
        let mut all = Vec::new();
        for task in &tasks {
            let news = TaskNews::Lost { node: name.clone() };
            all.extend(self.task(&format!("{cause}.{task}"), at, *task, Occasion::Warning, news));
        }
        let tasks = tasks.iter().map(|task| task.0).collect();
        let matter = Matter::NodeLost { node: name.clone(), tasks };
        all.extend(addressed(&cause, self.admins(), &Letter { at, matter }));
        all
    }
}

/// A machine that cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Absence {
    pub(crate) node: NodeId,
    name: String,
    since: Time,
}

impl Absence {
    pub(crate) fn of(node: &Node) -> Option<Absence> {
        match node.link {
            Link::Down { since } => Some(Absence { node: node.id, name: node.name.clone(), since }),
            Link::Unverified { .. } | Link::Ready { .. } => None,
        }
    }

    /// The same over restarts of the server.
    pub(crate) fn cause(&self) -> String {
        format!("lost.{}.{}", self.node, self.since.0)
    }
}

const QUOTA: &str = "quota.";

/// Whether what has this cause is told once, however often an event brings it about.
pub(crate) fn is_once(cause: &str) -> bool {
    cause.starts_with(QUOTA)
}

#[cfg(test)]
mod tests;

//! Users' accounts: what they have running and waiting, what they have used, and whose turn it is.

use crate::model::ids::{TaskId, UserId};
use crate::model::number::thousandths::Thousandths;
use crate::model::settings::Order;
use crate::model::time::Time;
use crate::model::user::User;
use crate::schedule::order::balance;
use crate::schedule::queue::Lane;
use crate::schedule::quota::{self, Load, Spent};
use crate::schedule::turn::decay::Usage;
use crate::schedule::turn::decay::account::Deposit;
use crate::schedule::turn::fair::{Entry, TurnParty};
use crate::schedule::{self, TurnKey};
use crate::state::State;

impl State {
    pub(crate) fn insert_user(&mut self, user: User) {
        let id = user.id;
        self.users.insert(id, user);
        self.refile(id);
    }

    pub(crate) fn change_user(&mut self, id: UserId, change: impl FnOnce(&mut User)) {
        change(self.users.get_mut(&id).expect("the caller has looked the user up"));
        self.refile(id);
    }

    /// What a user has used until now, as `fair` counts it.
    pub fn used_by(&self, user: UserId, now: Time) -> Usage {
        let used = self.users.get(&user).map(|user| user.used).unwrap_or_default();
        used.until(now, self.running_of(user).gpus, self.settings().fair.half_life)
    }

    /// To be called before a run of this task begins or ends: what its owner had until now is counted.
    /// Answers the project for which that was done too.
    pub(crate) fn charge(&mut self, task: TaskId, now: Time) -> Option<String> {
        let task = &self.tasks[&task];
        let (owner, project) = (task.owner, task.spec.project.clone());
        let used = self.used_by(owner, now);
        let spent = Spent { micros: self.spent_by_user(owner, now), at: now };
        if let Some(user) = self.users.get_mut(&owner) {
            (user.used, user.spent) = (used, spent);
        }
        let limited = &self.settings().quota.project;
        let project = project.filter(|project| {
            limited.get(project).is_some_and(|quota| quota.gpu_hours.is_some())
        })?;
        let spent = Spent { micros: self.spent_by_project(&project, now), at: now };
        self.ledger.projects.insert(project.clone(), spent);
        Some(project)
    }

    /// What a user has running.
    pub fn running_of(&self, user: UserId) -> Load {
        self.index.of_users.get(&user).map(|loads| loads.running).unwrap_or_default()
    }

    /// What a user has that does not run yet.
    pub fn waiting_of(&self, user: UserId) -> Load {
        let there = self.index.of_users.get(&user).map(|loads| loads.waiting).unwrap_or_default();
        there.plus(self.to_come_of(user))
    }

    /// What a project has running and waiting.
    pub fn load_of_project(&self, project: &str) -> (Load, Load) {
        let loads = self.index.of_projects.get(project).copied().unwrap_or_default();
        (loads.running, loads.waiting.plus(self.to_come_of_project(project)))
    }

    /// GPU time of a user in this period, in millionths of a second.
    pub fn spent_by_user(&self, user: UserId, now: Time) -> u64 {
        let spent = self.users.get(&user).map(|user| user.spent).unwrap_or_default();
        spent.until(now, self.running_of(user).gpus, self.settings().quota.period).micros
    }

    /// … of a project, if it is counted.
    pub fn spent_by_project(&self, project: &str, now: Time) -> u64 {
        let spent = self.ledger.projects.get(project).copied().unwrap_or_default();
        let gpus = self.load_of_project(project).0.gpus;
        spent.until(now, gpus, self.settings().quota.period).micros
    }

    /// Update a user's position in the turn order.
    pub(crate) fn refile(&mut self, id: UserId) {
        let settings = &self.ledger.settings;
        let Some(user) = self.users.get(&id).filter(|_| schedule::is_by_user(settings)) else {
            return;
        };
        let shut = quota::is_shut(self, user);
        if settings.order == Order::Auto {
            self.index.queue.batches_mut().set_shut(id, shut);
        }
        let queue = &self.index.queue;
        let oldest = queue.submitted_from(Lane::User(id), TaskId(0)).next().filter(|_| !shut);
        match settings.order {
            Order::Fair => {
                let entry = self.fair_entry(user, oldest);
                self.index.fair_turns.file(id, entry);
            }
            Order::Balance => {
                let gpus = self.running_of(id).gpus;
                let turn_key = oldest.map(|oldest| balance::turn_key(user, gpus, oldest));
                self.index.turns.file(id, turn_key);
            }
            Order::Fifo | Order::Auto | Order::Sjf | Order::Srtf | Order::Las => {
                let first = queue.first_after(Lane::User(id), None).filter(|_| !shut);
                let turn_key = first.map(|first| TurnKey::by_rank(Some(first)));
                self.index.turns.file(id, turn_key);
            }
        }
    }

    /// Members count towards their group's usage even without queued tasks.
    fn fair_entry(&self, user: &User, oldest: Option<TaskId>) -> Option<Entry> {
        let fair = &self.settings().fair;
        let (party, party_weight) = match &user.group {
            None if oldest.is_none() => return None,
            None => (TurnParty::Alone(user.id), user.weight),
            Some(group) => {
                let weight = fair.groups.get(group).copied().unwrap_or(Thousandths::ONE);
                (TurnParty::Group(group.clone()), weight)
            }
        };
        let gpus = self.running_of(user.id).gpus;
        let deposit = Deposit::of(user.used, gpus, fair.half_life);
        Some(Entry { party, party_weight, weight: user.weight, deposit, oldest })
    }
}

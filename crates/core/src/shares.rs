//! Users and what is theirs: what they have running and waiting, what they have used, and whose turn it is.

use crate::ids::{TaskId, UserId};
use crate::policy::balance;
use crate::queue::Lane;
use crate::quota::{Load, Spent};
use crate::settings::Order;
use crate::state::State;
use crate::time::Time;
use crate::usage::Usage;
use crate::user::User;

impl State {
    pub(crate) fn insert_user(&mut self, user: User) {
        if let Some(group) = &user.group {
            self.index.groups.entry(group.clone()).or_default().insert(user.id);
        }
        self.users.insert(user.id, user);
    }

    pub(crate) fn change_user(&mut self, id: UserId, change: impl FnOnce(&mut User)) {
        let mut user = self.users.remove(&id).expect("the caller has looked the user up");
        if let Some(group) = &user.group
            && let Some(members) = self.index.groups.get_mut(group)
        {
            members.remove(&id);
            if members.is_empty() {
                self.index.groups.remove(group);
            }
        }
        change(&mut user);
        self.insert_user(user);
        self.refile(id);
    }

    pub(crate) fn members_of(&self, group: &str) -> impl Iterator<Item = UserId> {
        self.index.groups.get(group).into_iter().flatten().copied()
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
        self.index.of_users.get(&user).map(|loads| loads.waiting).unwrap_or_default()
    }

    /// What a project has running and waiting.
    pub fn load_of_project(&self, project: &str) -> (Load, Load) {
        let loads = self.index.of_projects.get(project).copied().unwrap_or_default();
        (loads.running, loads.waiting)
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

    /// A user's place among those who wait may be another.
    pub(crate) fn refile(&mut self, user: UserId) {
        if self.settings().order != Order::Balance {
            return;
        }
        let oldest = self.index.queue.submitted_from(Lane::User(user), TaskId(0)).next();
        let gpus = self.running_of(user).gpus;
        let standing = oldest.zip(self.users.get(&user));
        let standing = standing.map(|(oldest, user)| balance::standing(user, gpus, oldest));
        self.index.turns.file(user, standing);
    }
}

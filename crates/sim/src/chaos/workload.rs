//! The requests of clients: a random workload, and random actions on existing tasks, nodes and users.

use super::dice::Dice;
use super::idle_rule;
use super::world::World;
use danlu_core::input::GpuChange;
use danlu_core::quota::{OverQuota, Quota, QuotaSettings};
use danlu_core::run::RunState;
use danlu_core::settings::{
    Backfill, FairSettings, HistorySettings, Limits, Order, PlacementRule, RestartCost, Settings,
};
use danlu_core::task::TaskState;
use danlu_core::user::UserChange;
use danlu_core::{Actor, Input, NodeId, RunId, Span, TaskId, Thousandths, UserId};
use std::collections::BTreeMap;

/// The parameters of one seed's clients.
#[derive(Debug)]
pub(super) struct Workload {
    /// The longest they think between two requests, in milliseconds.
    pub(super) think: u64,
    pub(super) most_tasks: u64,
    /// The longest a task runs, in milliseconds.
    pub(super) longest: u64,
    /// In thousandths.
    pub(super) meddling: u64,
    pub(super) preemptible: u64,
    pub(super) spanning: u64,
    pub(super) sharing: u64,
    /// Tasks on several machines at once.
    pub(super) gangs: u64,
}

#[derive(Debug, Clone, Copy)]
enum Verb {
    Cancel,
    Hold,
    Release,
    Retry,
    Remove,
    Edit,
    Move,
    Extend,
    Keep,
    Requeue,
    Start,
    Pause,
    Resume,
}

impl Verb {
    const ALL: [Verb; 13] = [
        Verb::Cancel,
        Verb::Hold,
        Verb::Release,
        Verb::Retry,
        Verb::Remove,
        Verb::Edit,
        Verb::Move,
        Verb::Extend,
        Verb::Keep,
        Verb::Requeue,
        Verb::Start,
        Verb::Pause,
        Verb::Resume,
    ];
}

impl World {
    /// From idle clusters to ones with twice the work that they can do before the faults end.
    pub(super) fn draw_workload(dice: &mut Dice, gpus: u64, faults_last: Span) -> Workload {
        let most_tasks = dice.scale(10, 80);
        let percent = dice.scale(10, 200);
        // A task asks for two GPUs on average, and runs a fifth of the longest time.
        let longest = faults_last.0 * gpus * percent / 100 * 5 / (2 * most_tasks);
        Workload {
            think: dice.scale(500, 8000).min(faults_last.0 * 6 / most_tasks),
            most_tasks,
            longest: longest.clamp(1000, 120_000),
            meddling: dice.between(0, 500),
            preemptible: dice.between(0, 900),
            spanning: dice.between(0, 300),
            sharing: dice.between(0, 600),
            gangs: if dice.chance(500) { dice.between(0, 300) } else { 0 },
        }
    }

    /// `None` when there is nothing to ask about.
    pub(super) fn draw_input(&mut self, client: usize) -> Option<Input> {
        if self.dice.chance(40)
            && let Some(submit) = self.dice.pick(&self.clients[client].submits)
        {
            // It forgot that it was answered long ago.
            self.tally.repeated_submits += 1;
            return Some(submit);
        }
        if self.dice.chance(60) {
            return self.draw_idle();
        }
        let meddles = self.dice.chance(self.workload.meddling);
        match (meddles, self.clients[client].admin) {
            (false, _) => self.draw_submit(client),
            (true, true) if self.dice.chance(500) => self.draw_admin(client),
            (true, _) => self.draw_task(client),
        }
    }

    fn draw_task(&mut self, client: usize) -> Option<Input> {
        let by = self.clients[client].actor();
        // Now and then another user's task, which only an admin may touch.
        let own =
            if self.dice.chance(100) { &self.everybodys } else { &self.clients[client].known };
        let most = if self.dice.chance(300) { own.len() } else { 10 };
        let mut recent: Vec<TaskId> = own[own.len().saturating_sub(most)..].to_vec();
        // An admin sees tasks that were not acknowledged yet.
        if self.clients[client].admin {
            let state = self.daemon.state();
            let newest = state.and_then(|state| state.tasks.last_key_value());
            recent.extend(newest.map(|(task, _)| *task));
        }
        let task = self.dice.pick(&recent)?;
        // People look before they ask, mostly.
        let looks = self.dice.chance(850);
        let state = self.daemon.state().filter(|_| looks);
        let live = state.and_then(|state| state.tasks.get(&task)).map(|task| &task.state);
        let old = self.disk.tables.retired(task).filter(|_| looks).map(|it| &it.task.state);
        let verbs: &[Verb] = match live.or(old) {
            Some(TaskState::Held) => &[Verb::Release, Verb::Release, Verb::Cancel],
            Some(TaskState::Blocked { .. }) => &[Verb::Hold, Verb::Cancel, Verb::Edit],
            Some(TaskState::Queued { .. }) => {
                &[Verb::Hold, Verb::Cancel, Verb::Edit, Verb::Move, Verb::Start]
            }
            Some(TaskState::Active { .. }) => {
                &[Verb::Cancel, Verb::Pause, Verb::Resume, Verb::Extend, Verb::Keep, Verb::Requeue]
            }
            Some(TaskState::Finished { .. }) => &[Verb::Retry, Verb::Remove],
            None => &Verb::ALL,
        };
        Some(match self.dice.pick(verbs)? {
            Verb::Cancel => Input::Cancel { by, task },
            Verb::Hold => Input::Hold { by, task },
            Verb::Release => Input::Release { by, task },
            Verb::Retry => Input::Retry { by, task },
            Verb::Remove => Input::Remove { by, task },
            Verb::Edit => return self.draw_edit(by, task),
            Verb::Move => Input::Move { by, task, position: self.dice.index(10) },
            Verb::Extend => Input::Extend { by, task, more: self.dice.span(0, 60_000) },
            Verb::Keep => Input::Keep { by, task, time: self.dice.span(0, 60_000) },
            Verb::Requeue => Input::Requeue { by, task },
            Verb::Start => Input::Start { by, task },
            Verb::Pause => Input::Pause { by, task },
            Verb::Resume => Input::Resume { by, task },
        })
    }

    fn draw_admin(&mut self, client: usize) -> Option<Input> {
        let by = self.clients[client].actor();
        let state = self.daemon.state()?;
        let nodes: Vec<NodeId> = state.nodes.keys().copied().collect();
        let going = |state: &RunState| !matches!(state, RunState::Ended { .. });
        let runs = state.runs.values().filter(|run| going(&run.state));
        let runs: Vec<RunId> = runs.map(|run| run.id).collect();
        let users: Vec<UserId> = state.users.keys().copied().collect();
        let licences = u32::try_from(self.dice.between(0, 4)).unwrap_or(0);
        Some(match self.dice.below(36) {
            27..=28 => {
                let hall = self.dice.pick(&["east", "west", ""]).unwrap_or("");
                let hall = Some(hall.to_owned()).filter(|hall| !hall.is_empty());
                let change = BTreeMap::from([("hall".to_owned(), hall)]);
                Input::SetLabels { by, node: self.dice.pick(&nodes)?, change }
            }
            29..=31 => {
                let force = self.dice.chance(500);
                Input::DeclareLost { by, node: self.dice.pick(&nodes)?, force }
            }
            24..=26 => {
                let resources = BTreeMap::from([("licence".to_owned(), licences)]);
                Input::SetResources { by, node: self.dice.pick(&nodes)?, resources }
            }
            0..=2 => Input::Drain { by, node: self.dice.pick(&nodes)? },
            3..=7 => Input::Undrain { by, node: self.dice.pick(&nodes)? },
            8 | 32 | 33 => Input::RemoveNode { by, node: self.dice.pick(&nodes)? },
            9..=10 => {
                let machine = self.dice.index(self.machines.len());
                let it = &self.machines[machine];
                Input::AddNode { by, name: it.name.clone(), labels: it.labels.clone() }
            }
            11..=12 => Input::Abandon { by, run: self.dice.pick(&runs)? },
            13..=16 => {
                let user = self.dice.pick(&users)?;
                let priority = self.dice.pick(&[-2_000, -2_000, -1, 0, 1, 1_000, 3_000]);
                let weight = self.dice.pick(&[1, 1_000, 5_000]).map(Thousandths);
                let group = self.dice.pick(&["", "vision", "speech"]).map(str::to_owned);
                let priority = priority.map(Thousandths);
                let change = match self.dice.below(5) {
                    0 => UserChange { weight, ..UserChange::default() },
                    1 => UserChange { group, ..UserChange::default() },
                    _ => UserChange { priority, ..UserChange::default() },
                };
                Input::SetUser { by, user, change }
            }
            17..=20 => return self.draw_gpus(by, &nodes),
            34 => Input::EndUnknownRuns { by, node: self.dice.pick(&nodes)? },
            35 => self.draw_rename(by),
            _ => Input::Configure { by, settings: self.draw_settings() },
        })
    }

    /// To rename a machine, the operator adds it under its new name and removes the old one later.
    fn draw_rename(&mut self, by: Actor) -> Input {
        let machine = self.dice.index(self.machines.len());
        self.serial_number += 1;
        self.tally.renamed += 1;
        let it = &mut self.machines[machine];
        it.name = format!("n{machine}r{}", self.serial_number);
        let (name, labels) = (it.name.clone(), it.labels.clone());
        self.note_machine(machine, format_args!("has another name"));
        if let Some(session) = self.machines[machine].link {
            self.cut(session, None);
        }
        Input::AddNode { by, name, labels }
    }

    fn draw_gpus(&mut self, by: Actor, nodes: &[NodeId]) -> Option<Input> {
        let node = self.dice.pick(nodes)?;
        let number = u32::try_from(self.dice.below(8)).unwrap_or(0);
        let change = match self.dice.below(6) {
            0 => GpuChange::Disable([number].into()),
            1..=2 => GpuChange::Enable([number].into()),
            _ => {
                let slots = u16::try_from(self.dice.between(1, 3)).unwrap_or(1);
                GpuChange::Slots([(number, slots)].into())
            }
        };
        Some(Input::ManageGpus { by, node, change })
    }

    pub(super) fn draw_settings(&mut self) -> Settings {
        let retry_on = self.draw_classes();
        let dice = &mut self.dice;
        let orders = [
            Order::Balance,
            Order::Balance,
            Order::Balance,
            Order::Fair,
            Order::Fifo,
            Order::Auto,
            Order::Sjf,
            Order::Srtf,
            Order::Las,
        ];
        let backfills = [Backfill::None, Backfill::Skip, Backfill::Easy];
        use PlacementRule::{Consolidate, Count, Frag, Lowest, Spread};
        let placements = [Consolidate, Spread, Count, Frag, Lowest];
        let settings = Settings {
            order: dice.pick(&orders).unwrap_or(Order::Balance),
            backfill: dice.pick(&backfills).unwrap_or(Backfill::Easy),
            placement: dice.pick(&placements).unwrap_or(PlacementRule::Consolidate),
            stop_grace: Span(dice.scale(100, 20_000)),
            requeue_lost: dice.chance(800),
            max_losses: u32::try_from(dice.between(0, 10)).unwrap_or(10),
            lost_after: Span(if dice.chance(300) { dice.scale(1_000, 60_000) } else { 0 }),
            min_run_before_preemption: Span(dice.scale(1, 30_000)),
            restart_cost: RestartCost {
                up_to_8_gpus: dice.span(0, 5000),
                above: dice.span(0, 9000),
            },
            las_threshold: Span(dice.scale(500, 60_000)),
            queue_paused: dice.chance(30),
            max_extension: Span(dice.scale(1_000, 600_000)),
            default_retries: 0,
            retry_on,
            retry_backoff: Span(dice.scale(1, 5_000)),
            retry_backoff_max: Span(dice.scale(1_000, 60_000)),
            fair: FairSettings {
                half_life: Span(dice.scale(1, 600_000)),
                groups: BTreeMap::from([("vision".to_owned(), Thousandths(2_500))]),
            },
            // Often neither: what they do hides what the order does.
            quota: if dice.chance(500) { draw_quotas(dice) } else { QuotaSettings::default() },
            reserve_after: Span(if dice.chance(500) { dice.scale(1, 120_000) } else { 0 }),
            idle_delay: if dice.chance(300) { dice.span(1, 5000) } else { Span::ZERO },
            settle_time: Span(dice.scale(100, 20_000)),
            reclaim_unused_memory: dice.chance(100),
            limits: Limits {
                max_tasks_per_gpu: dice
                    .chance(200)
                    .then(|| u32::try_from(dice.between(1, 4)).unwrap_or(1)),
                log_bytes_per_user: dice.chance(100).then(|| dice.between(0, 20_000)),
                ..Limits::default()
            },
            predictions: dice.chance(700),
            auto_inside: dice.chance(100),
            history: HistorySettings {
                recent: if dice.chance(850) { dice.scale(1, 21) - 1 } else { 1_000 },
                ..HistorySettings::default()
            },
            idle: Box::new(idle_rule::draw_settings(dice)),
            ..Settings::default()
        };
        match dice.chance(200) {
            true => only_turns(settings),
            false => settings,
        }
    }
}

/// Users take turns and nothing else decides, so that a task out of turn is noticed.
fn only_turns(settings: Settings) -> Settings {
    Settings {
        order: Order::Balance,
        backfill: Backfill::None,
        quota: QuotaSettings::default(),
        reserve_after: Span::ZERO,
        auto_inside: false,
        ..settings
    }
}

/// Mostly none. Periods are short, so that each user's quota renews.
fn draw_quotas(dice: &mut Dice) -> QuotaSettings {
    let mut limit = |chance, least, most| dice.chance(chance).then(|| dice.between(least, most));
    let mut quota = |chance| Quota {
        running_tasks: limit(chance, 1, 4),
        running_gpus: limit(chance, 2, 8),
        queued_tasks: limit(chance / 2, 2, 10),
        open_tasks: limit(chance / 2, 4, 14),
        gpu_hours: limit(chance / 4, 1, 2),
    };
    let (user, other, project) = (quota(150), quota(150), quota(200));
    QuotaSettings {
        over: dice.pick(&[OverQuota::Wait, OverQuota::Refuse]).unwrap_or(OverQuota::Wait),
        period: Span(dice.scale(1_000, 60_000)),
        user,
        users: BTreeMap::from([("user1".to_owned(), other)]),
        project: BTreeMap::from([("llm".to_owned(), project)]),
    }
}

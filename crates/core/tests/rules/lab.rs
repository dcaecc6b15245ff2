//! A lab in a few lines: users, nodes and a clock around the real `step`.

use danlu_core::gpu::{ForeignProcess, GpuCondition, GpuReport};
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::run::{Ending, Exit, PartState, ReportedState, RunReport, RunState};
use danlu_core::settings::{Backfill, Order};
use danlu_core::state::Retired;
use danlu_core::task::{Dependency, DependencyKind, Outcome, TaskSpec, TaskState};
use danlu_core::*;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const ANN: UserId = UserId(1);
pub(crate) const BOB: UserId = UserId(2);
pub(crate) const ADMIN: UserId = UserId(3);

pub(crate) struct Lab {
    pub(crate) state: State,
    pub(crate) now: Time,
    pub(crate) effects: Vec<Effect>,
    pub(crate) events: Vec<Event>,
    /// Ended tasks that have left the state.
    pub(crate) history: BTreeMap<TaskId, Retired>,
    sessions: u64,
}

/// `lab(&[8, 8])`: two nodes of 8 GPUs each, connected and clean, strict fifo.
pub(crate) fn lab(gpus: &[u32]) -> Lab {
    let mut lab = Lab {
        state: State::new(),
        now: Time::from_secs(1_000),
        effects: Vec::new(),
        events: Vec::new(),
        history: BTreeMap::new(),
        sessions: 0,
    };
    lab.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
    for (name, admin) in [("ann", false), ("bob", false), ("admin", true)] {
        lab.act(Input::AddUser { by: Actor::Daemon, name: name.into(), admin });
    }
    lab.policy(Order::Fifo, Backfill::None);
    lab.configure(|settings| {
        settings.min_run_before_preemption = Settings::default().min_run_before_preemption;
        settings.retry_backoff = Span::ZERO;
        settings.reserve_after = Span::ZERO;
    });
    for (number, gpus) in (1..).zip(gpus) {
        let (name, labels) = (format!("n{number}"), BTreeMap::new());
        lab.act(Input::AddNode { by: Actor::Daemon, name, labels });
        lab.connect(number);
        lab.report(number, healthy(number, *gpus), vec![]);
    }
    lab.effects.clear();
    lab.events.clear();
    lab
}

pub(crate) fn healthy(node: u32, gpus: u32) -> Vec<GpuReport> {
    (0..gpus).map(|index| gpu(node, index, GpuCondition::Idle)).collect()
}

pub(crate) fn gpu(node: u32, index: u32, condition: GpuCondition) -> GpuReport {
    let id = GpuId::from(format!("GPU-{node}-{index}").as_str());
    GpuReport { condition, ..GpuReport::new(id, index, "NVIDIA A100-SXM4-80GB", 80 << 30) }
}

pub(crate) fn foreign() -> GpuCondition {
    GpuCondition::Foreign { processes: vec![ForeignProcess { pid: 77, user: "eve".into() }] }
}

pub(crate) fn wants(gpus: u32) -> TaskSpec {
    TaskSpec {
        command: vec!["train".into()],
        request: Request::gpus(gpus).into(),
        ..TaskSpec::default()
    }
}

pub(crate) fn lasting(gpus: u32, seconds: u64) -> TaskSpec {
    TaskSpec { expected: Some(Span::from_secs(seconds)), ..wants(gpus) }
}

pub(crate) fn after(kind: DependencyKind, tasks: &[u64]) -> TaskSpec {
    let after = tasks.iter().map(|id| Dependency { task: TaskId(*id), kind }).collect();
    TaskSpec { after, ..wants(1) }
}

pub(crate) fn ending(exit: Exit, stopped: bool) -> Ending {
    Ending { stopped, ..Ending::new(exit, Time(0)) }
}

impl Lab {
    /// One step, with everything that must hold after any step.
    pub(crate) fn try_act(&mut self, input: Input) -> Result<Reply, Refusal> {
        let before = self.state.clone();
        let step = step(&mut self.state, input, self.now);
        self.state.check().unwrap();
        assert_changes_are_named(&before, &self.state, &step.events);
        // What it names of an array may have been added.
        if step.reply.is_err() && before.ledger.growing == self.state.ledger.growing {
            assert_eq!(before, self.state, "a refusal changes nothing");
        }
        self.effects.extend(step.effects);
        self.events.extend(step.events);
        self.history.extend(step.retired.into_iter().map(|it| (it.task.id, it)));
        step.reply
    }

    /// One step, after what it names has been recalled, as the engine does it.
    pub(crate) fn ask(&mut self, input: Input) -> Result<Reply, Refusal> {
        let mut looked_for = BTreeSet::new();
        loop {
            let missing = input.missing(&self.state).into_iter();
            let missing: Vec<Missing> =
                missing.filter(|it| looked_for.insert(it.clone())).collect();
            if missing.is_empty() {
                return self.try_act(input);
            }
            for it in missing {
                let wanted = |retired: &&Retired| match &it {
                    Missing::Task(id) => retired.task.id == *id,
                    Missing::Key(user, key) => {
                        retired.task.owner == *user && retired.task.key.as_deref() == Some(key)
                    }
                };
                if let Some(id) = self.history.values().find(wanted).map(|it| it.task.id) {
                    let retired = self.history.remove(&id).unwrap();
                    self.act(Input::Recall(Box::new(retired)));
                }
            }
        }
    }

    pub(crate) fn act(&mut self, input: Input) -> Reply {
        self.try_act(input).unwrap()
    }

    pub(crate) fn configure(&mut self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.state.settings().clone();
        change(&mut settings);
        self.act(Input::Configure { by: Actor::Daemon, settings });
    }

    pub(crate) fn policy(&mut self, order: Order, backfill: Backfill) {
        self.configure(|settings| {
            (settings.order, settings.backfill) = (order, backfill);
            settings.min_run_before_preemption = Span::ZERO;
        });
    }

    pub(crate) fn submit(&mut self, spec: TaskSpec) -> TaskId {
        match self.act(Input::Submit { by: ANN, spec, key: None }) {
            Reply::Task(id) => id,
            other => panic!("submit answered {other:?}"),
        }
    }

    pub(crate) fn schedule(&mut self) {
        self.act(Input::Schedule);
    }

    pub(crate) fn after_secs(&mut self, seconds: u64) {
        self.now = self.now + Span::from_secs(seconds);
    }

    pub(crate) fn cancel(&mut self, task: u64) {
        self.act(Input::Cancel { by: Actor::User(ANN), task: TaskId(task) });
    }

    pub(crate) fn connect(&mut self, node: u32) {
        self.sessions += 1;
        let session = SessionId(self.sessions);
        let message = NodeMessage::Connected;
        self.act(Input::Node { node: NodeId(node), session, message });
    }

    /// The node speaks on its newest connection.
    pub(crate) fn hear(&mut self, node: u32, message: NodeMessage) {
        let node = NodeId(node);
        let session = self.state.nodes[&node].session;
        self.act(Input::Node { node, session, message });
    }

    pub(crate) fn report(&mut self, node: u32, gpus: Vec<GpuReport>, runs: Vec<RunReport>) {
        let capacity = Capacity { cpus: 16, memory: 256 << 30 };
        self.hear(
            node,
            NodeMessage::Report(NodeReport {
                capacity,
                free_memory: None,
                gpus,
                runs,
                trouble: None,
            }),
        );
    }

    /// Connection gone, and back with this report.
    pub(crate) fn reconnect(&mut self, node: u32, runs: Vec<RunReport>) {
        let gpus = self.state.nodes[&NodeId(node)].gpus.len();
        self.hear(node, NodeMessage::Lost);
        self.connect(node);
        self.report(node, healthy(node, u32::try_from(gpus).unwrap()), runs);
    }

    pub(crate) fn run_of(&self, task: u64) -> RunId {
        self.state.tasks[&TaskId(task)].trail().last_run.unwrap()
    }

    /// The task that runs, where it is one.
    pub(crate) fn running(&self) -> u64 {
        self.state.active_runs().next().unwrap().task.0
    }

    pub(crate) fn started(&mut self, task: u64) {
        let (run, at) = (self.run_of(task), self.now);
        for node in self.nodes_of(run) {
            self.hear(node, NodeMessage::Started { run, at });
        }
    }

    /// Every part of the task's run ends like this.
    pub(crate) fn ended(&mut self, task: u64, exit: Exit) {
        self.ended_with(task, ending(exit, false));
    }

    pub(crate) fn ended_with(&mut self, task: u64, ending: Ending) {
        let run = self.run_of(task);
        for node in self.nodes_of(run) {
            self.hear(node, NodeMessage::Ended { run, ending: ending.clone() });
        }
    }

    fn nodes_of(&self, run: RunId) -> Vec<u32> {
        let open = |part: &&run::RunPart| !matches!(part.state, PartState::Ended { .. });
        self.state.runs[&run].parts.iter().filter(open).map(|part| part.node.0).collect()
    }

    pub(crate) fn alive(&self, task: u64) -> RunReport {
        let state = ReportedState::Alive { since: self.now, paused: false, limit: None };
        RunReport::new(self.run_of(task), state)
    }

    pub(crate) fn over(&self, task: u64, exit: Exit) -> RunReport {
        let state = ReportedState::Ended(ending(exit, false));
        RunReport::new(self.run_of(task), state)
    }

    pub(crate) fn why(&self, task: u64) -> WaitReason {
        explain(&self.state, TaskId(task), self.now).unwrap()
    }

    /// The effects since the last call, in short.
    pub(crate) fn effects(&mut self) -> Vec<String> {
        let show = |effect: Effect| match effect {
            Effect::Launch(launch) => format!("launch {} on n{}", launch.task, launch.node),
            Effect::Stop { node, run, .. } => format!("stop {run} on n{node}"),
            Effect::Pause { node, run, on, .. } => {
                format!("{} {run} on n{node}", if on { "pause" } else { "resume" })
            }
            Effect::SetLimit { node, run, limit, .. } => {
                format!("limit {run} on n{node} to {limit}")
            }
            Effect::Forget { node, run, .. } => format!("forget {run} on n{node}"),
            Effect::DropLog { node, run, .. } => format!("drop the log of {run} on n{node}"),
            Effect::AskReport { node, .. } => format!("ask n{node}"),
        };
        self.effects.drain(..).map(show).collect()
    }

    /// One word or two for each task.
    pub(crate) fn tasks(&self) -> Vec<String> {
        self.state.tasks.values().map(|task| self.show(task)).collect()
    }

    pub(crate) fn task(&self, id: u64) -> String {
        self.show(&self.state.tasks[&TaskId(id)])
    }

    fn show(&self, task: &Task) -> String {
        match &task.state {
            TaskState::Held => "held".into(),
            TaskState::Blocked { on } => {
                format!("blocked on {:?}", on.iter().map(|id| id.0).collect::<Vec<_>>())
            }
            TaskState::Queued { .. } => "queued".into(),
            TaskState::Active { run } => self.show_run(&self.state.runs[run]),
            TaskState::Finished { outcome, .. } => match &**outcome {
                Outcome::Failed { exit } => format!("failed {exit:?}"),
                Outcome::Cancelled { .. } => "cancelled".into(),
                Outcome::DependencyFailed { on } => format!("dependency {on} failed"),
                other => format!("{other:?}").to_lowercase(),
            },
        }
    }

    fn show_run(&self, run: &Run) -> String {
        let word = match run.state {
            RunState::Starting => "starting",
            RunState::Running { .. } => "running",
            RunState::Paused { .. } => "paused",
            RunState::Stopping { .. } => "stopping",
            RunState::Ended { .. } => "ended",
        };
        let open = run.parts.iter().filter(|part| !matches!(part.state, PartState::Ended { .. }));
        let places = open.map(|part| {
            let node = &self.state.nodes[&part.node];
            let index = |id: &GpuId| node.gpus.iter().find(|gpu| gpu.id == *id).unwrap().index;
            let gpus: Vec<String> = part.gpus.iter().map(index).map(|i| i.to_string()).collect();
            format!("{}[{}]", node.name, gpus.join(","))
        });
        format!("{word} {}", places.collect::<Vec<_>>().join(" "))
    }
}

/// Every row that a step has changed is named by one of its events, and the rows hold everything.
pub(crate) fn assert_changes_are_named(before: &State, after: &State, events: &[Event]) {
    let named: BTreeSet<RowKey> = events.iter().flat_map(Event::rows).collect();
    let keys: BTreeSet<RowKey> = before.rows().chain(after.rows()).map(|row| row.key()).collect();
    for key in keys {
        if before.row(key) != after.row(key) {
            assert!(named.contains(&key), "{key:?} changed, but the events are {events:?}");
        }
    }
    let mut loaded = State::from_rows(after.rows()).unwrap();
    loaded.set_slice(after.slice);
    assert_eq!(&loaded, after);
}

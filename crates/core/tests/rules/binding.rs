//! What is named as the reason is the reason: without it the task starts, with any part of it left it does not.

use crate::cluster::any_cluster;
use danlu_core::explain::constraint::{Attribute, Constraint, GpuObstacle, Holder, NodeObstacle};
use danlu_core::explain::why::Scene;
use danlu_core::gpu::{Gpu, GpuCondition, GpuReport, GpuUsage, Tenant};
use danlu_core::ids::SpecId;
use danlu_core::input::NodeReport;
use danlu_core::quota::{Limit, Party};
use danlu_core::resources::Sharing;
use danlu_core::run::{Ending, Exit, ReportedState, RunReport};
use danlu_core::task::{TaskSpec, TaskState};
use danlu_core::*;
use proptest::prelude::*;
use std::sync::Arc;

/// A copy of the world in which some constraints are gone.
struct Lifted {
    state: State,
    task: TaskId,
    now: Time,
}

impl Lifted {
    fn of(state: &State, task: TaskId, constraints: &[Constraint], now: Time) -> Lifted {
        let mut lifted = Lifted { state: state.clone(), task, now };
        // Machines first: what ends there is heard afterwards. An edit is refused while nothing could run the task.
        let mut constraints: Vec<&Constraint> = constraints.iter().collect();
        constraints.sort_by_key(|constraint| match constraint {
            Constraint::Node { .. } => 0,
            Constraint::Dependencies { .. } => 2,
            Constraint::Turn { .. } => 3,
            _ => 1,
        });
        constraints.into_iter().for_each(|constraint| lifted.lift(constraint));
        lifted
    }

    fn starts(mut self) -> bool {
        self.act(Input::Schedule);
        self.state.check().unwrap();
        matches!(self.state.tasks[&self.task].state, TaskState::Active { .. })
    }

    fn act(&mut self, input: Input) -> Step {
        step(&mut self.state, input, self.now)
    }

    /// The same state from changed rows.
    fn rewrite(&mut self, change: impl Fn(&mut Row)) {
        let rows = self.state.rows().map(|mut row| {
            change(&mut row);
            row
        });
        let rows: Vec<Row> = rows.collect();
        self.state = State::from_rows(rows).unwrap();
    }

    fn rewrite_node(&mut self, wanted: NodeId, change: impl Fn(&mut Node)) {
        self.rewrite(|row| match row {
            Row::Node(node) if node.id == wanted => change(node),
            _ => {}
        });
    }

    fn rewrite_gpu(&mut self, node: NodeId, wanted: &GpuId, change: impl Fn(&mut Gpu)) {
        self.rewrite_node(node, |node| {
            node.gpus.iter_mut().filter(|gpu| gpu.id == *wanted).for_each(&change);
        });
    }

    fn rewrite_spec(&mut self, change: impl Fn(&mut TaskSpec)) {
        let mut spec = TaskSpec::clone(&self.state.tasks[&self.task].spec);
        change(&mut spec);
        let new = self.state.ledger.next_spec;
        let mut rows: Vec<Row> = self.state.rows().collect();
        let used = |rows: &[Row], id: SpecId| {
            rows.iter().filter(|row| matches!(row, Row::Task(task) if task.spec_id == id)).count()
        };
        let old = self.state.tasks[&self.task].spec_id;
        let shared = used(&rows, old) > 1;
        for row in &mut rows {
            match row {
                Row::Ledger(ledger) => ledger.next_spec = SpecId(new.0 + 1),
                Row::Task(task) if task.id == self.task => Arc::make_mut(task).spec_id = new,
                _ => {}
            }
        }
        rows.retain(|row| shared || !matches!(row, Row::Spec { id, .. } if *id == old));
        rows.push(Row::Spec { id: new, spec: Arc::new(spec) });
        self.state = State::from_rows(rows).unwrap();
    }

    fn lift(&mut self, constraint: &Constraint) {
        let (by, task) = (Actor::Daemon, self.task);
        match constraint {
            Constraint::Held | Constraint::InDoubt { .. } => {
                self.act(Input::Release { by, task }).reply.unwrap();
            }
            Constraint::Dependencies { .. } => {
                let spec = TaskSpec::clone(&self.state.tasks[&task].spec);
                let spec = TaskSpec { after: Vec::new(), ..spec };
                self.act(Input::Edit { by, task, spec });
            }
            Constraint::Begins { .. } | Constraint::RetryAt { .. } => {
                self.rewrite(|row| match row {
                    Row::Task(row) if row.id == task => {
                        Arc::make_mut(row).trail_mut().not_before = None;
                    }
                    _ => {}
                });
            }
            Constraint::QueuePaused => self.configure(|settings| settings.queue_paused = false),
            Constraint::ArrayLimit { .. } => self.rewrite_spec(|spec| {
                spec.array.as_mut().unwrap().at_once = None;
            }),
            Constraint::Quota(excess) => self.configure(|settings| {
                let quotas = &mut settings.quota;
                let quota = match &excess.whose {
                    Party::User(name) => quotas.users.entry(name.clone()).or_default(),
                    Party::Project(name) => quotas.project.get_mut(name).unwrap(),
                };
                match excess.limit {
                    Limit::RunningTasks => quota.running_tasks = Some(1_000),
                    Limit::RunningGpus => quota.running_gpus = Some(1_000),
                    limit => panic!("{limit:?} keeps no task waiting here"),
                }
            }),
            Constraint::Settling(holder) => self.settle(holder),
            Constraint::RunEnds(holder) => self.end(holder.run),
            Constraint::Gpu { node, gpu, why } => self.free(node.id, &gpu.id, why),
            Constraint::Node { node, why } => match why {
                NodeObstacle::ShortOfMemory { .. } => {
                    self.rewrite_node(node.id, |node| node.free_memory = None);
                }
                NodeObstacle::Unfit { .. } => {
                    self.rewrite_node(node.id, |node| node.unfit = None);
                }
                NodeObstacle::Draining => {
                    self.act(Input::Undrain { by, node: node.id }).reply.unwrap();
                }
                NodeObstacle::Unverified | NodeObstacle::Away => self.reconnect(node.id),
            },
            Constraint::KeepGpuMemory { .. } => self.configure(|settings| {
                settings.keep_gpu_memory = Settings::default().keep_gpu_memory;
            }),
            Constraint::TasksPerGpu { .. } => {
                self.configure(|settings| settings.limits.max_tasks_per_gpu = None);
            }
            Constraint::Asks(attribute) => self.rewrite_spec(|spec| ask_less(spec, attribute)),
            Constraint::Turn { .. } => {
                let queued = self.state.tasks.values().filter(|it| it.is_queued());
                let others: Vec<TaskId> = queued.map(|it| it.id).filter(|id| *id != task).collect();
                for task in others {
                    self.act(Input::Hold { by, task }).reply.unwrap();
                }
            }
            Constraint::NoNodes => panic!("there are machines"),
        }
    }

    /// It is back, and all that runs there goes on.
    fn reconnect(&mut self, id: NodeId) {
        let node = self.state.nodes[&id].clone();
        let session = SessionId(node.session.0 + 1);
        let gpu = |gpu: &Gpu| GpuReport {
            condition: gpu.condition.clone(),
            usage: gpu.usage.clone(),
            ..GpuReport::new(gpu.id.clone(), gpu.index, &gpu.model, gpu.memory)
        };
        let alive = ReportedState::Alive { since: self.now, paused: false, limit: None };
        let runs = self.state.runs_on(id).map(|run| RunReport::new(run, alive.clone()));
        let report = NodeReport {
            capacity: node.capacity.unwrap(),
            free_memory: node.free_memory,
            gpus: node.gpus.iter().map(gpu).collect(),
            runs: runs.collect(),
            trouble: node.unfit.map(|unfit| unfit.trouble),
        };
        for message in [NodeMessage::Connected, NodeMessage::Report(report)] {
            self.act(Input::Node { node: id, session, message }).reply.unwrap();
        }
    }

    fn configure(&mut self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.state.settings().clone();
        change(&mut settings);
        self.act(Input::Configure { by: Actor::Daemon, settings }).reply.unwrap();
    }

    fn settle(&mut self, holder: &Holder) {
        let (run, now) = (holder.run, self.now);
        let held = self.state.runs[&run].parts.iter().flat_map(|part| part.gpus.clone());
        let held: Vec<GpuId> = held.collect();
        self.rewrite(|row| {
            let Row::Node(node) = row else { return };
            for gpu in node.gpus.iter_mut().filter(|gpu| held.contains(&gpu.id)) {
                match gpu.tenants.iter_mut().find(|tenant| tenant.run == run) {
                    Some(tenant) => tenant.settled = true,
                    None => gpu.tenants.push(Tenant { run, peak: 0, grown_at: now, settled: true }),
                }
            }
        });
    }

    fn end(&mut self, run: RunId) {
        let parts = self.state.runs[&run].parts.iter().filter(|part| !part.is_ended());
        let nodes: Vec<NodeId> = parts.map(|part| part.node).collect();
        for node in nodes {
            // One that is away comes back to say so, and is away again.
            let it = &self.state.nodes[&node];
            let (session, away) = match it.live_session() {
                Some(session) => (session, false),
                None => (SessionId(it.session.0 + 1), true),
            };
            let ending = Ending::new(Exit::Code(0), self.now);
            let ended = NodeMessage::Ended { run, ending };
            let messages = match away {
                true => vec![NodeMessage::Connected, ended, NodeMessage::Lost],
                false => vec![ended],
            };
            for message in messages {
                self.act(Input::Node { node, session, message }).reply.unwrap();
            }
        }
    }

    fn free(&mut self, node: NodeId, gpu: &GpuId, why: &GpuObstacle) {
        match why {
            GpuObstacle::JustLeft => self.rewrite_gpu(node, gpu, |gpu| gpu.left_at = None),
            GpuObstacle::Busy { .. } => self.rewrite_gpu(node, gpu, |gpu| gpu.usage.busy = 0),
            GpuObstacle::OtherMemory { .. } => {
                self.rewrite_gpu(node, gpu, |gpu| gpu.usage.other_memory = Some(0));
            }
            GpuObstacle::Foreign { .. } | GpuObstacle::Dirty | GpuObstacle::Unknown => {
                self.rewrite_gpu(node, gpu, |gpu| {
                    gpu.condition = GpuCondition::Idle;
                    gpu.usage = GpuUsage { other_memory: Some(0), busy: 0 };
                });
            }
            GpuObstacle::Quarantined { .. } => self.rewrite_node(node, |node| {
                node.gpu_rules.get_mut(gpu).unwrap().quarantined = None;
            }),
            GpuObstacle::Disabled => self.rewrite_node(node, |node| {
                node.gpu_rules.get_mut(gpu).unwrap().disabled = Some(false);
            }),
            GpuObstacle::UnknownRun | GpuObstacle::OnSeveralNodes { .. } => {
                panic!("there is no {why:?} here")
            }
        }
    }
}

fn ask_less(spec: &mut TaskSpec, attribute: &Attribute) {
    let request = &mut spec.request;
    match attribute {
        Attribute::Resource { name, .. } => drop(request.resources.remove(name)),
        Attribute::Cpus { .. } => request.cpus = 0,
        Attribute::Memory { .. } => request.memory = 0,
        Attribute::GpuMemory { .. } => request.gpu_memory = u64::from(request.is_shared()),
        Attribute::IdleUtilization { .. } => {
            request.sharing = Sharing::Shared { idle_utilization: 0 };
        }
        Attribute::GpuIds { .. } => request.gpu_ids.clear(),
        Attribute::Exclusive => request.sharing = Sharing::Slot,
        Attribute::Model { .. } => request.gpu_model = None,
        Attribute::Node { .. } => request.node = None,
        Attribute::Nodes { .. } => {
            request.gpus = request.gpus_per_node();
            request.nodes = 0;
        }
        Attribute::Gpus { most, .. } => {
            let each = 1.min(*most);
            request.gpus = each * request.nodes.max(1);
            request.gpu_ids.truncate(each as usize);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lifted_together_the_constraints_let_a_task_start_and_each_of_them_is_needed(cluster in any_cluster()) {
        let lab = cluster.build();
        let waiting = lab.state.tasks.values().filter(|task| {
            matches!(task.state, TaskState::Held | TaskState::Blocked { .. } | TaskState::Queued { .. })
        });
        for task in waiting {
            let why = Scene::of(&lab.state, task.id, lab.now).unwrap().why();
            prop_assert!(why.exact, "task {}: {why:#?}", task.id);
            let starts = |constraints: &[Constraint]| {
                Lifted::of(&lab.state, task.id, constraints, lab.now).starts()
            };
            prop_assert!(starts(&why.constraints), "task {} does not start: {why:#?}", task.id);
            for left in 0..why.constraints.len() {
                let mut fewer = why.constraints.clone();
                let needed = fewer.remove(left);
                prop_assert!(!starts(&fewer), "task {} starts without {needed:#?}: {why:#?}", task.id);
            }
        }
    }
}

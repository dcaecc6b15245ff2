//! Random labs: machines of several kinds, some of them away or in trouble, GPUs that others use, and a queue.

use crate::lab::{ADMIN, ANN, BOB, Lab, foreign, lab, lasting, wants};
use danlu_core::gpu::{GpuCondition, GpuReport, GpuUsage, RunMemory};
use danlu_core::input::{GpuChange, NodeReport};
use danlu_core::node::Capacity;
use danlu_core::quota::Quota;
use danlu_core::resources::{NodeSelector, Sharing};
use danlu_core::settings::{Backfill, Limits, Order, PlacementRule};
use danlu_core::task::{ArraySpec, Dependency, DependencyKind, TaskSpec};
use danlu_core::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    machines: Vec<Machine>,
    settings: Settings,
    /// Submitted while all is well, and scheduled.
    first: Vec<(UserId, TaskSpec)>,
    /// Submitted when things have happened.
    later: Vec<(UserId, TaskSpec)>,
    paused: bool,
}

#[derive(Debug, Clone)]
struct Machine {
    cpus: u32,
    licences: u32,
    cards: Vec<Card>,
    fate: Fate,
    short_of_memory: bool,
}

#[derive(Debug, Clone)]
struct Card {
    large: bool,
    slots: u16,
    mishap: Mishap,
    busy: u8,
    other_memory: u64,
    settled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mishap {
    None,
    Foreign,
    JustLeft,
    Dirty,
    Unknown,
    Broken,
    Disabled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Fine,
    Away,
    Unverified,
    Draining,
    Unfit,
}

const CAPACITY: u64 = 64 << 30;

fn any_card() -> impl Strategy<Value = Card> {
    let mishap = prop_oneof![
        8 => Just(Mishap::None),
        1 => Just(Mishap::Foreign),
        1 => Just(Mishap::JustLeft),
        1 => Just(Mishap::Dirty),
        1 => Just(Mishap::Unknown),
        1 => Just(Mishap::Broken),
        1 => Just(Mishap::Disabled),
    ];
    let busy = prop_oneof![3 => Just(0_u8), 1 => Just(60), 1 => Just(95)];
    let other = prop_oneof![4 => Just(0_u64), 1 => Just(30 << 30)];
    let slots = prop_oneof![5 => Just(1_u16), 1 => Just(2)];
    (any::<bool>(), slots, mishap, busy, other, any::<bool>()).prop_map(
        |(large, slots, mishap, busy, other_memory, settled)| Card {
            large,
            slots,
            mishap,
            busy,
            other_memory,
            settled,
        },
    )
}

fn any_machine() -> impl Strategy<Value = Machine> {
    let fate = prop_oneof![
        8 => Just(Fate::Fine),
        1 => Just(Fate::Away),
        1 => Just(Fate::Unverified),
        1 => Just(Fate::Draining),
        1 => Just(Fate::Unfit),
    ];
    let licences = prop_oneof![2 => Just(0_u32), 1 => 1_u32..3];
    (2_u32..9, licences, vec(any_card(), 0..5), fate, prop::bool::weighted(0.1)).prop_map(
        |(cpus, licences, cards, fate, short_of_memory)| Machine {
            cpus,
            licences,
            cards,
            fate,
            short_of_memory,
        },
    )
}

fn any_sharing() -> impl Strategy<Value = (Sharing, u64)> {
    prop_oneof![
        6 => Just((Sharing::Slot, 0)),
        1 => Just((Sharing::Slot, 60 << 30)),
        1 => Just((Sharing::Exclusive, 0)),
        3 => (prop_oneof![Just(0_u8), Just(50)], 5_u64..70)
            .prop_map(|(idle_utilization, gb)| (Sharing::Shared { idle_utilization }, gb << 30)),
    ]
}

fn any_request() -> impl Strategy<Value = Request> {
    let model = prop_oneof![5 => Just(None), 1 => Just(Some("A100")), 1 => Just(Some("a6000"))];
    let node = prop_oneof![6 => Just(None), 1 => Just(Some("n1")), 1 => Just(Some("n2"))];
    let gpu_ids = prop_oneof![6 => Just(vec![]), 1 => Just(vec![1]), 1 => Just(vec![0, 2])];
    let sizes = (0_u32..5, 0_u32..6, prop_oneof![2 => Just(0_u64), 1 => 1_u64..40]);
    let nodes = prop_oneof![6 => Just(0_u32), 1 => Just(2)];
    let licences = prop_oneof![5 => Just(0_u32), 1 => 1_u32..3];
    (sizes, any_sharing(), model, node, gpu_ids, nodes, licences, prop::bool::weighted(0.2))
        .prop_map(
            |(
                (gpus, cpus, memory),
                (sharing, gpu_memory),
                model,
                node,
                gpu_ids,
                nodes,
                licences,
                span_nodes,
            )| {
                let shared = matches!(sharing, Sharing::Shared { .. });
                let gpus = if shared { gpus.clamp(1, 2) } else { gpus };
                let gang = nodes > 1;
                let gpu_ids = if gang || gpus == 0 { Vec::new() } else { gpu_ids };
                let gpus = gpus.max(u32::try_from(gpu_ids.len()).unwrap());
                Request {
                    gpus: if gang { gpus * 2 } else { gpus },
                    nodes,
                    cpus: if gpus == 0 { cpus.max(1) } else { cpus / 2 },
                    memory: memory << 30,
                    span_nodes: span_nodes && !gang && !shared,
                    gpu_memory: if gpus == 0 { 0 } else { gpu_memory },
                    sharing: if gpus == 0 { Sharing::Slot } else { sharing },
                    gpu_model: model.filter(|_| gpus > 0).map(str::to_owned),
                    node: node.filter(|_| !gang).map(|name| NodeSelector::Name(name.to_owned())),
                    prefer: None,
                    gpu_ids,
                    resources: (licences > 0)
                        .then(|| ("licence".to_owned(), licences))
                        .into_iter()
                        .collect(),
                }
            },
        )
}

pub(crate) fn any_task() -> impl Strategy<Value = (UserId, TaskSpec)> {
    let user = prop_oneof![Just(ANN), Just(BOB), Just(ADMIN)];
    let seconds = prop_oneof![1 => Just(None), 2 => (1_u64..500).prop_map(Some)];
    let after = prop_oneof![5 => Just(None), 1 => (1_u64..6).prop_map(Some)];
    let odd = (any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let array = prop_oneof![6 => Just(None), 1 => (1_u32..3).prop_map(Some)];
    (user, any_request(), seconds, after, odd, array).prop_map(
        |(user, request, seconds, after, (preemptible, hold, begins), array)| {
            let spec = match seconds {
                Some(seconds) => lasting(0, seconds),
                None => wants(0),
            };
            let after =
                after.map(|task| Dependency { task: TaskId(task), kind: DependencyKind::AfterOk });
            let array = array.map(|at_once| ArraySpec {
                indices: vec![0, 1, 2],
                at_once: Some(at_once),
                grid: Vec::new(),
            });
            let project = (request.cpus % 2 == 1).then(|| "llm".to_owned());
            let spec = TaskSpec {
                request: request.into(),
                preemptible,
                hold,
                project,
                array,
                after: after.into_iter().collect(),
                begin: begins.then(|| Time::from_secs(100_000)),
                ..spec
            };
            (user, spec)
        },
    )
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let order = prop_oneof![
        3 => Just(Order::Balance),
        1 => Just(Order::Fair),
        2 => Just(Order::Fifo),
        1 => Just(Order::Auto),
        1 => Just(Order::Sjf),
        1 => Just(Order::Srtf),
        1 => Just(Order::Las),
    ];
    let backfill = prop_oneof![Just(Backfill::None), Just(Backfill::Skip), Just(Backfill::Easy)];
    let placement = prop_oneof![
        Just(PlacementRule::Consolidate),
        Just(PlacementRule::Spread),
        Just(PlacementRule::Count),
        Just(PlacementRule::Frag),
        Just(PlacementRule::Lowest)
    ];
    let limit = || prop_oneof![3 => Just(None), 1 => (1_u64..5).prop_map(Some)];
    let kept = prop_oneof![3 => Just("0.0"), 1 => Just("0.5")];
    let most = prop_oneof![3 => Just(None), 1 => Just(Some(1))];
    let aged = prop_oneof![2 => Just(Span::ZERO), 1 => Just(Span::from_secs(100))];
    (order, backfill, placement, (limit(), limit(), limit()), kept, most, aged).prop_map(
        |(order, backfill, placement, (tasks, gpus, of_project), kept, most, reserve_after)| {
            let mut settings = Settings {
                order,
                backfill,
                placement,
                reserve_after,
                retry_backoff: Span::ZERO,
                idle_delay: Span::from_secs(1_000),
                settle_time: Span::from_secs(1_000),
                min_run_before_preemption: Span::ZERO,
                limits: Limits { max_tasks_per_gpu: most, ..Limits::default() },
                ..Settings::default()
            };
            settings.keep_gpu_memory = serde_json::from_str(kept).unwrap();
            settings.quota.user =
                Quota { running_tasks: tasks, running_gpus: gpus, ..Quota::default() };
            if of_project.is_some() {
                let quota = Quota { running_tasks: of_project, ..Quota::default() };
                settings.quota.project = BTreeMap::from([("llm".to_owned(), quota)]);
            }
            settings
        },
    )
}

pub(crate) fn any_cluster() -> impl Strategy<Value = Cluster> {
    (
        vec(any_machine(), 1..4),
        any_settings(),
        vec(any_task(), 0..6),
        vec(any_task(), 1..5),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(machines, settings, first, later, paused)| Cluster {
            machines,
            settings,
            first,
            later,
            paused,
        })
}

impl Cluster {
    pub(crate) fn build(&self) -> Lab {
        let mut lab = lab(&[]);
        let settings = self.settings.clone();
        lab.act(Input::Configure { by: Actor::Daemon, settings });
        for (number, machine) in (1..).zip(&self.machines) {
            let (name, labels) = (format!("n{number}"), BTreeMap::new());
            lab.act(Input::AddNode { by: Actor::Daemon, name, labels });
            let resources = match machine.licences {
                0 => BTreeMap::new(),
                licences => BTreeMap::from([("licence".to_owned(), licences)]),
            };
            let (by, node) = (Actor::Daemon, NodeId(number));
            lab.act(Input::SetResources { by, node, resources });
            lab.connect(number);
            machine.report(&mut lab, number);
            machine.rule(&mut lab, number, |card| (card.slots > 1).then_some(card.slots));
        }
        self.first.iter().for_each(|(user, spec)| submit(&mut lab, *user, spec));
        lab.schedule();
        lab.after_secs(50);
        for task in lab.state.tasks.keys().map(|id| id.0).collect::<Vec<_>>() {
            if task % 2 == 0 && lab.task(task).starts_with("starting") {
                lab.started(task);
            }
        }
        for (number, machine) in (1..).zip(&self.machines) {
            machine.meet_its_fate(&mut lab, number);
        }
        self.later.iter().for_each(|(user, spec)| submit(&mut lab, *user, spec));
        lab.after_secs(60);
        let paused = self.paused;
        lab.configure(|settings| settings.queue_paused = paused);
        lab.schedule();
        lab
    }
}

/// What is refused is not there.
fn submit(lab: &mut Lab, by: UserId, spec: &TaskSpec) {
    let _ = lab.try_act(Input::Submit { by, spec: spec.clone(), key: None });
}

impl Machine {
    fn report(&self, lab: &mut Lab, number: u32) {
        let gpus = self.gpus(number, |_| GpuCondition::Idle, |_| 0, |_| 0);
        let capacity = Capacity { cpus: self.cpus, memory: CAPACITY };
        let report =
            NodeReport { capacity, free_memory: None, gpus, runs: Vec::new(), trouble: None };
        lab.hear(number, NodeMessage::Report(report));
    }

    fn gpus(
        &self,
        number: u32,
        condition: impl Fn(&Card) -> GpuCondition,
        busy: impl Fn(&Card) -> u8,
        other: impl Fn(&Card) -> u64,
    ) -> Vec<GpuReport> {
        let gpu = |(index, card): (u32, &Card)| {
            let id = GpuId::from(format!("GPU-{number}-{index}").as_str());
            let (model, memory) = match card.large {
                true => ("NVIDIA A100-SXM4-80GB", 80_u64 << 30),
                false => ("NVIDIA RTX A6000", 48 << 30),
            };
            let usage = GpuUsage { other_memory: Some(other(card)), busy: busy(card) };
            let condition = condition(card);
            GpuReport { condition, usage, ..GpuReport::new(id, index, model, memory) }
        };
        (0..).zip(&self.cards).map(gpu).collect()
    }

    fn rule(&self, lab: &mut Lab, number: u32, slots: impl Fn(&Card) -> Option<u16>) {
        let slots = (0..).zip(&self.cards).filter_map(|(at, card)| Some((at, slots(card)?)));
        let change = GpuChange::Slots(slots.collect());
        lab.act(Input::ManageGpus { by: Actor::Daemon, node: NodeId(number), change });
    }

    fn meet_its_fate(&self, lab: &mut Lab, number: u32) {
        let node = NodeId(number);
        let left = |card: &Card| match card.mishap {
            Mishap::JustLeft => foreign(),
            _ => GpuCondition::Idle,
        };
        lab.hear(number, NodeMessage::Gpus(self.gpus(number, left, |_| 0, |_| 0)));
        let condition = |card: &Card| match card.mishap {
            Mishap::Foreign => foreign(),
            Mishap::Dirty => GpuCondition::Dirty,
            Mishap::Unknown => GpuCondition::Unknown,
            Mishap::None | Mishap::JustLeft | Mishap::Broken | Mishap::Disabled => {
                GpuCondition::Idle
            }
        };
        let mut gpus = self.gpus(number, condition, |card| card.busy, |card| card.other_memory);
        for (gpu, card) in gpus.iter_mut().zip(&self.cards) {
            gpu.broken = (card.mishap == Mishap::Broken).then(|| "Xid 79".to_owned());
            let known = lab.state.nodes[&node].gpus.iter().find(|known| known.id == gpu.id);
            if card.settled
                && let Some(known) = known
            {
                gpu.runs =
                    known.holders.iter().map(|run| RunMemory { run: *run, peak: 1 }).collect();
            }
        }
        lab.hear(number, NodeMessage::Gpus(gpus));
        let disabled = (0..).zip(&self.cards).filter(|(_, card)| card.mishap == Mishap::Disabled);
        let disabled: BTreeSet<u32> = disabled.map(|(at, _)| at).collect();
        let change = GpuChange::Disable(disabled);
        lab.act(Input::ManageGpus { by: Actor::Daemon, node, change });
        if self.short_of_memory {
            lab.hear(number, NodeMessage::Memory { free: 1 << 30 });
        }
        match self.fate {
            Fate::Fine => {}
            Fate::Away => lab.hear(number, NodeMessage::Lost),
            Fate::Unverified => {
                lab.hear(number, NodeMessage::Lost);
                lab.connect(number);
            }
            Fate::Draining => drop(lab.act(Input::Drain { by: Actor::Daemon, node })),
            Fate::Unfit => {
                let trouble = Some(Trouble::new(TroubleKind::DiskFull, "no space left"));
                lab.hear(number, NodeMessage::Fitness { trouble });
            }
        }
    }
}

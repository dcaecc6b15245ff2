//! Whatever comes in, in whatever order: no panic, no broken invariant, no unnamed change.

use crate::lab::{gpu, lab};
use danlu_core::gpu::{GpuCondition, GpuConfig, GpuReport, GpuUsage, RunMemory};
use danlu_core::idle::{IdleAct, IdleKind, IdleRung, IdleSettings};
use danlu_core::input::{GpuChange, NodeReport};
use danlu_core::node::Capacity;
use danlu_core::resources::{NodeSelector, Sharing};
use danlu_core::run::{Ending, Exit, ReportedState, RunReport, RunUsage};
use danlu_core::settings::{Backfill, Limits, Order, PlacementRule};
use danlu_core::task::{ArraySpec, Dependency, DependencyKind, TaskSpec};
use danlu_core::*;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

fn any_run() -> impl Strategy<Value = RunId> {
    (1u32..3, 0u64..8).prop_map(|(epoch, number)| RunId { epoch: Epoch(epoch), number })
}

fn any_ending() -> impl Strategy<Value = Ending> {
    let exit = prop_oneof![
        3 => (0i32..2).prop_map(Exit::Code),
        1 => Just(Exit::Signal(9)),
        1 => Just(Exit::TimedOut),
        1 => Just(Exit::NeverStarted),
        1 => any::<bool>().prop_map(|rebooted| Exit::Vanished { rebooted }),
        1 => Just(Exit::Abandoned),
        1 => Just(Exit::Launch { message: "no".into() }),
    ];
    let log_bytes = prop_oneof![Just(0), Just(7), Just(u64::MAX)];
    (exit, any::<bool>(), any::<i64>(), log_bytes).prop_map(|(exit, stopped, at, log_bytes)| {
        let used = RunUsage { log_bytes, ..RunUsage::default() };
        Ending { stopped, used, ..Ending::new(exit, Time(at)) }
    })
}

fn any_gpus() -> impl Strategy<Value = Vec<GpuReport>> {
    let condition = prop_oneof![
        4 => Just(GpuCondition::Idle),
        1 => Just(GpuCondition::Unknown),
        1 => Just(crate::lab::foreign()),
    ];
    let runs = vec((any_run(), any::<u64>()), 0..3).prop_map(|runs| {
        runs.into_iter().map(|(run, peak)| RunMemory { run, peak }).collect::<Vec<_>>()
    });
    let usage = (prop::option::of(any::<u64>()), 0u8..101, prop::bool::weighted(0.1));
    vec((1u32..4, 0u32..4, condition, 0u32..6, runs, usage), 0..5).prop_map(|gpus| {
        let renumbered = |(node, index, condition, shown, runs, (other_memory, busy, broken)): (
            _,
            _,
            _,
            _,
            _,
            (_, _, bool),
        )| {
            let broken = broken.then(|| "Xid 79".to_owned());
            let usage = GpuUsage { other_memory, busy };
            let neighbours = vec![gpu(node, index ^ 1, GpuCondition::Idle).id];
            let report = gpu(node, index, condition);
            GpuReport { index: shown, runs, usage, broken, neighbours, ..report }
        };
        gpus.into_iter().map(renumbered).collect()
    })
}

fn any_sharing() -> impl Strategy<Value = (Sharing, u64)> {
    prop_oneof![
        4 => Just((Sharing::Slot, 0)),
        1 => Just((Sharing::Exclusive, 0)),
        3 => (0u8..102, prop_oneof![Just(0u64), Just(1), (1u64..90).prop_map(|gb| gb << 30)])
            .prop_map(|(idle_utilization, memory)| (Sharing::Shared { idle_utilization }, memory)),
    ]
}

fn any_gpu_change() -> impl Strategy<Value = GpuChange> {
    let numbers = || btree_set(0u32..5, 0..3);
    let slots = || btree_map(0u32..5, 0u16..4, 0..3);
    prop_oneof![
        numbers().prop_map(GpuChange::Enable),
        numbers().prop_map(GpuChange::Disable),
        slots().prop_map(GpuChange::Slots),
        (prop::option::of(numbers()), slots())
            .prop_map(|(in_use, slots)| GpuChange::Config(GpuConfig { in_use, slots })),
    ]
}

fn any_message() -> impl Strategy<Value = NodeMessage> {
    let reported = prop_oneof![
        (any::<i64>(), any::<bool>()).prop_map(|(at, paused)| ReportedState::Alive {
            since: Time(at),
            paused,
            limit: None
        }),
        any_ending().prop_map(ReportedState::Ended),
    ];
    let runs = vec((any_run(), reported).prop_map(|(run, state)| RunReport::new(run, state)), 0..4);
    let free = prop::option::of(0u64..5);
    let report = (0u32..8, any_gpus(), runs, free).prop_map(|(cpus, gpus, runs, free_memory)| {
        let capacity = Capacity { cpus, memory: 4 };
        NodeMessage::Report(NodeReport { capacity, free_memory, gpus, runs, trouble: None })
    });
    prop_oneof![
        2 => Just(NodeMessage::Connected),
        4 => report,
        2 => (any_run(), any::<i64>()).prop_map(|(run, at)| NodeMessage::Started { run, at: Time(at) }),
        3 => (any_run(), any_ending()).prop_map(|(run, ending)| NodeMessage::Ended { run, ending }),
        2 => any_gpus().prop_map(NodeMessage::Gpus),
        1 => (0u64..5).prop_map(|free| NodeMessage::Memory { free }),
        1 => any_run().prop_map(|run| NodeMessage::LogDropped { run }),
        1 => Just(NodeMessage::Lost),
    ]
}

fn any_spec() -> impl Strategy<Value = TaskSpec> {
    let kind = prop_oneof![
        Just(DependencyKind::AfterOk),
        Just(DependencyKind::AfterAny),
        Just(DependencyKind::AfterNotOk),
    ];
    let after = vec((1u64..6, kind), 0..3);
    let node = prop_oneof![3 => Just(None), 1 => Just(Some(NodeSelector::Name("n1".into())))];
    let prefer = prop::option::of(Just(NodeSelector::Name("n2".into())));
    let where_to = (any::<bool>(), node, prefer, 0u32..4);
    let request = (0u32..6, 0u32..3, 0u64..3, where_to, any_sharing()).prop_map(
        |(gpus, cpus, memory, (span_nodes, node, prefer, nodes), (sharing, gpu_memory))| Request {
            nodes,
            prefer,
            sharing,
            gpu_memory,
            cpus,
            memory,
            span_nodes,
            node,
            ..Request::gpus(gpus)
        },
    );
    let array = prop_oneof![
        4 => Just(None),
        1 => (vec(0u32..9, 0..5), prop::option::of(0u32..3)).prop_map(|(indices, at_once)| {
            Some(ArraySpec { indices, at_once, grid: Vec::new() })
        }),
    ];
    let numbers = (0u32..3, -1i32..2, prop::option::of(any::<u64>()));
    (request, after, numbers, any::<[bool; 3]>(), array).prop_map(
        |(request, after, (retries, priority, limit), [preemptible, urgent, hold], array)| {
            TaskSpec {
                array,
                project: (retries == 1).then(|| "llm".to_owned()),
                command: vec!["x".into()],
                request: request.into(),
                after: after
                    .into_iter()
                    .map(|(task, kind)| Dependency { task: TaskId(task), kind })
                    .collect(),
                retries,
                priority,
                time_limit: limit.map(Span),
                preemptible,
                urgent,
                hold,
                ..TaskSpec::default()
            }
        },
    )
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let order = prop_oneof![
        2 => Just(Order::Balance),
        1 => Just(Order::Fair),
        1 => Just(Order::Fifo),
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
    let spans = (any::<u64>(), 0u64..100_000, any::<u64>());
    let sharing = (any::<bool>(), prop::option::of(0u32..4), any::<u64>(), 0u64..100_000);
    (order, backfill, placement, spans, any::<bool>(), sharing).prop_map(
        |(order, backfill, placement, (grace, min_run, threshold), requeue_lost, sharing)| {
            Settings {
                reclaim_unused_memory: sharing.0,
                limits: Limits { max_tasks_per_gpu: sharing.1, ..Limits::default() },
                settle_time: Span(sharing.2),
                idle_delay: Span(sharing.3),
                order,
                backfill,
                placement,
                stop_grace: Span(grace),
                min_run_before_preemption: Span(min_run),
                requeue_lost,
                las_threshold: Span(threshold),
                reserve_after: Span(min_run / 2),
                lost_after: Span(if grace % 2 == 0 { min_run } else { 0 }),
                quota: quota::QuotaSettings {
                    over: if grace % 3 == 0 {
                        quota::OverQuota::Refuse
                    } else {
                        quota::OverQuota::Wait
                    },
                    period: Span(threshold % 100_000),
                    user: quota::Quota {
                        running_tasks: (grace % 5 == 0).then_some(grace % 3),
                        running_gpus: (grace % 7 < 2).then_some(grace % 6),
                        queued_tasks: (grace % 11 == 0).then_some(grace % 4),
                        open_tasks: (grace % 13 == 0).then_some(grace % 5),
                        gpu_hours: (threshold % 5 == 0).then_some(threshold % 2),
                    },
                    project: [(
                        "llm".to_owned(),
                        quota::Quota {
                            running_gpus: Some(threshold % 5),
                            gpu_hours: (grace % 2 == 0).then_some(1),
                            ..quota::Quota::default()
                        },
                    )]
                    .into(),
                    ..quota::QuotaSettings::default()
                },
                idle: Box::new(IdleSettings {
                    act: [IdleAct::None, IdleAct::Ask, IdleAct::Requeue, IdleAct::Release]
                        [grace as usize % 4],
                    tell_after: Span(1),
                    ask_after: Span(1),
                    release_after: Span(1 + min_run % 9),
                    ..IdleSettings::default()
                }),
                ..Settings::default()
            }
        },
    )
}

fn any_input() -> impl Strategy<Value = Input> {
    let actor = || {
        prop_oneof![
            1 => Just(Actor::Daemon),
            3 => (1u32..5).prop_map(|id| Actor::User(UserId(id))),
        ]
    };
    let task = || (1u64..8).prop_map(TaskId);
    let node = || (1u32..4).prop_map(NodeId);
    prop_oneof![
        1 => (0u32..3).prop_map(|epoch| Input::Boot { epoch: Epoch(epoch), restored: false, ids_from: 0 }),
        8 => (1u32..4, any_spec(), prop::option::of("[ab]")).prop_map(|(by, spec, key)| {
            Input::Submit { by: UserId(by), spec, key }
        }),
        2 => (actor(), task()).prop_map(|(by, task)| Input::Cancel { by, task }),
        1 => (actor(), task()).prop_map(|(by, task)| Input::Hold { by, task }),
        1 => (actor(), task()).prop_map(|(by, task)| Input::Release { by, task }),
        2 => (actor(), task()).prop_map(|(by, task)| Input::Retry { by, task }),
        1 => (actor(), task()).prop_map(|(by, task)| Input::Remove { by, task }),
        2 => (actor(), task()).prop_map(|(by, task)| Input::Pause { by, task }),
        1 => (actor(), task()).prop_map(|(by, task)| Input::Requeue { by, task }),
        1 => (actor(), task()).prop_map(|(by, task)| Input::Resume { by, task }),
        1 => (actor(), task()).prop_map(|(by, task)| Input::Start { by, task }),
        2 => (actor(), task(), any_spec()).prop_map(|(by, task, spec)| Input::Edit { by, task, spec }),
        1 => (actor(), task(), 0u64..200_000_000).prop_map(|(by, task, more)| {
            Input::Extend { by, task, more: Span(more) }
        }),
        1 => (actor(), task(), 0u64..200_000_000).prop_map(|(by, task, time)| {
            Input::Keep { by, task, time: Span(time) }
        }),
        4 => (any_run(), -50i64..3_000, any::<bool>()).prop_map(|(run, since, asked)| {
            let rung = if asked { IdleRung::Asked } else { IdleRung::Told };
            Input::NoteIdle { run, since: Time::from_secs(since), kind: IdleKind::NoProcess, rung }
        }),
        1 => any_run().prop_map(|run| Input::NoteUsed { run }),
        2 => (any_run(), -50i64..3_000).prop_map(|(run, since)| {
            Input::StopIdle { run, since: Time::from_secs(since), kind: IdleKind::Pulses }
        }),
        2 => (actor(), task(), 0usize..5).prop_map(|(by, task, position)| {
            Input::Move { by, task, position }
        }),
        1 => (actor(), any_run()).prop_map(|(by, run)| Input::Abandon { by, run }),
        1 => (actor(), node(), any::<bool>()).prop_map(|(by, node, force)| {
            Input::DeclareLost { by, node, force }
        }),
        1 => (actor(), node(), prop::option::of("[xy]")).prop_map(|(by, node, value)| {
            Input::SetLabels { by, node, change: [("hall".to_owned(), value)].into() }
        }),
        1 => (actor(), node()).prop_map(|(by, node)| Input::RemoveNode { by, node }),
        1 => (actor(), node()).prop_map(|(by, node)| Input::Drain { by, node }),
        1 => (actor(), node()).prop_map(|(by, node)| Input::Undrain { by, node }),
        3 => (actor(), node(), any_gpu_change()).prop_map(|(by, node, change)| {
            Input::ManageGpus { by, node, change }
        }),
        2 => any_settings().prop_map(|settings| Input::Configure { by: Actor::Daemon, settings }),
        1 => (actor(), 1u32..5, any::<i64>(), -2i64..3).prop_map(|(by, user, wild, tame)| {
            let priority = Some(Thousandths(if wild % 4 == 0 { wild } else { tame * 1_000 }));
            let weight = priority.filter(|_| tame > 0);
            let group = (tame == 0).then(|| "vision".to_owned());
            let locked = (wild % 5 == 0).then_some(tame > 0);
            let change = user::UserChange { priority, weight, group, locked, ..Default::default() };
            Input::SetUser { by, user: UserId(user), change }
        }),
        1 => (actor(), 1u32..5).prop_map(|(by, user)| Input::RemoveUser { by, user: UserId(user) }),
        12 => (node(), 1u64..9, any_message()).prop_map(|(node, session, message)| {
            Input::Node { node, session: SessionId(session), message }
        }),
        8 => Just(Input::Schedule),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_leaves_a_sound_state(inputs in vec((any_input(), -50i64..500), 1..60)) {
        let mut lab = lab(&[2, 4]);
        for (input, seconds) in inputs {
            lab.now = Time(lab.now.0 + seconds * 1_000);
            let _ = lab.try_act(input);
            for id in lab.state.tasks.keys() {
                let _ = explain(&lab.state, *id, lab.now);
                let _ = expected_start(&lab.state, *id, lab.now);
            }
            lab.state.wake_at(lab.now);
        }
    }
}

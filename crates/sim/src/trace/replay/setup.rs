//! The cluster before the first job: settings, machines, people.

use super::{JobProgress, Replay, SESSION};
use crate::trace::cluster::Cluster;
use crate::trace::policy_list::{Estimates, Policy};
use crate::trace::read::Job;
use danlu_core::gpu::GpuReport;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::settings::{HistorySettings, RestartCost, Settings};
use danlu_core::{
    Actor, Epoch, GpuId, Input, NodeMessage, Refusal, Reply, Span, State, Time, UserId, limits,
};
use std::collections::{BTreeMap, BinaryHeap};

impl<'a> Replay<'a> {
    pub(super) fn new(
        jobs: &'a [&'a Job],
        cluster: &Cluster,
        policy: Policy,
    ) -> Result<Replay<'a>, Refusal> {
        let settings = settings(cluster, policy);
        let mut world = Replay {
            state: State::new(),
            now: jobs.first().map_or(Time::default(), |job| job.submit_at),
            policy,
            restart_cost: settings.restart_cost,
            users: BTreeMap::new(),
            jobs,
            tasks: Vec::with_capacity(jobs.len()),
            progress: jobs.iter().map(|job| JobProgress::new(job)).collect(),
            ended: 0,
            running: BTreeMap::new(),
            ends: BinaryHeap::new(),
            stalled: 0,
        };
        world.ask(Input::Boot { epoch: Epoch(0), restored: false, ids_from: 0 })?;
        world.ask(Input::Configure { by: Actor::Daemon, settings })?;
        for (place, gpus) in cluster.nodes.iter().enumerate() {
            world.add_node(place, *gpus)?;
        }
        Ok(world)
    }

    fn add_node(&mut self, place: usize, gpus: u32) -> Result<(), Refusal> {
        let name = format!("node{place}");
        let gpus = (0..gpus).map(|index| gpu(&name, index)).collect();
        let add = Input::AddNode { by: Actor::Daemon, name, labels: BTreeMap::new() };
        let Reply::Node(node) = self.ask(add)? else { unreachable!("a node was added") };
        let capacity = Capacity { cpus: 0, memory: 0 };
        let report = NodeMessage::Report(NodeReport {
            capacity,
            free_memory: None,
            gpus,
            runs: Vec::new(),
            trouble: None,
        });
        for message in [NodeMessage::Connected, report] {
            self.ask(Input::Node { node, session: SESSION, message })?;
        }
        Ok(())
    }

    pub(super) fn add_user(&mut self, place: usize) -> Result<UserId, Refusal> {
        let add = Input::AddUser { by: Actor::Daemon, name: format!("user{place}"), admin: false };
        let Reply::User(user) = self.ask(add)? else { unreachable!("a user was added") };
        self.users.insert(place, user);
        Ok(user)
    }
}

/// Reference semantics (`SEMANTICS.md` of the traces): no mercy for young runs.
fn settings(cluster: &Cluster, policy: Policy) -> Settings {
    Settings {
        order: policy.order,
        backfill: policy.backfill,
        placement: cluster.placement,
        min_run_before_preemption: Span::ZERO,
        restart_cost: RestartCost { up_to_8_gpus: Span::from_secs(40), above: Span::from_secs(60) },
        las_threshold: Span::from_secs(18_000),
        reserve_after: Span::ZERO,
        predictions: policy.estimates == Estimates::History,
        // What has become of each job is read from the state at the end.
        history: HistorySettings {
            recent: limits::RECENT_TASKS as u64,
            ..HistorySettings::default()
        },
        ..Settings::default()
    }
}

fn gpu(node: &str, index: u32) -> GpuReport {
    GpuReport::new(GpuId::from(format!("{node}-{index}").as_str()), index, "GPU", 1 << 30)
}

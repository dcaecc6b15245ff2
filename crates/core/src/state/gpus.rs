//! Changes of GPUs: by reports of nodes, by administrators, by time.

use super::State;
use crate::fault_injection::{Mutant, mutated};
use crate::model::gpu::{Gpu, GpuCondition, GpuConfig, GpuReport, GpuRule, Tenant};
use crate::model::ids::{GpuId, NodeId, RunId};
use crate::model::limits;
use crate::model::node::Node;
use crate::model::resources::{Claim, GpuMask, Hold, Part, Request};
use crate::model::run::{Run, RunPart};
use crate::model::settings::Settings;
use crate::model::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What came of a report on the GPUs of a node.
#[derive(Debug, Default)]
pub(crate) struct GpuNews {
    pub(crate) changed: bool,
    /// GPUs quarantined by this report, and why.
    pub(crate) quarantined: Vec<(GpuId, String)>,
}

impl State {
    /// Take over what a node reports of its GPUs.
    /// A GPU that a run holds stays listed, as missing, while it is not reported.
    pub(crate) fn set_gpus(&mut self, id: NodeId, reports: Vec<GpuReport>, now: Time) -> GpuNews {
        let quarantined = self.quarantine_broken(id, &reports);
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        let before: BTreeMap<GpuId, Gpu> =
            node.gpus.drain(..).map(|gpu| (gpu.id.clone(), gpu)).collect();
        let known = |id: &GpuId, index: u32| match mutated(Mutant::RenumberedByIndex) {
            true => before.values().find(|gpu| gpu.index == index),
            false => before.get(id),
        };
        let mut after: BTreeMap<GpuId, Gpu> = BTreeMap::new();
        for report in reports {
            let mut gpu = Gpu::new(&report);
            if let Some(known) = known(&report.id, report.index) {
                gpu.holders.clone_from(&known.holders);
                gpu.tenants.clone_from(&known.tenants);
                gpu.left_at = self.left_at(known, &report.condition, now);
                gpu.also_on.clone_from(&known.also_on);
            }
            self.observe(&mut gpu, &report, now);
            after.entry(report.id).or_insert(gpu);
        }
        for gpu in before.values().filter(|gpu| !gpu.holders.is_empty()) {
            let missing = || Gpu { condition: GpuCondition::Missing, ..gpu.clone() };
            if !mutated(Mutant::VanishedGpuDropped) {
                after.entry(gpu.id.clone()).or_insert_with(missing);
            }
        }
        let node = self.nodes.get_mut(&id).expect("looked up before");
        node.gpus = after.into_values().collect();
        node.gpus.sort_by_key(|gpu| (gpu.holders.is_empty(), gpu.index));
        node.gpus.truncate(limits::GPUS_PER_NODE);
        node.gpus.sort_by(|a, b| (a.index, &a.id).cmp(&(b.index, &b.id)));
        derive(node);
        let changed = node.gpus.len() != before.len()
            || node.gpus.iter().any(|gpu| before.get(&gpu.id) != Some(gpu));
        if changed {
            self.refresh_gpus(id);
        }
        GpuNews { changed: changed || !quarantined.is_empty(), quarantined }
    }

    /// Drop missing GPUs that no run holds; returns whether there were any.
    pub(crate) fn drop_missing_gpus(&mut self, id: NodeId) -> bool {
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        let before = node.gpus.len();
        let missing = |gpu: &Gpu| gpu.condition == GpuCondition::Missing;
        node.gpus.retain(|gpu| !missing(gpu) || !gpu.holders.is_empty());
        let dropped = node.gpus.len() < before;
        if dropped {
            self.refresh_gpus(id);
        }
        dropped
    }

    /// A run is over on a node: what it was seen to use there at most, if it was seen at all.
    pub(crate) fn forget_tenant(&mut self, id: NodeId, run: RunId) -> Option<u64> {
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        let mut peak = None;
        for gpu in &mut node.gpus {
            peak = peak.max(gpu.tenant(run).map(|tenant| tenant.peak));
            gpu.tenants.retain(|tenant| tenant.run != run);
        }
        peak
    }

    /// Change the rules for a node's GPUs.
    pub(crate) fn change_gpu_rules(
        &mut self,
        id: NodeId,
        change: impl FnOnce(&mut GpuConfig, &mut BTreeMap<GpuId, GpuRule>),
    ) {
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        change(&mut node.gpu_config, &mut node.gpu_rules);
        node.gpu_rules.retain(|_, rule| *rule != GpuRule::default());
        self.refresh_gpus(id);
    }

    /// Change anything of a node, its GPUs among it, but which GPUs it has.
    pub(crate) fn change_gpus(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        change(self.nodes.get_mut(&id).expect("the caller has looked the node up"));
        self.refresh_gpus(id);
    }

    /// Apply the changes that were waiting for time to pass; returns the nodes concerned.
    pub(crate) fn ripen(&mut self, now: Time) -> Vec<NodeId> {
        let settings = self.settings();
        let (idle_delay, settle_time) = (settings.idle_delay, settings.settle_time);
        let latest = now + settings.longest_ripening();
        let over = move |at: Time| at <= now || at > latest;
        let due = self.index.ripens_at.iter().filter(|(_, at)| over(**at));
        let due: Vec<NodeId> = due.map(|(node, _)| *node).collect();
        for id in &due {
            let ripe = self.settling(*id).filter(|(_, _, grown_at)| over(*grown_at + settle_time));
            let ripe: Vec<(usize, RunId, Time)> = ripe.collect();
            let node = self.nodes.get_mut(id).expect("nodes that ripen exist");
            for (at, run, grown_at) in ripe {
                let gpu = &mut node.gpus[at];
                match gpu.tenants.iter_mut().find(|tenant| tenant.run == run) {
                    Some(tenant) => tenant.settled = true,
                    None => gpu.tenants.push(Tenant { run, peak: 0, grown_at, settled: true }),
                }
            }
            for gpu in &mut node.gpus {
                gpu.left_at = gpu.left_at.filter(|left| !over(*left + idle_delay));
            }
            self.refresh_gpus(*id);
        }
        due
    }

    pub(super) fn refresh_node(&mut self, id: NodeId) {
        let node = &self.nodes[&id];
        let open = node.is_open() && !node.is_short_of_memory(&self.ledger.settings);
        self.index.pool.update_node(node, open);
        self.index.idle_pool.update_node(node, open);
    }

    /// The GPUs of a node, or what they are used for, have changed.
    pub(super) fn refresh_gpus(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        derive(node);
        let listed = node.gpus.iter().map(|gpu| gpu.id.clone()).collect();
        let others = self.index.gpu_claims.list(id, listed);
        self.refresh_claims(id);
        for other in others {
            self.refresh_claims(other);
        }
    }

    /// Whether others claim the same GPUs may have changed.
    pub(super) fn refresh_claims(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else { return };
        let claimed = |gpu: &Gpu| -> Vec<NodeId> {
            let others = self.index.gpu_claims.others(&gpu.id, id);
            others.filter(|other| self.claims(*other, &gpu.id)).collect()
        };
        let claimed: Vec<Vec<NodeId>> = node.gpus.iter().map(claimed).collect();
        let node = self.nodes.get_mut(&id).expect("looked up before");
        for (gpu, also_on) in node.gpus.iter_mut().zip(claimed) {
            gpu.also_on = also_on;
        }
        self.refresh_holds(id);
    }

    /// The holders of its GPUs have changed: other nodes that list one of them may allocate it now, or no longer.
    pub(super) fn refresh_sharers(&mut self, id: NodeId) {
        let gpus = self.nodes.get(&id).into_iter().flat_map(|node| &node.gpus);
        let sharers = gpus.flat_map(|gpu| self.index.gpu_claims.others(&gpu.id, id));
        let sharers: BTreeSet<NodeId> = sharers.collect();
        for other in sharers {
            self.refresh_claims(other);
        }
    }

    /// It lists the GPU, and the GPU is enabled there or still in use.
    fn claims(&self, node: NodeId, gpu: &GpuId) -> bool {
        let gpus = self.nodes.get(&node).into_iter().flat_map(|node| &node.gpus);
        let mut listed = gpus.filter(|it| it.id == *gpu);
        listed.any(|it| it.rule.disabled != Some(true) || !it.holders.is_empty())
    }

    pub(super) fn refresh_holds(&mut self, id: NodeId) {
        let node = &self.nodes[&id];
        self.index.pool.clear_node(node);
        self.index.idle_pool.clear_node(node);
        for run in self.index.runs_on.get(&id).into_iter().flatten() {
            let run = &self.runs[run];
            let part = run.part_on(id).expect("runs_on lists runs with a part there");
            let request = &self.tasks[&run.task].spec.request;
            let held = self.index.held.get_mut(&run.id).expect("a run on a node holds something");
            for old in held.iter_mut().filter(|hold| hold.node == id) {
                *old = hold(node, run, part, request, &self.ledger.settings);
                self.index.pool.take(old);
            }
        }
        self.refresh_node(id);
        self.refresh_ripening(id);
    }

    /// When time alone next changes something there: nothing ever does on a node that was removed.
    pub(super) fn refresh_ripening(&mut self, id: NodeId) {
        let settings = self.settings();
        let settles = self.settling(id).map(|(_, _, grown_at)| grown_at + settings.settle_time);
        let gpus = self.nodes.get(&id).into_iter().flat_map(|node| &node.gpus);
        let left = gpus.filter_map(|gpu| gpu.left_at);
        let next = settles.chain(left.map(|at| at + settings.idle_delay)).min();
        match next {
            Some(at) => self.index.ripens_at.insert(id, at),
            None => self.index.ripens_at.remove(&id),
        };
    }

    /// Shared runs that may still grow, the positions of their GPUs, and since when they have not.
    fn settling(&self, id: NodeId) -> impl Iterator<Item = (usize, RunId, Time)> {
        let gpus = self.nodes.get(&id).into_iter().flat_map(|node| node.gpus.iter().enumerate());
        gpus.flat_map(move |(at, gpu)| {
            gpu.holders.iter().filter_map(move |run| {
                let run = self.runs.get(run)?;
                let shared = self.tasks[&run.task].spec.request.is_shared();
                let tenant = gpu.tenant(run.id);
                let settled = tenant.is_some_and(|tenant| tenant.settled);
                let grown_at = tenant.map_or(run.launched_at, |tenant| tenant.grown_at);
                (shared && !settled).then_some((at, run.id, grown_at))
            })
        })
    }

    /// Hardware errors quarantine a GPU, unless an administrator has enabled it knowing of them.
    fn quarantine_broken(&mut self, id: NodeId, reports: &[GpuReport]) -> Vec<(GpuId, String)> {
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        let mut quarantined = Vec::new();
        for report in reports {
            let Some(why) = &report.broken else { continue };
            let rule = node.gpu_rules.get(&report.id);
            let known = rule.is_some_and(|rule| {
                rule.quarantined.is_some() || rule.accepted.as_ref() == Some(why)
            });
            if !known && node.gpu_rules.len() < limits::GPU_RULES_PER_NODE {
                node.gpu_rules.entry(report.id.clone()).or_default().quarantined =
                    Some(why.clone());
                quarantined.push((report.id.clone(), why.clone()));
            }
        }
        quarantined
    }

    /// Since when others have left it alone, as long as that matters.
    fn left_at(&self, before: &Gpu, condition: &GpuCondition, now: Time) -> Option<Time> {
        let foreign = |condition: &GpuCondition| matches!(condition, GpuCondition::Foreign { .. });
        let waits = self.settings().idle_delay > crate::model::time::Span::ZERO;
        match foreign(condition) {
            true => None,
            false if foreign(&before.condition) && waits => Some(now),
            false => before.left_at,
        }
    }

    /// What its runs were seen to use; a run that is not on it does not count.
    fn observe(&self, gpu: &mut Gpu, report: &GpuReport, now: Time) {
        for seen in report.runs.iter().filter(|seen| gpu.holders.contains(&seen.run)) {
            let Some(run) = self.runs.get(&seen.run) else { continue };
            let request = &self.tasks[&run.task].spec.request;
            let peak = seen.peak.min(report.memory);
            let reached = !request.is_shared() || peak >= request.gpu_memory;
            match gpu.tenants.iter_mut().find(|tenant| tenant.run == seen.run) {
                Some(tenant) if peak > tenant.peak => {
                    tenant.peak = peak;
                    tenant.grown_at = now;
                    tenant.settled |= reached;
                }
                Some(_) => {}
                None => gpu.tenants.push(Tenant {
                    run: seen.run,
                    peak,
                    grown_at: now,
                    settled: reached,
                }),
            }
        }
    }
}

/// What follows from the rows about each GPU of a node.
fn derive(node: &mut Node) {
    let ids: Vec<GpuId> = node.gpus.iter().map(|gpu| gpu.id.clone()).collect();
    let rule = |gpu: &Gpu| (node.rule_of(gpu), node.unknown_run_on(&gpu.id));
    let rules: Vec<(GpuRule, bool)> = node.gpus.iter().map(rule).collect();
    for (gpu, (rule, has_unknown_run)) in node.gpus.iter_mut().zip(rules) {
        gpu.rule = rule;
        gpu.has_unknown_run = has_unknown_run;
        let linked = |(_, id): &(usize, &GpuId)| gpu.neighbours.contains(id) && **id != gpu.id;
        let positions = ids.iter().enumerate().filter(linked).map(|(at, _)| at);
        gpu.links = positions.fold(GpuMask::NONE, |mask, at| mask.with(GpuMask::single(at)));
    }
}

/// What a part of a run takes from its node: of a shared GPU as much as it asked for, or uses if that is more.
pub(super) fn hold(
    node: &Node,
    run: &Run,
    part: &RunPart,
    request: &Request,
    settings: &Settings,
) -> Hold {
    let position = |id: &GpuId| node.gpus.iter().position(|gpu| gpu.id == *id);
    let positions = part.gpus.iter().filter_map(position);
    let gpus = positions.fold(GpuMask::NONE, |mask, at| mask.with(GpuMask::single(at)));
    let mut hold = Hold::of(Part { node: part.node, gpus }, request);
    if let Claim::Share { memory, settling } = &mut hold.claim {
        let tenants = || gpus.positions().map(|at| node.gpus[at].tenant(run.id));
        let peak = tenants().flatten().map(|tenant| tenant.peak).max().unwrap_or(0);
        *settling = !tenants().all(|tenant| tenant.is_some_and(|tenant| tenant.settled));
        let reclaim = settings.reclaim_unused_memory && !*settling && peak > 0;
        *memory = if reclaim { peak } else { request.gpu_memory.max(peak) };
    }
    hold
}

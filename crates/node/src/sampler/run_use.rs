//! CPU and memory of each run: from its control group where it has one, else from its tree of processes.

use super::machine::mebibytes;
use danlu_core::{GpuId, RunId, Time};
use danlu_wire::rundir::{CgroupPaths, ShimState};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// A run that is measured.
#[derive(Debug)]
pub(super) struct MeasuredRun {
    shim: u32,
    cgroups: CgroupPaths,
    pub(super) gpus: Vec<GpuId>,
    started_at: Time,
    /// CPU time so far, and when it was read.
    before: Option<(u64, Instant)>,
}

/// Of a run until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Consumed {
    /// CPU time in microseconds.
    cpu: Option<u64>,
    /// Bytes.
    memory: Option<u64>,
}

/// The kernel counts the time of processes in hundredths of seconds, whatever its own clock does.
const MICROSECONDS_PER_TICK: u64 = 10_000;

impl MeasuredRun {
    pub(super) fn of(state: ShimState) -> MeasuredRun {
        let ShimState { shim, cgroups, gpus, started_at, .. } = state;
        MeasuredRun { shim: shim.pid, cgroups, gpus, started_at, before: None }
    }

    pub(super) fn shim(&self) -> u32 {
        self.shim
    }

    /// It has no group that counts for it.
    pub(super) fn needs_tree(&self) -> bool {
        self.cgroups.unified.is_none()
    }

    pub(super) fn consumed(&self, trees: &BTreeMap<u32, Consumed>) -> Consumed {
        let Some(group) = &self.cgroups.unified else {
            let tree = trees.get(&self.shim).copied().unwrap_or_default();
            let limited =
                self.cgroups.memory.as_deref().and_then(|group| memory_v1(group.as_ref()));
            return Consumed { memory: limited.or(tree.memory), ..tree };
        };
        let group = Path::new(group);
        let cpu = field(&read(group, "cpu.stat"), "usage_usec");
        let limited = self.cgroups.memory.as_deref().and_then(|group| memory_v1(group.as_ref()));
        let memory = limited.or_else(|| memory_v2(group)).or_else(|| memory_of_members(group));
        Consumed { cpu, memory }
    }

    /// Thousandths of a core since the last time, and MiB.
    pub(super) fn reading(
        &mut self,
        used: Consumed,
        now: Instant,
        at: Time,
    ) -> (Option<u32>, Option<u32>) {
        // The group is as old as the run, a tree that was not seen before may be older.
        let life = u64::try_from(at.0 - self.started_at.0).ok().filter(|_| !self.needs_tree());
        let since = match self.before {
            Some((cpu, then)) => {
                let elapsed = u64::try_from(now.duration_since(then).as_micros()).ok();
                elapsed.map(|elapsed| (cpu, elapsed))
            }
            None => life.map(|life| (0, life.saturating_mul(1_000))),
        };
        let cores = used.cpu.zip(since).and_then(|(cpu, (before, elapsed))| {
            let cpu = u128::from(cpu.checked_sub(before)?);
            let thousandths = (cpu * 1_000).checked_div(u128::from(elapsed))?;
            Some(u32::try_from(thousandths).unwrap_or(u32::MAX))
        });
        self.before = used.cpu.map(|cpu| (cpu, now));
        (cores, used.memory.map(mebibytes))
    }
}

/// What the trees below these shims have used, in one walk over all processes.
pub(super) fn trees(shims: &[u32]) -> BTreeMap<u32, Consumed> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let page = rustix::param::page_size() as u64;
    let all = pids.filter_map(|pid| {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, TreeMember::parse(&String::from_utf8_lossy(&line))?))
    });
    sum(shims, &all.collect(), page)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TreeMember {
    parent: u32,
    /// By itself, and by the children that it has waited for.
    ticks: u64,
    pages: u64,
}

impl TreeMember {
    /// A line of `/proc/<pid>/stat`, whose second field may contain anything.
    fn parse(line: &str) -> Option<TreeMember> {
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<i64>().ok();
        let ticks: i64 = (11..=14).map(|place| number(place).unwrap_or(0)).sum();
        Some(TreeMember {
            parent: u32::try_from(number(1)?).ok()?,
            ticks: u64::try_from(ticks).unwrap_or(0),
            pages: u64::try_from(number(21)?).unwrap_or(0),
        })
    }
}

/// The time of the shim itself counts, for it waits for the children of others too; its memory does not.
fn sum(shims: &[u32], all: &BTreeMap<u32, TreeMember>, page: u64) -> BTreeMap<u32, Consumed> {
    let mut sums: BTreeMap<u32, Consumed> = BTreeMap::new();
    for (&pid, process) in all {
        let Some(shim) = ancestor(pid, shims, all) else { continue };
        let sum = sums.entry(shim).or_default();
        *sum.cpu.get_or_insert_default() += process.ticks * MICROSECONDS_PER_TICK;
        let bytes = if pid == shim { 0 } else { process.pages * page };
        *sum.memory.get_or_insert_default() += bytes;
    }
    sums
}

fn ancestor(pid: u32, shims: &[u32], all: &BTreeMap<u32, TreeMember>) -> Option<u32> {
    /// Deeper trees of processes are not followed.
    const DEEPEST: usize = 1_000;
    let mut next = pid;
    for _ in 0..DEEPEST {
        if shims.contains(&next) {
            return Some(next);
        }
        next = all.get(&next)?.parent;
    }
    None
}

/// Without what the kernel only keeps in case it is read again.
fn memory_v2(group: &Path) -> Option<u64> {
    let current = read(group, "memory.current").trim().parse::<u64>().ok()?;
    let cache = field(&read(group, "memory.stat"), "inactive_file").unwrap_or(0);
    Some(current.saturating_sub(cache))
}

fn memory_v1(group: &Path) -> Option<u64> {
    let current = read(group, "memory.usage_in_bytes").trim().parse::<u64>().ok()?;
    let cache = field(&read(group, "memory.stat"), "total_inactive_file").unwrap_or(0);
    Some(current.saturating_sub(cache))
}

/// Where no memory controller is: what its processes have, pages that they share counted for each.
fn memory_of_members(group: &Path) -> Option<u64> {
    /// More are not looked at, for a fork bomb must not keep us busy.
    const MOST: usize = 10_000;
    let page = rustix::param::page_size() as u64;
    let members = read(group, "cgroup.procs");
    let pages = members.lines().take(MOST).filter_map(|pid| {
        let pid: u32 = pid.parse().ok()?;
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        statm.split(' ').nth(1)?.parse::<u64>().ok()
    });
    Some(pages.sum::<u64>() * page)
}

fn read(group: &Path, name: &str) -> String {
    fs::read_to_string(group.join(name)).unwrap_or_default()
}

/// Of lines `name number`.
fn field(text: &str, name: &str) -> Option<u64> {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    found?.trim().parse().ok()
}

/// Whose state could be read, and is of this boot.
pub(super) fn open(runs: &crate::rundir::RunRoot, run: RunId) -> Option<MeasuredRun> {
    let state: ShimState = runs.dir(run).ok()?.read().ok()??;
    (state.boot_id == crate::boot::boot_id()).then(|| MeasuredRun::of(state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn process(parent: u32, ticks: u64, pages: u64) -> TreeMember {
        TreeMember { parent, ticks, pages }
    }

    #[test]
    fn a_line_of_proc_is_read() {
        let line = "42 (a) b) S 7 42 42 0 -1 4194560 1 0 0 0 10 20 3 4 20 0 1 0 98765 1000 256 18";
        assert_eq!(TreeMember::parse(line), Some(process(7, 37, 256)));
        assert_eq!(TreeMember::parse("42 (a"), None);
    }

    #[test]
    fn only_what_is_below_the_shim_counts() {
        let all = BTreeMap::from([
            (1, process(0, 1_000, 1_000)),
            (10, process(1, 5, 100)),
            (11, process(10, 7, 20)),
            (5, process(11, 8, 30)),
            (20, process(1, 99, 99)),
        ]);
        let sums = sum(&[10, 30], &all, 4096);
        let expect = Consumed { cpu: Some(20 * MICROSECONDS_PER_TICK), memory: Some(50 * 4096) };
        assert_eq!(sums, BTreeMap::from([(10, expect)]));
    }

    #[test]
    fn cores_are_time_over_time() {
        let mut run = MeasuredRun {
            shim: 1,
            cgroups: CgroupPaths { unified: Some("/x".into()), memory: None },
            gpus: Vec::new(),
            started_at: Time(0),
            before: None,
        };
        let now = Instant::now();
        let used = |cpu| Consumed { cpu: Some(cpu), memory: Some(3 << 20) };
        // The group began with the run, one second ago.
        assert_eq!(run.reading(used(500_000), now, Time(1_000)), (Some(500), Some(3)));
        let later = now + Duration::from_secs(2);
        assert_eq!(run.reading(used(3_500_000), later, Time(3_000)).0, Some(1_500));
        // A counter that went back, as of a tree that has lost a process.
        assert_eq!(run.reading(used(0), later, Time(3_000)).0, None);
    }

    #[test]
    fn a_tree_that_was_not_seen_before_has_no_rate_yet() {
        let mut run = MeasuredRun {
            shim: 1,
            cgroups: CgroupPaths::default(),
            gpus: Vec::new(),
            started_at: Time(0),
            before: None,
        };
        let used = Consumed { cpu: Some(500_000), memory: None };
        assert_eq!(run.reading(used, Instant::now(), Time(1_000)), (None, None));
    }
}

//! Finds the run that a process belongs to.

use crate::cgroup::claims;
use crate::process::Process;
use crate::rundir::{RunRoot, run_of_name};
use danlu_core::RunId;
use danlu_wire::rundir::ShimState;
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs;

/// `None` for a process that is not Danlu's, or is gone.
pub fn run_of_process(root: &RunRoot, pid: u32) -> Option<RunId> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let named = claims(root.path(), &mounts, &groups).into_iter().find_map(|claim| {
        let run = run_of_name(&claim.name)?;
        let state: ShimState = root.dir(run).ok()?.read().ok()??;
        (state.cgroups.unified? == claim.path.to_str()?).then_some(run)
    });
    named.or_else(|| run_by_ancestors(root, pid))
}

/// Without control groups: every process of a run is below its shim, and mostly in its session.
fn run_by_ancestors(root: &RunRoot, pid: u32) -> Option<RunId> {
    let shims: BTreeMap<Pid, (RunId, u64)> = root
        .list()
        .ok()?
        .into_iter()
        .filter_map(|run| {
            let state: ShimState = root.dir(run).ok()?.read().ok()??;
            Some((Pid::from_raw(state.shim.pid.try_into().ok()?), (run, state.shim.start)))
        })
        .collect();
    let mut process = Process::read(Pid::from_raw(pid.try_into().ok()?))?;
    for _ in 0..DEEPEST {
        match shims.get(&process.pid) {
            Some((run, start)) if *start == process.start => return Some(*run),
            _ => process = Process::read(process.parent)?,
        }
    }
    None
}

/// Deeper trees of processes are not followed.
const DEEPEST: u32 = 1_000;

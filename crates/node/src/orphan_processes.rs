//! What is left of a run whose shim was killed.

use crate::cgroup::RunCgroup;
use crate::launch_command::PREEMPT_FILE;
use crate::process::{Process, descendants};
use crate::rundir::PREEMPT;
use danlu_wire::rundir::ShimState;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Kills it. True when there was nothing; to be called again until then.
pub(crate) fn kill(state: &ShimState, run_path: &Path) -> bool {
    let cgroup = RunCgroup::from_paths(&state.cgroups);
    let empty = cgroup.is_empty();
    if !empty {
        cgroup.kill();
    }
    let left = find(state, run_path);
    for process in &left {
        if let Some(held) = process.hold() {
            held.signal(Signal::SIGKILL);
        }
    }
    empty && left.is_empty() && cgroup.remove()
}

/// Those of the shim's session and whatever they started; without a control group also those whose environment names the run.
/// Nothing that is older than the shim.
fn find(state: &ShimState, run_path: &Path) -> Vec<Process> {
    let all = Process::all();
    let Ok(session) = i32::try_from(state.shim.pid).map(Pid::from_raw) else { return Vec::new() };
    // The shim is dead: whoever has its id now has begun a session of that name anew.
    let reused = all.iter().any(|one| one.pid == session);
    let sign = format!("{PREEMPT_FILE}={}/{PREEMPT}", run_path.display());
    // Who looks into the memory of a process waits for whatever file system that process has put there.
    let looked_into = state.cgroups.unified.is_none();
    let roots: BTreeSet<Pid> = all
        .iter()
        .filter(|one| one.start >= state.shim.start && one.pid != Pid::this())
        .filter(|one| {
            (one.session == session && !reused)
                || (looked_into && has_in_environment(one.pid, &sign))
        })
        .map(|one| one.pid)
        .collect();
    let mut found = descendants(&roots, &all);
    found.extend(all.iter().filter(|one| !one.zombie && roots.contains(&one.pid)));
    found
}

fn has_in_environment(pid: Pid, sign: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|content| content.split(|&byte| byte == 0).any(|one| one == sign.as_bytes()))
}

//! Finds and kills the processes that are left of a run whose shim was killed.

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

/// The processes of the shim's session and their descendants; without a control group also those whose environment names the run.
/// Nothing that is older than the shim.
fn find(state: &ShimState, run_path: &Path) -> Vec<Process> {
    let all = Process::all();
    let Ok(session) = i32::try_from(state.shim.pid).map(Pid::from_raw) else { return Vec::new() };
    // The shim is dead: a process with its id now is another one, and may have begun a session of the same number.
    let reused = all.iter().any(|one| one.pid == session);
    let sign = format!("{PREEMPT_FILE}={}/{PREEMPT}", run_path.display());
    // Reading the environment of a process can block on a file system that is mapped there.
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

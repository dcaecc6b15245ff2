//! Finds shims whose run directory was deleted: they still have it open.

use crate::process::{Pidfd, Process};
use crate::rundir::{RunRoot, run_of_name};
use crate::shim;
use danlu_core::RunId;
use nix::unistd::{Pid, geteuid};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What they watch over is alive and holds its GPUs, so the runs must not be taken for gone.
pub(crate) fn find(root: &RunRoot) -> Vec<(RunId, Pidfd)> {
    let runs = root.path().join("runs");
    // A child that has not become the command yet has all of this in common with its shim, but not the session.
    let shims = Process::all().into_iter().filter(|one| one.session == one.pid && is_shim(one.pid));
    shims
        .filter_map(|one| {
            let held = one.hold()?;
            Some((removed_run(one.pid, &runs)?, held))
        })
        .collect()
}

/// Of this user: anybody else may give a process this name.
fn is_shim(pid: Pid) -> bool {
    let process = format!("/proc/{pid}");
    fs::read(format!("{process}/comm"))
        .is_ok_and(|name| name.trim_ascii_end() == shim::NAME.to_bytes())
        && fs::metadata(process).is_ok_and(|facts| facts.uid() == geteuid().as_raw())
}

fn removed_run(pid: Pid, runs: &Path) -> Option<RunId> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok()).find_map(|target| {
        // The kernel's way to say so.
        let path = Path::new(target.to_str()?.strip_suffix(" (deleted)")?);
        run_of_name(path.strip_prefix(runs).ok()?.to_str()?)
    })
}

//! What tasks depend on and is set on this machine: control groups, the GPU driver, the systemd unit.

use danlu_wire::api::HostHealth;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// For `danlu doctor`, which asks the server, and looks for itself where that does not answer.
pub fn look() -> HostHealth {
    let is_there = |path: &str| Path::new(path).exists();
    let cards = || fs::read_dir("/proc/driver/nvidia/gpus").map(Iterator::count).unwrap_or(0);
    HostHealth {
        cgroup_v2: is_there("/sys/fs/cgroup/cgroup.controllers")
            || is_there("/sys/fs/cgroup/unified/cgroup.procs"),
        nvidia_driver: is_there("/dev/nvidiactl") || cards() > 0,
        nvidia_tools: is_in_path("nvidia-smi"),
        unit: unit().unwrap_or_default(),
    }
}

fn is_in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// `None` where there is no systemd, or it does not know of us.
fn unit() -> Option<BTreeMap<String, String>> {
    if !Path::new("/run/systemd/system").exists() {
        return None;
    }
    // A systemd that hangs keeps nobody waiting.
    let mut ask = Command::new("timeout");
    ask.args(["5", "systemctl"]);
    if !nix::unistd::geteuid().is_root() {
        ask.arg("--user");
    }
    ask.args(["show", "danlu.service", "-p", "LoadState,KillMode,Delegate,OOMPolicy"]);
    let said = ask.output().ok().filter(|said| said.status.success())?;
    let settings = settings(&String::from_utf8_lossy(&said.stdout));
    (settings.get("LoadState").map(String::as_str) == Some("loaded")).then_some(settings)
}

fn settings(said: &str) -> BTreeMap<String, String> {
    let lines = said.lines().filter_map(|line| line.split_once('='));
    lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn settings_are_read_as_systemctl_shows_them() {
        let found = super::settings("LoadState=loaded\nKillMode=process\nEnvironment=A=b\n\n");
        let found: Vec<(&str, &str)> =
            found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            found,
            [("Environment", "A=b"), ("KillMode", "process"), ("LoadState", "loaded")]
        );
    }
}

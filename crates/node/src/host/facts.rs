//! Facts about this machine other than its GPUs: load, memory, disk, network, driver.

use super::{capacity, memory};
use crate::{clock, user};
use danlu_wire::agent::{Facts, Machine};
use nix::sys::statfs::{
    BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC,
    statfs,
};
use nix::sys::statvfs::statvfs;
use std::fs;
use std::path::Path;

/// Which machine this is, and as whom this process is there.
pub(super) fn machine() -> Machine {
    let account = user::current();
    Machine {
        id: id(),
        host_name: line("/proc/sys/kernel/hostname"),
        is_root: account.uid == 0,
        login: account.name,
        now: clock::now(),
    }
}

/// A namespace of its own counts as a machine of its own: it has its own network and its own processes.
fn id() -> String {
    let installed = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .into_iter()
        .map(line)
        .find(|id| !id.is_empty());
    let host = line("/proc/sys/kernel/hostname");
    // Machines that were installed from one image have one id.
    format!("{}/{host}", installed.unwrap_or_default())
}

pub fn facts(runs: &Path, probe: &str) -> Facts {
    let (received, sent) = traffic();
    let disk = statvfs(runs).ok();
    // As wide as the system has them.
    #[allow(clippy::useless_conversion, reason = "they are not as wide everywhere")]
    let bytes = |blocks, size| u64::from(blocks) * u64::from(size);
    Facts {
        now: clock::now(),
        load: load(),
        memory_used: memory_used(),
        disk_free: disk.map(|disk| bytes(disk.blocks_available(), disk.fragment_size())),
        disk_total: disk.map(|disk| bytes(disk.blocks(), disk.fragment_size())),
        received,
        sent,
        probe: probe.to_owned(),
        directory: runs.display().to_string(),
        file_system: file_system(runs),
        driver: driver(),
        system: format!("Linux {}", line("/proc/sys/kernel/osrelease")),
    }
}

/// In hundredths.
fn load() -> u32 {
    let text = line("/proc/loadavg");
    let (whole, part) =
        text.split(' ').next().and_then(|one| one.split_once('.')).unwrap_or_default();
    whole.parse::<u32>().unwrap_or(0) * 100 + part.parse::<u32>().unwrap_or(0)
}

fn memory_used() -> Option<u64> {
    memory::available().map(|free| capacity().memory.saturating_sub(free))
}

/// Of the GPUs, where the kernel tells.
fn driver() -> Option<String> {
    let nvidia = line("/proc/driver/nvidia/version");
    let number =
        |word: &&str| word.starts_with(|it: char| it.is_ascii_digit()) && word.contains('.');
    let nvidia = nvidia.split_whitespace().find(number).map(|it| format!("nvidia {it}"));
    let amd = || Some(line("/sys/module/amdgpu/version")).filter(|it| !it.is_empty());
    nvidia.or_else(|| amd().map(|it| format!("amdgpu {it}")))
}

/// By its usual name.
fn file_system(path: &Path) -> String {
    let Ok(kind) = statfs(path).map(|it| it.filesystem_type()) else { return String::new() };
    let known = [
        (EXT4_SUPER_MAGIC, "ext4"),
        (XFS_SUPER_MAGIC, "xfs"),
        (BTRFS_SUPER_MAGIC, "btrfs"),
        (OVERLAYFS_SUPER_MAGIC, "overlay"),
        (TMPFS_MAGIC, "tmpfs"),
    ];
    let name = known.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name);
    name.map_or_else(|| format!("type {:x}", kind.0), str::to_owned)
}

/// Of all interfaces but loopback.
fn traffic() -> (u64, u64) {
    let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.trim().split_once(':'));
    lines.filter(|(name, _)| *name != "lo").fold((0, 0), |(received, sent), (_, numbers)| {
        let number = |place| numbers.split_whitespace().nth(place)?.parse::<u64>().ok();
        (received + number(0).unwrap_or(0), sent + number(8).unwrap_or(0))
    })
}

fn line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_tells() {
        let facts = facts(Path::new("/"), "none");
        assert!(facts.memory_used.is_some_and(|bytes| bytes > 0));
        assert!(facts.disk_total.is_some_and(|bytes| bytes > 0));
        assert!(facts.system.len() > "Linux ".len());
        assert!(!machine().host_name.is_empty());
    }
}

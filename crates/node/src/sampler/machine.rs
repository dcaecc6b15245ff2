//! CPU, memory, load, disk and network of this machine, from the kernel's counters.

use danlu_wire::samples::MachineReading;
use nix::sys::statvfs::statvfs;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What only grows, from which rates are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    /// Ticks.
    busy: Option<u64>,
    all: u64,
    /// Bytes.
    disk: Option<Traffic>,
    network: Option<Traffic>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Traffic {
    inward: u64,
    outward: u64,
}

/// Disks and network cards come and go seldom.
const LOOK_FOR_DEVICES: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub(super) struct MachineSampler {
    before: Option<(Instant, Counters)>,
    devices: Devices,
    devices_seen: Option<Instant>,
}

/// Those that data really goes through: a partition, a mapped disk or a bridge would count it twice.
#[derive(Debug, Default)]
struct Devices {
    disks: BTreeSet<String>,
    cards: BTreeSet<String>,
}

impl MachineSampler {
    pub(super) fn sample(&mut self, runs: &Path, now: Instant) -> MachineReading {
        if self.devices_seen.is_none_or(|seen| now.duration_since(seen) >= LOOK_FOR_DEVICES) {
            self.devices = Devices::find();
            self.devices_seen = Some(now);
        }
        let counters = Counters::read(&self.devices);
        let before = self.before.replace((now, counters));
        let mut reading = before.map_or_else(MachineReading::default, |(then, before)| {
            rates(&before, &counters, now.duration_since(then))
        });
        let memory = memory(&text("/proc/meminfo"));
        reading.memory_total = memory.map(|(total, _)| mebibytes(total));
        reading.memory_used = memory.map(|(total, free)| mebibytes(total.saturating_sub(free)));
        reading.load = load(&text("/proc/loadavg"));
        if let Ok(disk) = statvfs(runs) {
            #[allow(clippy::useless_conversion, reason = "they are not as wide everywhere")]
            let bytes = |blocks| u64::from(blocks) * u64::from(disk.fragment_size());
            let (total, free) = (bytes(disk.blocks()), bytes(disk.blocks_free()));
            reading.disk_total = Some(mebibytes(total));
            reading.disk_used = Some(mebibytes(total.saturating_sub(free)));
        }
        reading
    }
}

impl Devices {
    fn find() -> Devices {
        let names = |directory: &str| {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
        };
        let virtual_disk = |name: &str| {
            ["loop", "ram", "zram", "dm-", "md", "sr", "fd"].iter().any(|it| name.starts_with(it))
        };
        let disks = names("/sys/block").into_iter().filter(|name| !virtual_disk(name)).collect();
        let all: BTreeSet<String> =
            names("/sys/class/net").into_iter().filter(|name| name != "lo").collect();
        let real = |name: &&String| Path::new("/sys/class/net").join(name).join("device").exists();
        let cards: BTreeSet<String> = all.iter().filter(real).cloned().collect();
        // In a container there are only virtual ones.
        Devices { disks, cards: if cards.is_empty() { all } else { cards } }
    }
}

impl Counters {
    fn read(devices: &Devices) -> Counters {
        let cpu = cpu(&text("/proc/stat"));
        Counters {
            busy: cpu.map(|(busy, _)| busy),
            all: cpu.map_or(0, |(_, all)| all),
            disk: disk(&text("/proc/diskstats"), &devices.disks),
            network: network(&text("/proc/net/dev"), &devices.cards),
        }
    }
}

/// A counter that has gone back, as when a device is replaced, tells nothing.
fn rates(before: &Counters, now: &Counters, elapsed: Duration) -> MachineReading {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = |before: u64, now: u64| {
        let bytes = now.checked_sub(before)?;
        let kibibytes = u128::from(bytes) * 1000 / u128::from(millis) / 1024;
        Some(u32::try_from(kibibytes).unwrap_or(u32::MAX))
    };
    let busy = before.busy.zip(now.busy).and_then(|(before, now)| now.checked_sub(before));
    let all = now.all.saturating_sub(before.all);
    let cpu = busy.filter(|_| all > 0).map(|busy| (busy * 1000 / all).min(1000) as u32);
    let disk = before.disk.zip(now.disk);
    let network = before.network.zip(now.network);
    MachineReading {
        cpu,
        disk_read: disk.and_then(|(before, now)| rate(before.inward, now.inward)),
        disk_written: disk.and_then(|(before, now)| rate(before.outward, now.outward)),
        received: network.and_then(|(before, now)| rate(before.inward, now.inward)),
        sent: network.and_then(|(before, now)| rate(before.outward, now.outward)),
        ..MachineReading::default()
    }
}

/// Busy ticks, and all: `cpu user nice system idle iowait irq softirq steal guest guest_nice`, where the guests are in
/// `user` and `nice` already.
fn cpu(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_whitespace().take(8).map_while(|number| number.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4).copied().unwrap_or(0);
    Some((all.saturating_sub(idle), all))
}

/// Sectors are 512 bytes there, whatever the disk has.
fn disk(diskstats: &str, disks: &BTreeSet<String>) -> Option<Traffic> {
    let mut sum = None;
    for line in diskstats.lines() {
        let mut words = line.split_whitespace().skip(2);
        if !words.next().is_some_and(|name| disks.contains(name)) {
            continue;
        }
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        let (Some(read), Some(written)) = (numbers.get(2), numbers.get(6)) else { continue };
        let all: &mut Traffic = sum.get_or_insert_default();
        all.inward += read * 512;
        all.outward += written * 512;
    }
    sum
}

fn network(dev: &str, cards: &BTreeSet<String>) -> Option<Traffic> {
    let mut sum = None;
    for (name, numbers) in dev.lines().filter_map(|line| line.trim().split_once(':')) {
        if !cards.contains(name) {
            continue;
        }
        let number = |place| numbers.split_whitespace().nth(place)?.parse::<u64>().ok();
        let all: &mut Traffic = sum.get_or_insert_default();
        all.inward += number(0).unwrap_or(0);
        all.outward += number(8).unwrap_or(0);
    }
    sum
}

/// Bytes in all, and those that programs can get.
fn memory(meminfo: &str) -> Option<(u64, u64)> {
    let bytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1024)
    };
    Some((bytes("MemTotal:")?, bytes("MemAvailable:")?))
}

/// In hundredths.
fn load(loadavg: &str) -> Option<u32> {
    let (whole, part) = loadavg.split(' ').next()?.split_once('.')?;
    Some(whole.parse::<u32>().ok()?.saturating_mul(100) + part.parse::<u32>().ok()?)
}

pub(super) fn mebibytes(bytes: u64) -> u32 {
    u32::try_from(bytes >> 20).unwrap_or(u32::MAX)
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn counters_are_read() {
        assert_eq!(cpu("cpu  10 1 9 70 10 0 0 0 5 0\ncpu0 1 2 3\n"), Some((20, 100)));
        assert_eq!(cpu("intr 5"), None);
        let stats = " 8 0 sda 5 0 100 1 7 0 40 2 0 0 0\n 8 1 sda1 5 0 100 1 7 0 40 2 0 0 0\n";
        let sum = Some(Traffic { inward: 51_200, outward: 20_480 });
        assert_eq!(disk(stats, &named(&["sda"])), sum);
        assert_eq!(disk(stats, &named(&["sdb"])), None);
        let dev = "Inter-| Receive\n eth0: 100 1 0 0 0 0 0 0 50 1\n docker0: 9 1 0 0 0 0 0 0 9 1\n";
        let sum = Some(Traffic { inward: 100, outward: 50 });
        assert_eq!(network(dev, &named(&["eth0"])), sum);
        assert_eq!(memory("MemTotal: 8 kB\nMemAvailable:  2 kB\n"), Some((8192, 2048)));
        assert_eq!(load("1.05 0.9 0.8 1/200 4711\n"), Some(105));
    }

    #[test]
    fn rates_are_per_second_and_never_negative() {
        let traffic = |inward| Some(Traffic { inward, outward: 0 });
        let counters = |busy, all, bytes| Counters {
            busy: Some(busy),
            all,
            disk: traffic(bytes),
            network: None,
        };
        let before = counters(100, 1000, 0);
        let now = counters(150, 1200, 4 << 20);
        let told = rates(&before, &now, Duration::from_secs(2));
        assert_eq!((told.cpu, told.disk_read, told.received), (Some(250), Some(2048), None));
        let back = rates(&now, &before, Duration::from_secs(2));
        assert_eq!((back.cpu, back.disk_read), (None, None));
    }

    #[test]
    fn this_machine_tells() {
        let mut sampler = MachineSampler::default();
        let now = Instant::now();
        let first = sampler.sample(Path::new("/"), now);
        assert_eq!(first.cpu, None, "a rate needs two moments");
        assert!(first.memory_used.is_some_and(|mebibytes| mebibytes > 0));
        assert!(first.disk_total.is_some_and(|mebibytes| mebibytes > 0));
    }
}

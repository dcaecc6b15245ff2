//! Searches the kernel log for out-of-memory kills and GPU errors that concern a run.

use danlu_core::{Failure, FailureClass};
use danlu_wire::launch::GpuOrder;
use nix::libc;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

/// The log of a kernel is not longer, and where it is, its beginning does not matter here.
const MOST_RECORDS: usize = 50_000;
/// The kernel's clock and ours differ a little.
const SLACK: u64 = 1_000_000;

/// Errors that a program cannot cause: memory, links, the bus, the card's own firmware.
const HARDWARE: [u32; 17] =
    [48, 54, 61, 62, 63, 64, 74, 79, 92, 94, 95, 110, 119, 120, 136, 140, 143];

/// The run that a record must concern.
#[derive(Debug)]
pub(super) struct Subject {
    /// Microseconds since the boot.
    pub(super) since: u64,
    pub(super) leader: u32,
    pub(super) uid: u32,
    /// A process of the run was probably killed.
    pub(super) killed: bool,
    /// `0000:3b:00` each.
    pub(super) cards: Vec<String>,
}

/// When that was, as the kernel stamps its records.
pub(super) fn stamp(ago: Duration) -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds: f64 = uptime.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0.0);
    let now = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    u64::try_from(now.saturating_sub(ago).as_micros()).unwrap_or(u64::MAX)
}

/// Where the kernel's driver says which card is at which place of the bus.
pub(super) fn cards(gpus: &GpuOrder) -> Vec<String> {
    let Ok(places) = fs::read_dir("/proc/driver/nvidia/gpus") else { return Vec::new() };
    let ours = |path: &std::path::Path| {
        let facts = fs::read_to_string(path.join("information")).unwrap_or_default();
        gpus.assigned.iter().any(|gpu| facts.contains(&*gpu.uuid.0))
    };
    let places = places.flatten().map(|place| place.path()).filter(|path| ours(path));
    let names = places.filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
    // `0000:3b:00.0`: messages leave out the function.
    names.map(|name| name.split('.').next().unwrap_or_default().to_lowercase()).collect()
}

/// Also `None` where the log may not be read.
pub(super) fn look(subject: &Subject) -> Option<Failure> {
    let log = File::options().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
    let mut log = log.ok()?;
    let mut found = None;
    let mut record = [0; 8192];
    for _ in 0..MOST_RECORDS {
        match log.read(&mut record) {
            Ok(0) => break,
            Ok(count) => {
                let text = String::from_utf8_lossy(&record[..count]);
                found = judge(&text, subject).or(found);
            }
            // Written over while it was read: the next one is there.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(_) => break,
        }
    }
    found
}

/// `6,1234,567890123,-;message` and lines of details.
fn judge(record: &str, subject: &Subject) -> Option<Failure> {
    let (facts, message) = record.split_once(';')?;
    let at: u64 = facts.split(',').nth(2)?.parse().ok()?;
    let message = message.lines().next()?;
    if at + SLACK < subject.since {
        return None;
    }
    if is_oom_kill(message, subject) {
        return Some(Failure::new(FailureClass::HostOom, message));
    }
    is_broken_card(message, subject).then(|| Failure::new(FailureClass::GpuHardware, message))
}

/// `Out of memory: Killed process 4711 (python3) total-vm:…, UID:1000 …`
fn is_oom_kill(message: &str, subject: &Subject) -> bool {
    let Some((before, after)) = message.split_once("Killed process ") else { return false };
    let pid = after.split(' ').next().and_then(|pid| pid.parse().ok());
    let uid = after.split_once("UID:").and_then(|(_, uid)| uid.split(' ').next()?.parse().ok());
    let theirs = subject.killed && uid == Some(subject.uid);
    before.to_ascii_lowercase().contains("out of memory") && (pid == Some(subject.leader) || theirs)
}

/// `NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.`
fn is_broken_card(message: &str, subject: &Subject) -> bool {
    let Some((_, xid)) = message.split_once("NVRM: Xid (PCI:") else { return false };
    let Some((place, rest)) = xid.split_once("): ") else { return false };
    let number = rest.split([',', ' ']).next().and_then(|number| number.parse().ok());
    let ours = subject.cards.contains(&place.to_lowercase());
    ours && number.is_some_and(|number| HARDWARE.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OOM: &str = "3,5110,90000000,-;Out of memory: Killed process 4711 (python3) total-vm:90kB, anon-rss:80kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0\n SUBSYSTEM=memory\n";
    const GROUP: &str = "3,5111,90000000,-;Memory cgroup out of memory: Killed process 4712 (sh) total-vm:9kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0\n";
    const XID: &str = "4,900,90000000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n";

    fn subject() -> Subject {
        let cards = vec!["0000:3b:00".to_owned()];
        Subject { since: 80_000_000, leader: 4711, uid: 1000, killed: false, cards }
    }

    #[track_caller]
    fn check(record: &str, subject: &Subject, expected: Option<FailureClass>) {
        assert_eq!(judge(record, subject).map(|failure| failure.class), expected, "{record}");
    }

    #[test]
    fn memory_that_the_kernel_took_back() {
        check(OOM, &subject(), Some(FailureClass::HostOom));
        check(GROUP, &subject(), None);
        check(GROUP, &Subject { killed: true, ..subject() }, Some(FailureClass::HostOom));
        check(GROUP, &Subject { killed: true, uid: 1001, ..subject() }, None);
        check(OOM, &Subject { since: 95_000_000, ..subject() }, None);
    }

    #[test]
    fn a_card_that_broke_is_one_of_the_run() {
        check(XID, &subject(), Some(FailureClass::GpuHardware));
        check(XID, &Subject { cards: vec!["0000:af:00".into()], ..subject() }, None);
        // The program's own fault.
        check(&XID.replace("79,", "31,"), &subject(), None);
        check("6,1,90000000,-;eth0: link up\n", &subject(), None);
        check("no record at all", &subject(), None);
    }
}

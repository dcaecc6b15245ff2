//! The `nvidia-smi` probe, with regular and irregular output.

use crate::fake_driver::{nobody, summary};
use crate::fake_proc::{FakeProc, Process};
use crate::wait::until_readable;
use danlu_node::gpu::{Baselines, Monitor, Probe, ProbeError, Reading, Smi};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const TWO: &str = "\
GPU-00000000-0000-0000-0000-00000000000b, 00000000:3B:00.0, 24564, 1024, 37, 55, 120.41, 0, [N/A], NVIDIA RTX A5000\n\
GPU-00000000-0000-0000-0000-00000000000a, 00000000:1A:00.0, 81920, 0, 0, 31, 61.02, 3, Disabled, NVIDIA A100, 80GB\n";

struct FakeSmi {
    directory: TempDir,
}

impl FakeSmi {
    fn new(gpus: &str, processes: &str) -> Self {
        let fake = FakeSmi { directory: tempfile::tempdir().unwrap() };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/nvidia-smi");
        symlink(script, fake.command()).unwrap();
        fake.say("gpus", gpus);
        fake.say("processes", processes);
        fake.say("status", "0");
        fake
    }

    fn say(&self, file: &str, text: &str) {
        fs::write(self.directory.path().join(file), text).unwrap();
    }

    fn command(&self) -> PathBuf {
        self.directory.path().join("nvidia-smi")
    }

    fn smi(&self) -> Smi {
        Smi::new(self.command(), Duration::from_secs(20))
    }

    fn read(&self) -> Result<Reading, ProbeError> {
        let mut smi = self.smi();
        smi.wait_for_answer()?;
        Ok(smi.sample().unwrap().expect("the answer that came"))
    }
}

fn sample(gpus: &str, processes: &str, proc: &Path) -> Vec<String> {
    let fake = FakeSmi::new(gpus, processes);
    let mut smi = fake.smi();
    smi.wait_for_answer().unwrap();
    let mut monitor = Monitor::new(Probe::Smi(smi), proc.to_owned(), Baselines::default());
    summary(&monitor.sample(&nobody))
}

#[test]
fn readings_arrive_in_their_units_and_pci_order() {
    let reading = FakeSmi::new(TWO, "").read().unwrap();
    let [first, second] = &reading.gpus[..] else { panic!("{reading:?}") };
    assert_eq!((first.index, second.index), (0, 1));
    assert_eq!(first.facts.model, "NVIDIA A100, 80GB");
    assert_eq!(first.facts.pci.to_string(), "0000:1a:00.0");
    assert_eq!((first.facts.memory_total, second.facts.memory_total), (80 << 30, 24564 << 20));
    let live = second.live.as_ref().unwrap();
    assert_eq!(
        (live.memory_used, live.utilization, live.temperature),
        (1 << 30, Some(37), Some(55))
    );
    assert_eq!(live.power, Some(120.41));
    assert_eq!(first.live.as_ref().unwrap().health.uncorrected_ecc, Some(3));
}

#[test]
fn processes_are_attributed_by_uuid() {
    let proc = FakeProc::with(&Process::default());
    let processes = "GPU-00000000-0000-0000-0000-00000000000b, 4711, 512\n";
    let expect = ["0 000a idle", "1 000b foreign 4711/root"];
    assert_eq!(sample(TWO, processes, proc.path()), expect);
    assert_eq!(
        sample(TWO, "No running processes found\n", proc.path()),
        ["0 000a idle", "1 000b idle"]
    );
}

#[test]
fn processes_that_cannot_be_told_make_the_gpu_unknown() {
    let proc = FakeProc::new();
    let one = "GPU-00000000-0000-0000-0000-00000000000b, [N/A], [Insufficient Permissions]\n";
    assert_eq!(sample(TWO, one, proc.path()), ["0 000a idle", "1 000b unknown"]);
    // Nobody knows whom this concerns.
    assert_eq!(sample(TWO, "无法读取进程\n", proc.path()), ["0 000a unknown", "1 000b unknown"]);
}

#[test]
fn values_that_are_not_there_are_left_out() {
    let gpus = "GPU-00000000-0000-0000-0000-00000000000c, 00000000:3B:00.0, 24564, 7, [N/A], [Not Supported], \
                [Unknown Error], [N/A], [N/A], Tesla\n";
    let reading = FakeSmi::new(gpus, "").read().unwrap();
    let live = reading.gpus[0].live.as_ref().unwrap();
    assert_eq!((live.utilization, live.temperature, live.power), (None, None, None));
    assert_eq!(live.health.uncorrected_ecc, None);
}

#[test]
fn a_gpu_that_does_not_tell_its_memory_is_unknown() {
    let gpus = TWO.replace("81920, 0", "[GPU is lost], [GPU is lost]");
    assert_eq!(sample(&gpus, "", FakeProc::new().path()), ["0 000a unknown", "1 000b idle"]);
}

#[test]
fn a_divided_gpu_is_unknown_because_its_parts_cannot_be_seen() {
    let gpus = TWO.replace("Disabled", "Enabled");
    let processes = "MIG-11111111-0000-0000-0000-00000000000b, 4711, 512\n";
    assert_eq!(sample(&gpus, processes, FakeProc::new().path()), ["0 000a unknown", "1 000b idle"]);
}

#[test]
fn an_old_driver_is_asked_less() {
    let fake = FakeSmi::new(&TWO.replace(" [N/A],", "").replace(" Disabled,", ""), "");
    for status in ["2", "0"] {
        fake.say("old", status);
        assert_eq!(fake.read().unwrap().gpus[0].facts.model, "NVIDIA A100, 80GB");
    }
}

#[test]
fn a_gpu_that_falls_silent_is_unknown() {
    let fake = FakeSmi::new(TWO, "");
    let mut smi = fake.smi();
    smi.wait_for_answer().unwrap();
    let mut monitor = Monitor::new(Probe::Smi(smi), "/proc".into(), Baselines::default());
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 000a idle", "1 000b idle"]);
    let (_, rest) = TWO.split_once('\n').unwrap();
    let lost = "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.\n";
    fake.say("gpus", &format!("{lost}{rest}"));
    for _ in 0..1000 {
        let now = summary(&monitor.sample(&nobody));
        if now == ["0 000a idle", "1 000b unknown"] {
            return;
        }
        if let Some(fd) = monitor.fd() {
            until_readable(fd);
        }
    }
    panic!("the silent GPU stays idle");
}

#[test]
fn strange_answers_are_quoted() {
    let check = |gpus: &str, status: &str, expect: &str| {
        let fake = FakeSmi::new(gpus, "");
        fake.say("status", status);
        let error = fake.read().unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(
        "NVIDIA-SMI has failed because it couldn't communicate with the driver.\n",
        "9",
        "NVIDIA-SMI has failed",
    );
    check("", "6", "exit status: 6: it said nothing");
    check("没有找到设备\n", "0", "没有找到设备");
    check("<html>\n", "0", "unexpected answer: <html>");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut smi = Smi::new("/nonexistent/nvidia-smi".into(), Duration::from_secs(5));
    let error = smi.wait_for_answer().unwrap_err();
    assert!(matches!(error, ProbeError::Command { action: "started", .. }), "{error}");
    assert!(error.to_string().contains("/nonexistent/nvidia-smi"), "{error}");
}

#[test]
fn endless_output_is_cut_off() {
    let fake = FakeSmi::new(&"x".repeat(3 << 20), "");
    let error = fake.read().unwrap_err().to_string();
    assert!(error.contains("more than 1048576 bytes"), "{error}");
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_started() {
    let fake = FakeSmi::new(TWO, "");
    fake.say("hang", "");
    let mut smi = Smi::new(fake.command(), Duration::from_secs(2));
    let error = smi.wait_for_answer().unwrap_err();
    assert!(matches!(error, ProbeError::NoAnswer { .. }), "{error}");
    let pid = fs::read_to_string(fake.directory.path().join("pid")).unwrap();
    let group = |stat: String| {
        stat.rsplit_once(')').map(|(_, rest)| rest.split(' ').nth(3).map(str::to_owned))
    };
    // They were killed, and end when the kernel gets to it.
    for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let member = stat.split(' ').next().and_then(|pid| Pid::from_raw(pid.parse().ok()?));
        if group(stat.clone()) == Some(Some(pid.trim().to_owned()))
            && let Some(Ok(member)) = member.map(|pid| pidfd_open(pid, PidfdFlags::empty()))
        {
            until_readable(member.as_fd());
        }
    }
    // And it can be asked again.
    fs::remove_file(fake.directory.path().join("hang")).unwrap();
    smi.wait_for_answer().unwrap();
    assert_eq!(smi.sample().unwrap().unwrap().gpus.len(), 2);
}

#[test]
fn a_sample_does_not_wait() {
    let fake = FakeSmi::new(TWO, "");
    fake.say("hang", "");
    let mut smi = fake.smi();
    assert!(smi.sample().unwrap().is_none());
    assert!(smi.fd().is_some());
    assert!(smi.sample().unwrap().is_none());
}

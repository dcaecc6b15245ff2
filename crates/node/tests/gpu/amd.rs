//! What the AMD probe reads from a `/sys` made for the test.

use crate::fake_driver::{nobody, summary};
use crate::fake_proc::{FakeProc, Process};
use danlu_core::gpu::GpuVendor;
use danlu_node::gpu::{Amd, Baselines, Monitor, Probe, ProcessKind};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const GIB: u64 = 1 << 30;

struct FakeSys {
    directory: TempDir,
}

impl FakeSys {
    fn new() -> Self {
        let sys = FakeSys { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(sys.path().join("class/drm")).unwrap();
        sys
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A card on a bus; its files are under `devices/BUS`.
    fn card(&self, number: u32, bus: u8, serial: Option<&str>) -> String {
        let device = format!("devices/0000:{bus:02x}:00.0");
        self.write(&format!("{device}/vendor"), "0x1002\n");
        self.write(&format!("{device}/device"), "0x740c\n");
        self.write(
            &format!("{device}/uevent"),
            &format!("DRIVER=amdgpu\nPCI_SLOT_NAME=0000:{bus:02x}:00.0\n"),
        );
        self.write(&format!("{device}/mem_info_vram_total"), &format!("{}\n", 64 * GIB));
        self.write(&format!("{device}/mem_info_vram_used"), &format!("{GIB}\n"));
        self.write(&format!("{device}/gpu_busy_percent"), "17\n");
        self.write(&format!("{device}/hwmon/hwmon3/temp1_input"), "48000\n");
        self.write(&format!("{device}/hwmon/hwmon3/power1_average"), "93000000\n");
        if let Some(serial) = serial {
            self.write(&format!("{device}/unique_id"), &format!("{serial}\n"));
        }
        let card = self.path().join(format!("class/drm/card{number}"));
        fs::create_dir_all(&card).unwrap();
        symlink(self.path().join(&device), card.join("device")).unwrap();
        // A connector of it, which is no card.
        fs::create_dir_all(self.path().join(format!("class/drm/card{number}-DP-1"))).unwrap();
        device
    }

    /// The compute driver's view of the card on a bus.
    fn node(&self, number: u32, gpu: u64, bus: u8) {
        let node = format!("class/kfd/kfd/topology/nodes/{number}");
        self.write(&format!("{node}/gpu_id"), &format!("{gpu}\n"));
        let location = u32::from(bus) << 8;
        self.write(
            &format!("{node}/properties"),
            &format!("simd_count 440\nlocation_id {location}\ndomain 0\n"),
        );
    }

    fn process(&self, pid: u32, gpu: u64, memory: u64) {
        self.write(&format!("class/kfd/kfd/proc/{pid}/vram_{gpu}"), &format!("{memory}\n"));
    }

    fn amd(&self, proc: &Path) -> Amd {
        Amd::new(self.path().to_owned(), proc.to_owned())
    }

    fn monitor(&self, proc: &Path) -> Monitor {
        Monitor::new(Probe::Amd(self.amd(proc)), proc.to_owned(), Baselines::default())
    }
}

fn two() -> FakeSys {
    let sys = FakeSys::new();
    sys.card(0, 0xc1, Some("d2a17c1f2e45b608"));
    sys.card(1, 0x83, Some("0x2f5e3cd00a91b7e4"));
    fs::create_dir_all(sys.path().join("class/kfd/kfd/proc")).unwrap();
    sys
}

#[test]
fn facts_and_readings_arrive_in_their_units_and_pci_order() {
    let sys = two();
    sys.write("devices/0000:83:00.0/product_name", "AMD Instinct MI250X\n");
    sys.write("devices/0000:83:00.0/ras/umc_err_count", "ue: 1\nce: 7\n");
    let sampled = sys.monitor(&PathBuf::from("/proc")).sample(&nobody);
    assert_eq!(summary(&sampled), ["0 b7e4 idle", "1 b608 idle"]);
    let [first, second] = &sampled.details[..] else { panic!("{sampled:?}") };
    assert_eq!(&*first.uuid.0, "GPU-2f5e3cd00a91b7e4");
    assert!(sampled.reports.iter().all(|report| report.vendor == GpuVendor::Amd));
    assert_eq!(
        (first.model.as_str(), second.model.as_str()),
        ("AMD Instinct MI250X", "AMD GPU 740c")
    );
    assert_eq!((first.memory_total, first.memory_used), (64 * GIB, Some(GIB)));
    assert_eq!((first.utilization, first.temperature, first.power), (Some(17), Some(48), Some(93)));
    assert_eq!((first.health.uncorrected_ecc, second.health.uncorrected_ecc), (Some(1), None));
}

#[test]
fn other_makers_and_the_graphics_of_a_processor_are_left_out() {
    let sys = two();
    let nvidia = sys.card(2, 0x41, Some("1"));
    sys.write(&format!("{nvidia}/vendor"), "0x10de\n");
    let processor = sys.card(3, 0x04, None);
    sys.write(&format!("{processor}/mem_info_vram_total"), &format!("{}\n", GIB / 2));
    let reading = sys.amd(Path::new("/proc")).sample().unwrap();
    assert_eq!((reading.gpus.len(), reading.problems.len()), (2, 0));
}

#[test]
fn a_card_without_a_serial_number_is_known_by_its_slot() {
    let sys = FakeSys::new();
    sys.card(0, 0x0a, None);
    let reading = sys.amd(FakeProc::new().path()).sample().unwrap();
    assert_eq!(&*reading.gpus[0].facts.id.0, "AMD-0000:0a:00.0");
}

#[test]
fn processes_of_the_compute_driver_are_foreign_where_they_have_memory() {
    let sys = two();
    sys.node(0, 0, 0);
    sys.node(1, 51140, 0x83);
    sys.node(2, 9721, 0xc1);
    sys.process(4711, 51140, 0);
    sys.process(4711, 9721, 3 * GIB);
    let proc = FakeProc::with(&Process::default());
    let sampled = sys.monitor(proc.path()).sample(&nobody);
    assert_eq!(summary(&sampled), ["0 b7e4 idle", "1 b608 foreign 4711/root"]);
    assert_eq!(sampled.details[1].foreign[0].memory, Some(3 * GIB));
}

#[test]
fn a_compute_driver_that_cannot_be_read_makes_all_unknown() {
    let sys = two();
    sys.process(4711, 51140, GIB);
    sys.write("class/kfd/kfd/topology/nodes/1/gpu_id", "what\n");
    let sampled = sys.monitor(Path::new("/proc")).sample(&nobody);
    assert_eq!(summary(&sampled), ["0 b7e4 unknown", "1 b608 unknown"]);
    assert!(sampled.details[0].fault.as_ref().unwrap().contains("nodes/1/gpu_id"));
}

#[test]
fn without_the_compute_driver_open_files_tell() {
    let sys = FakeSys::new();
    sys.card(0, 0x0a, Some("1"));
    let proc = FakeProc::new();
    let open = |pid: u32, fd: u32, to: &str, info: &str| {
        proc.add(&Process { pid, ..Process::default() });
        for directory in ["fd", "fdinfo"] {
            fs::create_dir_all(proc.path().join(format!("{pid}/{directory}"))).unwrap();
        }
        symlink(to, proc.path().join(format!("{pid}/fd/{fd}"))).unwrap();
        fs::write(proc.path().join(format!("{pid}/fdinfo/{fd}")), info).unwrap();
    };
    let info = |client: u32, compute: u64| {
        format!(
            "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t{client}\ndrm-pdev:\t0000:0a:00.0\n\
             drm-memory-vram:\t2048 KiB\ndrm-engine-compute:\t{compute} ns\n"
        )
    };
    open(30, 5, "/dev/dri/renderD128", &info(1, 12));
    open(30, 6, "/dev/dri/renderD128", &info(1, 12));
    open(30, 7, "/dev/dri/renderD128", &info(2, 0));
    open(31, 3, "/dev/dri/card0", &info(3, 0));
    open(32, 3, "/tmp/file", "pos:\t0\n");
    let reading = sys.amd(proc.path()).sample().unwrap();
    let mut seen: Vec<_> = reading.gpus[0].live.as_ref().unwrap().processes.iter().collect();
    seen.sort_by_key(|process| process.pid);
    let seen: Vec<_> = seen.iter().map(|one| (one.pid, one.memory, one.kind)).collect();
    let expect =
        [(30, Some(4 << 20), ProcessKind::Compute), (31, Some(2 << 20), ProcessKind::Graphics)];
    assert_eq!(seen, expect);
}

#[test]
fn an_unreadable_card_is_unknown_and_a_removed_one_is_gone() {
    let sys = two();
    let mut monitor = sys.monitor(Path::new("/proc"));
    monitor.sample(&nobody);
    fs::remove_file(sys.path().join("devices/0000:83:00.0/mem_info_vram_used")).unwrap();
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 b7e4 unknown", "1 b608 idle"]);
    sys.write("devices/0000:83:00.0/mem_info_vram_used", "garbage\n");
    let sampled = monitor.sample(&nobody);
    assert_eq!(summary(&sampled), ["0 b7e4 unknown", "1 b608 idle"]);
    assert!(sampled.details[0].fault.as_ref().unwrap().contains("garbage"));
    fs::remove_dir_all(sys.path().join("class/drm/card1")).unwrap();
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 b608 idle"]);
}

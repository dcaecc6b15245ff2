//! The NVML probe with GPUs that appear, vanish, fail and are divided.

use crate::fake_driver::{FakeDriver, nobody, process, run_if, summary};
use crate::fake_proc::{FakeProc, Process};
use danlu_node::gpu::{Monitor, ProbeError, Sampled, Vendor};
use fakenvml::{FakeGpu, FakeMig, FakeProcess, World};
use std::time::{Duration, Instant};

const GIB: u64 = 1 << 30;

/// The world, what happens to it, and what the node then reports.
fn check(world: World, change: impl FnOnce(&mut World), expect: &[&str]) {
    let mut driver = FakeDriver::new(world);
    let proc = FakeProc::new();
    let mut monitor = driver.monitor(proc.path());
    monitor.sample(&nobody);
    driver.change(change);
    assert_eq!(summary(&monitor.sample(&nobody)), expect);
}

fn monitor_of(world: World) -> (FakeDriver, FakeProc, Monitor) {
    let (driver, proc) = (FakeDriver::new(world), FakeProc::new());
    let monitor = driver.monitor(proc.path());
    (driver, proc, monitor)
}

fn sample(world: World) -> Sampled {
    let (_driver, _proc, mut monitor) = monitor_of(world);
    monitor.sample(&nobody)
}

#[test]
fn facts_and_readings_arrive_in_their_units() {
    let gpu = FakeGpu {
        used: 5 * GIB,
        utilization: 42,
        temperature: 61,
        milliwatts: 249_600,
        ..FakeGpu::number(3)
    };
    let sampled = sample(World { gpus: vec![gpu], ..World::default() });
    let told = &sampled.details[0];
    assert_eq!(&*told.uuid.0, "GPU-fa4e0000-0000-0000-0000-000000000003");
    assert_eq!((told.pci_bus_id.as_str(), told.vendor), ("0000:04:00.0", Vendor::Nvidia));
    assert_eq!((told.model.as_str(), told.memory_total), ("Fake A100", 80 * GIB));
    assert_eq!((told.memory_used, told.utilization), (Some(5 * GIB), Some(42)));
    assert_eq!((told.temperature, told.power), (Some(61), Some(250)));
    assert_eq!((told.fault.as_deref(), told.health.broken()), (None, None));
}

#[test]
fn gpus_come_in_pci_order_whatever_the_driver_numbers_them() {
    let mut world = World::of(3);
    world.gpus.reverse();
    assert_eq!(summary(&sample(world)), ["0 0000 idle", "1 0001 idle", "2 0002 idle"]);
}

#[test]
fn a_driver_that_numbers_anew_changes_nothing() {
    let expect = ["0 0000 idle", "1 0001 foreign 4711/unknown", "2 0002 idle"];
    let mut world = World::of(3);
    world.gpus[1].compute.push(process(4711, GIB));
    let mut driver = FakeDriver::new(world);
    let proc = FakeProc::new();
    let mut monitor = driver.monitor(proc.path());
    monitor.sample(&nobody);
    assert_eq!(summary(&monitor.sample(&nobody)), expect);
    driver.change(|world| world.gpus.rotate_left(1));
    assert_eq!(summary(&monitor.sample(&nobody)), expect);
}

#[test]
fn another_slot_is_another_index_and_the_same_gpu() {
    let swap_slots = |world: &mut World| {
        // Handles keep their facts: slots change only while the driver is not loaded.
        world.generation = 1;
        world.gpus[0].bus = "0000:41:00.0".to_owned();
    };
    let mut driver = FakeDriver::new(World::of(2));
    let proc = FakeProc::new();
    let mut monitor = driver.monitor(proc.path());
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 0000 idle", "1 0001 idle"]);
    driver.change(swap_slots);
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 0000 unknown", "1 0001 unknown"]);
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 0001 idle", "1 0000 idle"]);
}

#[test]
fn an_error_of_one_gpu_concerns_no_other() {
    for code in [fakenvml::GPU_IS_LOST, fakenvml::RESET_REQUIRED, fakenvml::UNKNOWN] {
        let expect = ["0 0000 idle", "1 0001 unknown", "2 0002 idle"];
        check(World::of(3), |world| world.gpus[1].error = code, &expect);
    }
}

#[test]
fn a_gpu_without_a_handle_is_known_by_its_absence() {
    let lose = |world: &mut World| {
        world.gpus[1].error = fakenvml::GPU_IS_LOST;
        world.gpus[1].unreachable = true;
    };
    check(World::of(3), lose, &["0 0000 idle", "1 0001 unknown", "2 0002 idle"]);
}

#[test]
fn a_gpu_that_never_answered_is_a_problem_without_a_name() {
    let mut world = World::of(2);
    world.gpus[1].error = fakenvml::GPU_IS_LOST;
    world.gpus[1].unreachable = true;
    let sampled = sample(world);
    assert_eq!(summary(&sampled), ["0 0000 idle"]);
    assert_eq!(sampled.problems.len(), 1);
    assert!(sampled.problems[0].contains("fallen off the bus"), "{:?}", sampled.problems);
}

#[test]
fn a_gpu_that_the_daemon_may_not_use_is_a_problem_and_no_more() {
    let mut world = World::of(2);
    world.gpus[1].error = fakenvml::NO_PERMISSION;
    world.gpus[1].unreachable = true;
    let (driver, _proc, mut monitor) = monitor_of(world);
    for _ in 0..120 {
        let sampled = monitor.sample(&nobody);
        assert_eq!(summary(&sampled), ["0 0000 idle"]);
        assert_eq!(
            sampled.problems,
            ["GPU number 1: NVML: no permission (4), asked by nvmlDeviceGetHandleByIndex_v2"]
        );
    }
    assert_eq!(driver.initialisations(), 1);
}

#[test]
fn a_fault_says_what_the_driver_said() {
    let mut world = World::of(1);
    world.gpus[0].fail.insert("nvmlDeviceGetMemoryInfo_v2".to_owned(), fakenvml::GPU_IS_LOST);
    let mut driver = FakeDriver::new(World::of(1));
    let proc = FakeProc::new();
    let mut monitor = driver.monitor(proc.path());
    monitor.sample(&nobody);
    driver.change(|now| *now = world);
    let told = &monitor.sample(&nobody).details[0];
    let expect = "NVML: the GPU is lost: it has fallen off the bus (15), asked by nvmlDeviceGetMemoryInfo_v2";
    assert_eq!(told.fault.as_deref(), Some(expect));
    assert_eq!(told.memory_used, None);
}

#[test]
fn a_gpu_that_is_gone_is_no_longer_reported() {
    check(World::of(3), |world| drop(world.gpus.remove(0)), &["0 0001 idle", "1 0002 idle"]);
}

#[test]
fn a_lost_gpu_comes_back_with_a_new_session() {
    let (mut driver, _proc, mut monitor) = monitor_of(World::of(2));
    monitor.sample(&nobody);
    driver.change(|world| world.gpus[0].error = fakenvml::GPU_IS_LOST);
    for _ in 0..59 {
        monitor.sample(&nobody);
    }
    assert_eq!(driver.initialisations(), 1);
    monitor.sample(&nobody);
    driver.change(|world| world.gpus[0].error = 0);
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 0000 idle", "1 0001 idle"]);
    assert_eq!(driver.initialisations(), 2);
}

#[test]
fn a_lost_driver_makes_all_gpus_unknown_until_it_is_back() {
    let (mut driver, _proc, mut monitor) = monitor_of(World::of(2));
    monitor.sample(&nobody);
    driver.change(|world| {
        world.generation = 1;
        for init in ["nvmlInit_v2", "nvmlInit"] {
            world.fail.insert(init.to_owned(), fakenvml::DRIVER_NOT_LOADED);
        }
    });
    for _ in 0..3 {
        let sampled = monitor.sample(&nobody);
        assert_eq!(summary(&sampled), ["0 0000 unknown", "1 0001 unknown"]);
        assert_eq!(sampled.problems.len(), 1);
    }
    driver.change(|world| world.fail.clear());
    let sampled = monitor.sample(&nobody);
    assert_eq!(summary(&sampled), ["0 0000 idle", "1 0001 idle"]);
    assert_eq!((sampled.changed, sampled.problems.len()), (true, 0));
}

#[test]
fn a_driver_that_dies_between_two_questions_concerns_all() {
    let die = |world: &mut World| {
        let call = "nvmlDeviceGetMemoryInfo_v2".to_owned();
        world.gpus[1].fail.insert(call, fakenvml::DRIVER_NOT_LOADED);
    };
    check(World::of(2), die, &["0 0000 unknown", "1 0001 unknown"]);
}

#[test]
fn samples_share_one_session() {
    let (driver, _proc, mut monitor) = monitor_of(World::of(4));
    for _ in 0..100 {
        monitor.sample(&nobody);
    }
    assert_eq!(driver.initialisations(), 1);
}

#[test]
fn foreign_processes_are_named() {
    let mut world = World::of(2);
    world.gpus[1].compute.push(process(4711, 3 * GIB));
    let driver = FakeDriver::new(world);
    let cgroup = "0::/docker/3f4e8a12bc90d5e6\n";
    let proc = FakeProc::with(&Process { uid: 0, cgroup, ..Process::default() });
    let sampled = driver.monitor(proc.path()).sample(&nobody);
    assert_eq!(summary(&sampled), ["0 0000 idle", "1 0001 foreign 4711/root"]);
    let foreign = &sampled.details[1].foreign[0];
    assert_eq!((foreign.command.as_str(), foreign.memory), ("python train.py", Some(3 * GIB)));
    assert_eq!(
        (foreign.container.as_deref(), foreign.stopped),
        (Some("docker:3f4e8a12bc90"), false)
    );
}

#[test]
fn a_process_of_a_run_is_not_foreign() {
    let mut world = World::of(1);
    world.gpus[0].compute = vec![process(10, GIB), process(11, 2 * GIB)];
    let (_driver, proc, mut monitor) = monitor_of(world);
    proc.add(&Process { pid: 11, ..Process::default() });
    let sampled = monitor.sample(&run_if(|pid| pid == 10));
    assert_eq!(summary(&sampled), ["0 0000 foreign 11/root"]);
    assert_eq!(sampled.details[0].own_memory(), GIB);
}

#[test]
fn who_only_draws_does_not_take_a_gpu() {
    let mut world = World::of(2);
    world.gpus[0].graphics.push(process(20, GIB));
    world.gpus[1].graphics.push(process(21, GIB));
    world.gpus[1].compute.push(process(21, GIB));
    let (_driver, proc, mut monitor) = monitor_of(world);
    for pid in [20, 21] {
        proc.add(&Process { pid, ..Process::default() });
    }
    let sampled = monitor.sample(&nobody);
    assert_eq!(summary(&sampled), ["0 0000 idle", "1 0001 foreign 21/root"]);
}

#[test]
fn any_number_of_processes_is_listed() {
    let mut world = World::of(1);
    world.gpus[0].compute = (1..=500).map(|pid| process(pid, 1 << 20)).collect();
    let driver = FakeDriver::new(world);
    let reading = driver.nvml().sample().unwrap();
    let live = reading.gpus[0].live.as_ref().unwrap();
    assert_eq!(live.processes.len(), 500);
    assert_eq!(live.processes[499].pid, 500);
}

#[test]
fn memory_that_the_driver_does_not_tell_is_not_zero() {
    let mut world = World::of(1);
    world.gpus[0].compute.push(FakeProcess { pid: 4711, ..FakeProcess::default() });
    let driver = FakeDriver::new(world);
    let proc = FakeProc::with(&Process::default());
    let sampled = driver.monitor(proc.path()).sample(&nobody);
    assert_eq!(sampled.details[0].foreign[0].memory, None);
}

#[test]
fn a_gpu_whose_processes_cannot_be_listed_is_not_free() {
    for code in [fakenvml::NOT_SUPPORTED, fakenvml::NO_PERMISSION] {
        let refuse = |world: &mut World| {
            let call = "nvmlDeviceGetComputeRunningProcesses_v3".to_owned();
            world.gpus[0].fail.insert(call, code);
        };
        check(World::of(2), refuse, &["0 0000 unknown", "1 0001 idle"]);
    }
}

#[test]
fn readings_that_a_gpu_does_not_have_are_left_out() {
    let mut world = World::of(1);
    for call in
        ["nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature"]
    {
        world.fail.insert(call.to_owned(), fakenvml::NOT_SUPPORTED);
    }
    let sampled = sample(world);
    assert_eq!(summary(&sampled), ["0 0000 idle"]);
    let told = &sampled.details[0];
    assert_eq!((told.utilization, told.power, told.temperature), (None, None, None));
    assert!(told.utilization_history.is_empty());
}

#[test]
fn utilisation_is_remembered_for_ten_samples() {
    let (mut driver, _proc, mut monitor) = monitor_of(World::of(1));
    let mut last = Vec::new();
    for percent in 1..=13 {
        driver.change(|world| world.gpus[0].utilization = percent);
        last = monitor.sample(&nobody).details[0].utilization_history.clone();
    }
    assert_eq!(last, (4..=13).collect::<Vec<u8>>());
}

#[test]
fn mig_instances_are_gpus_after_the_whole_ones() {
    let part = |number: u32| FakeMig {
        uuid: format!("MIG-fa4e0000-0000-0000-0000-00000000a{number:03}"),
        name: "Fake A100 MIG 1g.10gb".to_owned(),
        gpu_instance: 7 + number,
        compute_instance: 0,
        memory: 10 * GIB,
        used: 0,
        compute: vec![],
    };
    let mut world = World::of(3);
    world.gpus[0].mig =
        Some(vec![part(0), FakeMig { compute: vec![process(4711, GIB)], ..part(1) }]);
    let driver = FakeDriver::new(world);
    let proc = FakeProc::with(&Process::default());
    let sampled = driver.monitor(proc.path()).sample(&nobody);
    let expect = ["1 0001 idle", "2 0002 idle", "3 a000 idle", "4 a001 foreign 4711/root"];
    assert_eq!(summary(&sampled), expect);
    let told = &sampled.details[3];
    let mig = told.mig.as_ref().unwrap();
    assert_eq!(&*mig.parent.0, "GPU-fa4e0000-0000-0000-0000-000000000000");
    assert_eq!((mig.gpu_instance, mig.compute_instance), (8, 0));
    assert_eq!((told.memory_total, told.model.as_str()), (10 * GIB, "Fake A100 MIG 1g.10gb"));
}

#[test]
fn a_gpu_divided_into_nothing_is_not_free() {
    let mut world = World::of(2);
    world.gpus[0].mig = Some(vec![]);
    let sampled = sample(world);
    assert_eq!(summary(&sampled), ["0 0000 unknown", "1 0001 idle"]);
    assert!(sampled.details[0].fault.as_ref().unwrap().contains("MIG"));
}

#[test]
fn nvlink_neighbours_are_told_both_ways() {
    let mut world = World::of(4);
    let id = |number: usize| world.gpus[number].uuid.clone();
    world.nvlink = vec![(id(0), id(1)), (id(2), id(3))];
    let sampled = sample(world);
    let linked: Vec<Vec<char>> = sampled
        .details
        .iter()
        .map(|told| told.neighbours.iter().filter_map(|id| id.0.chars().last()).collect())
        .collect();
    assert_eq!(linked, [['1'], ['0'], ['3'], ['2']]);
}

#[test]
fn hardware_errors_are_told_apart_from_those_of_programs() {
    let mut world = World::of(4);
    world.gpus[0].xids = vec![31];
    world.gpus[1].xids = vec![79, 43];
    world.gpus[2].uncorrected_ecc = 2;
    world.gpus[3].remap_failed = true;
    let (_driver, _proc, mut monitor) = monitor_of(world);
    monitor.sample(&nobody);
    let sampled = monitor.sample(&nobody);
    let broken: Vec<Option<String>> =
        sampled.details.iter().map(|told| told.health.broken()).collect();
    let words = |text: &str| Some(text.to_owned());
    let expect = [
        None,
        words("Xid 79"),
        words("2 uncorrectable memory errors"),
        words("bad memory rows could not be replaced"),
    ];
    assert_eq!(broken, expect);
    assert_eq!(sampled.details[0].health.last_xid, Some(31));
    assert_eq!(sampled.details[1].health.last_xid, Some(43));
}

#[test]
fn a_hardware_error_outlives_the_session_that_saw_it() {
    let (mut driver, _proc, mut monitor) = monitor_of(World::of(1));
    monitor.sample(&nobody);
    driver.change(|world| world.gpus[0].xids = vec![79]);
    monitor.sample(&nobody);
    driver.change(|world| world.generation = 1);
    monitor.sample(&nobody);
    let sampled = monitor.sample(&nobody);
    assert_eq!(summary(&sampled), ["0 0000 idle"]);
    assert_eq!(sampled.details[0].health.hardware_xid, Some(79));
}

#[test]
fn a_library_that_is_none_is_refused_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("libnvidia-ml.so.1");
    for text in [None, Some("not a library")] {
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let error = danlu_node::gpu::Nvml::load(Some(&path)).unwrap_err();
        assert!(matches!(error, ProbeError::Library { .. }), "{error}");
        assert!(error.to_string().contains("libnvidia-ml.so.1"), "{error}");
    }
}

/// The promise is 0.3 % of a core at one sample a second: 3 ms each.
#[test]
fn a_sample_is_cheap() {
    let mut world = World::of(8);
    for (number, gpu) in (1..).zip(&mut world.gpus) {
        gpu.compute = vec![process(number, GIB), process(100 + number, GIB)];
    }
    let (_driver, proc, mut monitor) = monitor_of(world);
    for pid in (1..=8).chain(101..=108) {
        proc.add(&Process { pid, ..Process::default() });
    }
    monitor.sample(&nobody);
    let mut times: Vec<Duration> = (0..50)
        .map(|_| {
            let start = Instant::now();
            monitor.sample(&nobody);
            start.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "one sample of 8 GPUs with 16 processes: median {:?}, worst {:?}",
        times[25], times[49]
    );
    assert!(times[0] < Duration::from_millis(3), "{:?}", times[0]);
}

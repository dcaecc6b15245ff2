//! The NVML probe with drivers that lack the newest functions.

use crate::fake_driver::{FakeDriver, nobody, process, summary};
use crate::fake_proc::{FakeProc, Process};
use danlu_node::gpu::{Nvml, ProbeError};
use fakenvml::World;

const NEW: &[&str] = &[
    "nvmlInit_v2",
    "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetComputeRunningProcesses_v2",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v2",
];

const OPTIONAL: &[&str] = &[
    "nvmlSystemGetDriverVersion",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetTotalEccErrors",
    "nvmlDeviceGetRemappedRows",
    "nvmlDeviceGetP2PStatus",
    "nvmlEventSetCreate",
    "nvmlDeviceRegisterEvents",
    "nvmlEventSetWait_v2",
];

/// Two GPUs, the second with two foreign processes: the same must be seen by every way of asking.
fn world() -> World {
    let mut world = World::of(2);
    world.gpus[1].compute = vec![process(4711, 5), process(4712, 6)];
    world
}

fn check(driver: &FakeDriver) {
    let proc = FakeProc::new();
    for pid in [4711, 4712] {
        proc.add(&Process { pid, ..Process::default() });
    }
    let sampled = driver.monitor(proc.path()).sample(&nobody);
    assert_eq!(summary(&sampled), ["0 0000 idle", "1 0001 foreign 4711/root 4712/root"]);
    assert_eq!(sampled.problems, [""; 0]);
    let memory: Vec<_> = sampled.details[1].foreign.iter().map(|foreign| foreign.memory).collect();
    assert_eq!(memory, [Some(5), Some(6)]);
}

#[test]
fn a_library_without_the_new_functions_will_do() {
    check(&FakeDriver::without(NEW, world()));
    check(&FakeDriver::without(&["nvmlDeviceGetComputeRunningProcesses_v3"], world()));
}

#[test]
fn a_library_with_the_needed_functions_only_will_do() {
    let missing: Vec<&str> = NEW.iter().chain(OPTIONAL).copied().collect();
    check(&FakeDriver::without(&missing, world()));
}

#[test]
fn a_driver_older_than_its_library_will_do() {
    let mut world = world();
    for function in NEW {
        world.fail.insert((*function).to_owned(), fakenvml::FUNCTION_NOT_FOUND);
    }
    check(&FakeDriver::new(world));
}

#[test]
fn memory_of_another_version_is_asked_the_old_way() {
    let mut world = world();
    let call = "nvmlDeviceGetMemoryInfo_v2".to_owned();
    world.fail.insert(call, fakenvml::ARGUMENT_VERSION_MISMATCH);
    check(&FakeDriver::new(world));
}

#[test]
fn the_first_535_drivers_are_asked_what_they_answer_rightly() {
    for driver in ["535.43.02", "535.54.03", "535.86.10", "535.98", "535.309.01", "470.256.02"] {
        check(&FakeDriver::new(World { driver: driver.to_owned(), ..world() }));
    }
}

#[test]
fn a_needed_function_that_is_missing_is_named() {
    let driver = FakeDriver::without(&["nvmlDeviceGetUUID"], world());
    let error = Nvml::load(Some(&driver.library())).unwrap_err();
    assert!(matches!(error, ProbeError::Function { function: "nvmlDeviceGetUUID", .. }), "{error}");
}

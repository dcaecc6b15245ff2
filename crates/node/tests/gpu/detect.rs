//! Which probe is chosen.

use crate::fake_driver::FakeDriver;
use danlu_node::gpu::{Probe, ProbeConfig, ProbeError, ProbeKind};
use fakenvml::World;
use std::fs;
use std::path::Path;

fn config(directory: &Path) -> ProbeConfig {
    ProbeConfig {
        nvml: Some(directory.join("no-library")),
        smi: directory.join("no-program"),
        sysfs: directory.to_owned(),
        proc: directory.to_owned(),
        ..ProbeConfig::default()
    }
}

#[test]
fn a_machine_without_gpus_says_what_was_tried() {
    let directory = tempfile::tempdir().unwrap();
    let error = Probe::detect(&config(directory.path())).unwrap_err();
    assert!(matches!(&error, ProbeError::NoGpu { reasons } if reasons.len() == 3), "{error}");
    for tried in ["no-library", "no-program", "class/drm"] {
        assert!(error.to_string().contains(tried), "{error}");
    }
}

#[test]
fn nvml_is_chosen_where_it_knows_gpus() {
    let directory = tempfile::tempdir().unwrap();
    let driver = FakeDriver::new(World::of(1));
    let config = ProbeConfig { nvml: Some(driver.library()), ..config(directory.path()) };
    assert_eq!(Probe::detect(&config).unwrap().kind(), ProbeKind::Nvml);
}

#[test]
fn a_driver_that_is_not_loaded_yet_is_waited_for_if_there_is_a_card() {
    let directory = tempfile::tempdir().unwrap();
    let mut driver = FakeDriver::new(World::of(1));
    driver.change(|world| {
        world.fail.insert("nvmlInit_v2".to_owned(), fakenvml::DRIVER_NOT_LOADED);
    });
    let config = ProbeConfig { nvml: Some(driver.library()), ..config(directory.path()) };
    let error = Probe::detect(&config).unwrap_err();
    assert!(error.to_string().contains("the NVIDIA driver is not loaded"), "{error}");
    let card = directory.path().join("bus/pci/devices/0000:01:00.0");
    fs::create_dir_all(&card).unwrap();
    fs::write(card.join("vendor"), "0x10de\n").unwrap();
    fs::write(card.join("class"), "0x030200\n").unwrap();
    let mut probe = Probe::detect(&config).unwrap();
    assert!(probe.sample().is_err());
    driver.change(|world| world.fail.clear());
    assert_eq!(probe.sample().unwrap().unwrap().gpus.len(), 1);
}

#[test]
fn simulated_gpus_are_chosen_only_on_request() {
    let probe = Probe::detect(&ProbeConfig::simulated(2, None)).unwrap();
    assert_eq!(probe.kind(), ProbeKind::Sim);
}

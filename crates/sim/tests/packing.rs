//! How full a cluster gets, on the public workload where it is there.

use danlu_core::settings::PlacementRule;
use danlu_sim::packing::{Filled, Machine, Pod, fill, read_machines, read_pods};
use std::path::{Path, PathBuf};

fn traces() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("DANLU_TRACES").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: no traces in {} (set DANLU_TRACES)", folder.display());
        return None;
    }
    Some(folder)
}

fn pod(gpus: u32, gpu_milli: u32) -> Pod {
    Pod { gpus, gpu_milli, cpu_milli: 0, memory_mib: 0, model: None }
}

fn machines(count: usize, gpus: u32) -> Vec<Machine> {
    let machine = Machine { cpu_milli: 1000, memory_mib: 1000, gpus, model: "A".to_owned() };
    vec![machine; count]
}

#[test]
fn tasks_that_fit_exactly_fill_everything() {
    let filled = fill(&[pod(1, 500)], &machines(3, 4), PlacementRule::Frag, 130, 1);
    let Filled { at_100, at_end, tasks, unplaced, .. } = filled.expect("it runs");
    assert_eq!((at_100, at_end, tasks, unplaced), (100.0, 100.0, 32, 8));
}

#[test]
fn the_same_seed_gives_the_same() {
    let pods = [pod(1, 300), pod(1, 1000), pod(2, 1000)];
    let run = || fill(&pods, &machines(5, 4), PlacementRule::Frag, 130, 7).expect("it runs");
    assert_eq!(run(), run());
}

/// Two seeds here; ten are run by `danlu sim --workload openb`.
#[test]
fn fragmentation_is_kept_low_on_a_public_workload() {
    let Some(folder) = traces() else { return };
    let pods = read_pods(&folder.join("openb_default.csv")).expect("the list of tasks");
    let machines = read_machines(&folder.join("openb_gpu_nodes.csv")).expect("the machines");
    let filled = fill(&pods, &machines, PlacementRule::Frag, 130, 0).expect("it runs");
    assert!(filled.at_end >= 95.0, "{filled:?}");
}

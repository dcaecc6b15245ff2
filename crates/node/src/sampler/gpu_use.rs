//! What each run uses of the GPUs that it holds, as far as that can be told: what is somebody else's is never counted.

use super::machine::mebibytes;
use super::run_use::MeasuredRun;
use crate::gpu::{GpuDetails, RunShare};
use danlu_core::{GpuId, RunId};
use danlu_wire::samples::{GpuLoad, GpuReading, RunGpuReading};

/// Who holds which GPUs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holding<'a> {
    pub(super) run: RunId,
    pub(super) gpus: &'a [GpuId],
}

impl<'a> Holding<'a> {
    pub(super) fn of(run: RunId, measured: &'a MeasuredRun) -> Holding<'a> {
        Holding { run, gpus: &measured.gpus }
    }
}

/// GPUs that could be read.
pub(super) fn of_gpus(gpus: &[GpuDetails]) -> Vec<GpuReading> {
    let read = gpus.iter().filter(|gpu| gpu.fault.is_none());
    let reading = |gpu: &GpuDetails| GpuReading {
        gpu: gpu.uuid.clone(),
        load: GpuLoad {
            utilization: gpu.utilization,
            memory: gpu.memory_used.map(mebibytes),
            power: gpu.power,
        },
        temperature: gpu.temperature,
    };
    read.map(reading).collect()
}

pub(super) fn of_run(
    of: Holding<'_>,
    all: &[Holding<'_>],
    gpus: &[GpuDetails],
    shares: &[RunShare],
) -> Vec<RunGpuReading> {
    let held = gpus.iter().filter(|gpu| of.gpus.contains(&gpu.uuid) && gpu.fault.is_none());
    held.map(|gpu| {
        let others_hold =
            all.iter().any(|other| other.run != of.run && other.gpus.contains(&gpu.uuid));
        let others_run = gpu.own.iter().any(|process| process.run != of.run);
        let alone = !others_hold && !others_run && gpu.foreign.is_empty();
        let share = shares.iter().find(|share| share.run == of.run && share.gpu == gpu.uuid);
        RunGpuReading { gpu: gpu.uuid.clone(), load: load(gpu, share, alone) }
    })
    .collect()
}

fn load(gpu: &GpuDetails, share: Option<&RunShare>, alone: bool) -> GpuLoad {
    let power = gpu.power.filter(|_| alone);
    let Some(share) = share else {
        // Without a process of its own it uses nothing, unless one of the others could be its own after all.
        let nothing = gpu.foreign.is_empty();
        let utilization = if alone { gpu.utilization } else { nothing.then_some(0) };
        return GpuLoad { utilization, memory: nothing.then_some(0), power };
    };
    let memory = share.memory.or(gpu.memory_used.filter(|_| alone));
    GpuLoad {
        utilization: share.utilization.or(gpu.utilization.filter(|_| alone)),
        memory: memory.map(mebibytes),
        power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{ForeignDetails, Health, OwnProcess, Vendor};

    fn run(number: u64) -> RunId {
        RunId { number, ..RunId::FIRST }
    }

    fn card(own: &[u64], foreign: bool) -> GpuDetails {
        let process = |run_: &u64| OwnProcess { run: run(*run_), pid: 100, memory: None };
        let stranger = ForeignDetails {
            pid: 7,
            user: "eve".into(),
            command: String::new(),
            memory: None,
            container: None,
            stopped: false,
        };
        GpuDetails {
            uuid: "GPU-0".into(),
            index: 0,
            pci_bus_id: String::new(),
            vendor: Vendor::Nvidia,
            model: String::new(),
            memory_total: 24 << 30,
            memory_used: Some(8 << 30),
            used_above_baseline: None,
            utilization: Some(80),
            utilization_history: Vec::new(),
            temperature: Some(60),
            power: Some(250),
            foreign: if foreign { vec![stranger] } else { Vec::new() },
            own: own.iter().map(process).collect(),
            health: Health::default(),
            mig: None,
            neighbours: Vec::new(),
            lost: false,
            fault: None,
        }
    }

    fn share(run_: u64, memory: Option<u64>, utilization: Option<u8>) -> RunShare {
        RunShare { run: run(run_), gpu: "GPU-0".into(), memory, utilization }
    }

    /// Utilisation, memory and power that run 1 is said to use, when the runs in `holders` hold the card.
    fn seen(
        card: &GpuDetails,
        shares: &[RunShare],
        holders: &[u64],
    ) -> (Option<u8>, Option<u32>, Option<u32>) {
        let gpus = [GpuId::from("GPU-0")];
        let all: Vec<Holding<'_>> =
            holders.iter().map(|it| Holding { run: run(*it), gpus: &gpus }).collect();
        let told = of_run(all[0], &all, std::slice::from_ref(card), shares);
        let GpuLoad { utilization, memory, power } = told[0].load;
        (utilization, memory, power)
    }

    #[test]
    fn alone_on_a_card_it_uses_what_the_card_is_used() {
        let shares = [share(1, Some(4 << 30), None)];
        assert_eq!(seen(&card(&[1], false), &shares, &[1]), (Some(80), Some(4096), Some(250)));
        // A driver that does not tell the memory of a process.
        let shares = [share(1, None, None)];
        assert_eq!(seen(&card(&[1], false), &shares, &[1]), (Some(80), Some(8192), Some(250)));
    }

    #[test]
    fn what_others_use_is_not_its_own() {
        let shares = [share(1, Some(1 << 30), None), share(2, Some(2 << 30), None)];
        assert_eq!(seen(&card(&[1, 2], false), &shares, &[1, 2]), (None, Some(1024), None));
        let shares = [share(1, Some(1 << 30), Some(30)), share(2, Some(2 << 30), Some(50))];
        assert_eq!(seen(&card(&[1, 2], false), &shares, &[1, 2]), (Some(30), Some(1024), None));
        // Only the other run has a process there.
        let shares = [share(2, Some(2 << 30), Some(50))];
        assert_eq!(seen(&card(&[2], false), &shares, &[1, 2]), (Some(0), Some(0), None));
        // A stranger is there, who may be in a container of the run.
        assert_eq!(seen(&card(&[], true), &[], &[1]), (None, None, None));
    }

    #[test]
    fn a_card_that_cannot_be_read_tells_nothing() {
        let broken = GpuDetails { fault: Some("it is gone".into()), ..card(&[1], false) };
        assert!(of_gpus(std::slice::from_ref(&broken)).is_empty());
        let gpus = [GpuId::from("GPU-0")];
        let me = Holding { run: run(1), gpus: &gpus };
        assert!(of_run(me, &[me], &[broken], &[]).is_empty());
    }
}

//! Samples of machines whose agents do not measure: from what they tell anyway, every ten seconds.

use danlu_wire::agent::Facts;
use danlu_wire::gpu::GpuDetails;
use danlu_wire::samples::{GpuLoad, GpuReading, MachineReading, Samples};

pub(super) fn samples(before: Option<&Facts>, now: &Facts, gpus: &[GpuDetails]) -> Samples {
    let mebibytes = |bytes: u64| u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
    let rate = |of: fn(&Facts) -> u64| {
        let before = before?;
        let elapsed = u64::try_from(now.now.0 - before.now.0).ok().filter(|it| *it > 0)?;
        let bytes = of(now).checked_sub(of(before))?;
        u32::try_from(bytes.saturating_mul(1_000) / elapsed / 1_024).ok()
    };
    let disk_used = now.disk_total.zip(now.disk_free).map(|(all, free)| all.saturating_sub(free));
    let machine = MachineReading {
        memory_used: now.memory_used.map(mebibytes),
        load: Some(now.load),
        disk_used: disk_used.map(mebibytes),
        disk_total: now.disk_total.map(mebibytes),
        received: rate(|facts| facts.received),
        sent: rate(|facts| facts.sent),
        ..MachineReading::default()
    };
    let gpu = |gpu: &GpuDetails| GpuReading {
        gpu: gpu.uuid.clone(),
        load: GpuLoad {
            utilization: gpu.utilization,
            memory: gpu.memory_used.map(mebibytes),
            power: gpu.power,
        },
        temperature: gpu.temperature,
    };
    let gpus = gpus.iter().filter(|gpu| gpu.fault.is_none()).map(gpu).collect();
    Samples { at: now.now, machine: Some(machine), gpus, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::Time;

    #[test]
    fn traffic_is_the_difference_of_two_moments() {
        let facts = |second: i64, received| Facts {
            now: Time(second * 1_000),
            received,
            memory_used: Some(3 << 30),
            disk_total: Some(9 << 30),
            disk_free: Some(4 << 30),
            ..Facts::default()
        };
        let machine = |before: Option<&Facts>, now: &Facts| {
            samples(before, now, &[]).machine.unwrap_or_default()
        };
        let (first, second) = (facts(100, 5 << 20), facts(110, 15 << 20));
        assert_eq!(machine(None, &first).received, None);
        let told = machine(Some(&first), &second);
        assert_eq!(
            (told.received, told.memory_used, told.disk_used),
            (Some(1024), Some(3072), Some(5120))
        );
        assert_eq!(machine(Some(&second), &first).received, None, "the machine was booted anew");
    }
}

//! Parses the output of `nvidia-smi` into samples.

use crate::gpu::error::ProbeError;
use crate::gpu::pci::PciAddress;
use crate::gpu::sample::{GpuFacts, GpuProcess, Health, Live, ProcessKind, Vendor};
use danlu_core::ids::GpuId;

const MEBIBYTE: u64 = 1 << 20;
/// How much of an unexpected line is quoted.
const QUOTE: usize = 120;
const MOST_LINES: usize = 16_384;

/// The fields of the query. The name comes last, because it may contain commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    All,
    /// What drivers before MIG know.
    Old,
}

impl Fields {
    pub(super) fn argument(self) -> &'static str {
        match self {
            Fields::All => {
                "--query-gpu=uuid,pci.bus_id,memory.total,memory.used,utilization.gpu,temperature.gpu,\
                 power.draw,ecc.errors.uncorrected.volatile.total,mig.mode.current,name"
            }
            Fields::Old => {
                "--query-gpu=uuid,pci.bus_id,memory.total,memory.used,utilization.gpu,temperature.gpu,\
                 power.draw,ecc.errors.uncorrected.volatile.total,name"
            }
        }
    }

    fn count(self) -> usize {
        self.argument().split(',').count()
    }
}

pub(super) const PROCESSES: &str = "--query-compute-apps=gpu_uuid,pid,used_memory";
pub(super) const FORMAT: &str = "--format=csv,noheader,nounits";

#[derive(Debug)]
pub(super) struct Line {
    pub(super) facts: GpuFacts,
    pub(super) live: Result<Live, ProbeError>,
}

/// The GPUs of an answer, and the lines that are none.
pub(super) fn read_gpus(
    answer: &str,
    fields: Fields,
    command: &str,
) -> (Vec<Line>, Vec<(String, ProbeError)>) {
    let mut gpus = Vec::new();
    let mut strange = Vec::new();
    for line in lines(answer) {
        match read_gpu(line, fields, command) {
            Some(gpu) => gpus.push(gpu),
            None => strange.push(("a GPU".to_owned(), unexpected(command, line))),
        }
    }
    (gpus, strange)
}

fn read_gpu(line: &str, fields: Fields, command: &str) -> Option<Line> {
    let values: Vec<&str> = line.splitn(fields.count(), ',').map(str::trim).collect();
    let [uuid, bus, total, used, utilization, temperature, power, ecc, rest @ ..] = &values[..]
    else {
        return None;
    };
    let (mig, name) = match rest {
        [name] => ("", name),
        [mig, name] => (*mig, name),
        _ => return None,
    };
    if !uuid.starts_with("GPU-") {
        return None;
    }
    let pci: PciAddress = bus.parse().ok()?;
    let memory = |text: &&str| Some(text.parse::<u64>().ok()? * MEBIBYTE);
    let live = match memory(used) {
        _ if mig.eq_ignore_ascii_case("enabled") => {
            Err(ProbeError::Processes("MIG instances need NVML".to_owned()))
        }
        None => Err(unexpected(command, &format!("memory in use: {used}"))),
        Some(memory_used) => Ok(Live {
            memory_used,
            utilization: utilization.parse::<u8>().ok().map(|percent| percent.min(100)),
            temperature: temperature.parse().ok(),
            power: power.parse().ok(),
            processes: Vec::new(),
            health: Health { uncorrected_ecc: ecc.parse().ok(), ..Health::default() },
        }),
    };
    let facts = GpuFacts {
        id: GpuId::from(*uuid),
        pci,
        vendor: Vendor::Nvidia,
        model: (*name).to_owned(),
        // A lost GPU does not tell; what it told before is used then.
        memory_total: memory(total).unwrap_or(0),
        mig: None,
        neighbours: Vec::new(),
    };
    Some(Line { facts, live })
}

/// Gives each GPU its processes. A GPU whose processes cannot be told is not known to be free.
pub(super) fn add_processes(gpus: &mut [Line], answer: &str, command: &str) {
    for line in lines(answer) {
        if line.to_ascii_lowercase().contains("no running processes") {
            continue;
        }
        let mut values = line.splitn(3, ',').map(str::trim);
        let (uuid, pid) = (values.next().unwrap_or_default(), values.next().unwrap_or_default());
        let memory = values.next().unwrap_or_default().parse::<u64>().ok();
        let known = gpus.iter().any(|gpu| &*gpu.facts.id.0 == uuid);
        let concerned = gpus.iter_mut().filter(|gpu| !known || &*gpu.facts.id.0 == uuid);
        for Line { live, .. } in concerned {
            match (&mut *live, pid.parse::<u32>()) {
                (Ok(told), Ok(pid)) if known => told.processes.push(GpuProcess {
                    pid,
                    memory: memory.map(|mebibytes| mebibytes * MEBIBYTE),
                    kind: ProcessKind::Compute,
                    told: None,
                    utilization: None,
                }),
                // A part of a divided GPU: that GPU is not given out anyway.
                _ if uuid.starts_with("MIG-") => {}
                (Ok(_), _) => *live = Err(ProbeError::Processes(quote(line, command))),
                (Err(_), _) => {}
            }
        }
    }
}

/// The driver is older than the question.
pub(super) fn is_unknown_field(error: &ProbeError) -> bool {
    match error {
        ProbeError::CommandFailed { output, .. } => output.contains("not a valid field"),
        ProbeError::Answer { what, .. } => what.contains("not a valid field"),
        ProbeError::Library { .. }
        | ProbeError::Function { .. }
        | ProbeError::Nvml { .. }
        | ProbeError::Command { .. }
        | ProbeError::NoAnswer { .. }
        | ProbeError::File { .. }
        | ProbeError::Script { .. }
        | ProbeError::Simulated(_)
        | ProbeError::Processes(_)
        | ProbeError::EmptyMig
        | ProbeError::NoGpu { .. } => false,
    }
}

fn lines(answer: &str) -> impl Iterator<Item = &str> {
    answer.lines().map(str::trim).filter(|line| !line.is_empty()).take(MOST_LINES)
}

fn unexpected(command: &str, what: &str) -> ProbeError {
    ProbeError::Answer { command: command.to_owned(), what: what.chars().take(QUOTE).collect() }
}

fn quote(line: &str, command: &str) -> String {
    format!("{command} says `{}`", line.chars().take(QUOTE).collect::<String>())
}

//! Safe functions around NVML, one for each query.
#![allow(unsafe_code, reason = "NVML is a C library")]

use super::abi::{
    EventData, EventSet, Handle, Memory, MemoryV2, PciInfo, ProcessUtilization, Utilization,
};
use super::code;
use super::library::{NvmlLibrary, ProcessList, Versions};
use super::process_use::ProcessSample;
use crate::gpu::error::ProbeError;
use crate::gpu::pci::PciAddress;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong};

/// Longer than every text that NVML promises.
const TEXT: usize = 128;
const FIRST_PROCESSES: usize = 64;
const MOST_PROCESSES: usize = 8192;
/// In words: what the first 535 drivers fill in.
const LONGEST_ENTRY: usize = 4;
const NOT_AVAILABLE: c_ulonglong = c_ulonglong::MAX;
const ON_THE_GPU: c_uint = 0;
const UNCORRECTED: c_uint = 1;
const SINCE_DRIVER_LOAD: c_uint = 0;
const NVLINK: c_uint = 2;
const P2P_WORKS: c_uint = 0;
const XID: c_ulonglong = 8;

type NvmlResult<T> = Result<T, ProbeError>;

pub(super) struct MemoryUse {
    pub(super) total: u64,
    pub(super) used: u64,
}

pub(super) struct Remapped {
    pub(super) pending: bool,
    pub(super) failed: bool,
}

impl NvmlLibrary {
    pub(super) fn begin(&self) -> NvmlResult<()> {
        // SAFETY: may be called at any time; each success is matched by one `end`.
        self.init.call(|init| unsafe { init() })
    }

    pub(super) fn end(&self) {
        // SAFETY: follows a successful `begin`; no handle is used after it. A failure leaves nothing to do.
        let _ = self.shutdown.call(|shutdown| unsafe { shutdown() });
    }

    pub(super) fn driver(&self) -> NvmlResult<String> {
        text(|buffer, length| {
            // SAFETY: the buffer has room for `length` bytes.
            self.driver_version.call(|version| unsafe { version(buffer, length) })
        })
    }

    pub(super) fn gpu_count(&self) -> NvmlResult<u32> {
        // SAFETY: `to` can be written.
        value(&self.count, |count, to| unsafe { count(to) })
    }

    pub(super) fn handle(&self, index: u32) -> NvmlResult<Handle> {
        // SAFETY: `to` can be written; NVML checks the index.
        value(&self.handle_by_index, |by_index, to| unsafe { by_index(index, to) })
    }

    pub(super) fn gpu_uuid(&self, gpu: Handle) -> NvmlResult<String> {
        text(|buffer, length| {
            // SAFETY: `gpu` is of this session, and the buffer has room for `length` bytes.
            self.uuid.call(|uuid| unsafe { uuid(gpu, buffer, length) })
        })
    }

    pub(super) fn gpu_name(&self, gpu: Handle) -> NvmlResult<String> {
        text(|buffer, length| {
            // SAFETY: `gpu` is of this session, and the buffer has room for `length` bytes.
            self.name.call(|name| unsafe { name(gpu, buffer, length) })
        })
    }

    pub(super) fn pci(&self, gpu: Handle) -> NvmlResult<PciAddress> {
        // SAFETY: `gpu` is of this session; `to` is as long as the longest version.
        let info: PciInfo = value(&self.pci_info, |pci_info, to| unsafe { pci_info(gpu, to) })?;
        Ok(PciAddress {
            domain: info.domain,
            bus: (info.bus & 0xff) as u8,
            device: (info.device & 0xff) as u8,
            function: 0,
        })
    }

    pub(super) fn memory_use(&self, gpu: Handle) -> NvmlResult<MemoryUse> {
        // SAFETY: `gpu` is of this session; `to` can be written and says its version.
        match value::<_, MemoryV2>(&self.memory_v2, |memory, to| unsafe { memory(gpu, to) }) {
            Ok(memory) => return Ok(MemoryUse { total: memory.total, used: memory.used }),
            Err(ProbeError::Nvml { code, .. }) if code::is_absent(code) => {}
            Err(error) => return Err(error),
        }
        // SAFETY: `gpu` is of this session; `to` can be written.
        let memory: Memory = value(&self.memory, |memory, to| unsafe { memory(gpu, to) })?;
        Ok(MemoryUse { total: memory.total, used: memory.used })
    }

    pub(super) fn utilization_now(&self, gpu: Handle) -> NvmlResult<u8> {
        // SAFETY: `gpu` is of this session; `to` can be written.
        let rates: Utilization = value(&self.utilization, |rates, to| unsafe { rates(gpu, to) })?;
        Ok(rates.gpu.min(100) as u8)
    }

    pub(super) fn temperature_now(&self, gpu: Handle) -> NvmlResult<i32> {
        let degrees: c_uint = value(&self.temperature, |temperature, to| {
            // SAFETY: `gpu` is of this session; `to` can be written.
            unsafe { temperature(gpu, ON_THE_GPU, to) }
        })?;
        // A negative temperature arrives as a large number.
        Ok(degrees.cast_signed())
    }

    /// Watts.
    pub(super) fn power_now(&self, gpu: Handle) -> NvmlResult<f32> {
        // SAFETY: `gpu` is of this session; `to` can be written.
        let milliwatts: c_uint = value(&self.power, |power, to| unsafe { power(gpu, to) })?;
        Ok(milliwatts as f32 / 1000.0)
    }

    /// Pids with the memory that they use, where the driver tells.
    pub(super) fn computing(&self, gpu: Handle) -> NvmlResult<Vec<(u32, Option<u64>)>> {
        processes(&self.compute_processes, gpu)
    }

    pub(super) fn drawing(&self, gpu: Handle) -> NvmlResult<Vec<(u32, Option<u64>)>> {
        processes(&self.graphics_processes, gpu)
    }

    /// What processes have used since the sample at `since`. Empty where there is nothing new.
    pub(super) fn use_by_process(&self, gpu: Handle, since: u64) -> NvmlResult<Vec<ProcessSample>> {
        let mut room = FIRST_PROCESSES;
        loop {
            let mut samples = vec![ProcessUtilization::default(); room];
            let mut count = 0;
            let asked = self.process_utilization.call(|list| {
                count = room as c_uint;
                // SAFETY: `gpu` is of this session, and there is room for `count` samples.
                unsafe { list(gpu, samples.as_mut_ptr(), &raw mut count, since) }
            });
            match asked {
                Ok(()) => {
                    let read = |one: &ProcessUtilization| ProcessSample {
                        pid: one.pid,
                        at: one.timestamp,
                        busy: one.compute,
                    };
                    return Ok(samples.iter().take(count as usize).map(read).collect());
                }
                Err(ProbeError::Nvml { code: code::NOT_FOUND, .. }) => return Ok(Vec::new()),
                Err(ProbeError::Nvml { code: code::INSUFFICIENT_SIZE, .. })
                    if room < MOST_PROCESSES =>
                {
                    room = (count as usize + 16).max(room * 2).min(MOST_PROCESSES);
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn is_divided(&self, gpu: Handle) -> NvmlResult<bool> {
        let mut pending: c_uint = 0;
        let current: c_uint = value(&self.mig_mode, |mode, to| {
            // SAFETY: `gpu` is of this session; both can be written.
            unsafe { mode(gpu, to, &raw mut pending) }
        })?;
        Ok(current == 1)
    }

    pub(super) fn most_parts(&self, gpu: Handle) -> NvmlResult<u32> {
        // SAFETY: `gpu` is of this session; `to` can be written.
        value(&self.mig_count, |count, to| unsafe { count(gpu, to) })
    }

    /// `None`: there is no part of that number.
    pub(super) fn part(&self, gpu: Handle, index: u32) -> NvmlResult<Option<Handle>> {
        // SAFETY: `gpu` is of this session; `to` can be written; NVML checks the index.
        match value(&self.mig_by_index, |by_index, to| unsafe { by_index(gpu, index, to) }) {
            Ok(part) => Ok(Some(part)),
            Err(ProbeError::Nvml { code: code::NOT_FOUND, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn instances(&self, part: Handle) -> NvmlResult<(u32, u32)> {
        // SAFETY: `part` is of this session; `to` can be written.
        let gpu = value(&self.gpu_instance, |instance, to| unsafe { instance(part, to) })?;
        // SAFETY: as above.
        let compute = value(&self.compute_instance, |instance, to| unsafe { instance(part, to) })?;
        Ok((gpu, compute))
    }

    pub(super) fn uncorrected_ecc(&self, gpu: Handle) -> NvmlResult<u64> {
        value(&self.ecc_errors, |errors, to| {
            // SAFETY: `gpu` is of this session; `to` can be written.
            unsafe { errors(gpu, UNCORRECTED, SINCE_DRIVER_LOAD, to) }
        })
    }

    pub(super) fn remapped(&self, gpu: Handle) -> NvmlResult<Remapped> {
        let [mut corrected, mut uncorrected, mut pending]: [c_uint; 3] = [0; 3];
        let failed: c_uint = value(&self.remapped_rows, |rows, to| {
            let (corrected, uncorrected) = (&raw mut corrected, &raw mut uncorrected);
            // SAFETY: `gpu` is of this session; all four can be written.
            unsafe { rows(gpu, corrected, uncorrected, &raw mut pending, to) }
        })?;
        Ok(Remapped { pending: pending != 0, failed: failed != 0 })
    }

    pub(super) fn are_linked(&self, one: Handle, other: Handle) -> NvmlResult<bool> {
        let status: c_uint = value(&self.p2p_status, |status, to| {
            // SAFETY: both handles are of this session; `to` can be written.
            unsafe { status(one, other, NVLINK, to) }
        })?;
        Ok(status == P2P_WORKS)
    }

    pub(super) fn new_event_set(&self) -> NvmlResult<EventSet> {
        // SAFETY: `to` can be written.
        value(&self.events.create, |create, to| unsafe { create(to) })
    }

    pub(super) fn free_event_set(&self, set: EventSet) {
        // SAFETY: `set` is of this session and is not used again. A failure leaves nothing to do.
        let _ = self.events.free.call(|free| unsafe { free(set) });
    }

    pub(super) fn watch_xids(&self, set: EventSet, gpu: Handle) -> NvmlResult<()> {
        // SAFETY: `set` and `gpu` are of this session.
        self.events.register.call(|register| unsafe { register(gpu, XID, set) })
    }

    /// The next Xid that has not been told yet; never waits.
    pub(super) fn next_xid(&self, set: EventSet) -> Option<(Handle, u64)> {
        // SAFETY: `set` is of this session; `to` can be written.
        let event: NvmlResult<EventData> =
            value(&self.events.wait, |wait, to| unsafe { wait(set, to, 0) });
        event.ok().filter(|event| event.kind == XID).map(|event| (event.device, event.data))
    }
}

fn value<F: Copy, T: Default>(
    function: &Versions<F>,
    mut fill: impl FnMut(F, *mut T) -> c_int,
) -> NvmlResult<T> {
    let mut filled = T::default();
    function.call(|function| fill(function, &raw mut filled))?;
    Ok(filled)
}

fn text(fill: impl FnOnce(*mut c_char, c_uint) -> NvmlResult<()>) -> NvmlResult<String> {
    let mut buffer = [0_u8; TEXT];
    // One byte less than the buffer has, so that it always ends in a zero.
    fill(buffer.as_mut_ptr().cast(), (TEXT - 1) as c_uint)?;
    let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

/// Asks with more and more room until the list fits.
fn processes(function: &Versions<ProcessList>, gpu: Handle) -> NvmlResult<Vec<(u32, Option<u64>)>> {
    let mut room = FIRST_PROCESSES;
    loop {
        let mut buffer = vec![0_u64; room * LONGEST_ENTRY];
        let (mut count, mut words) = (0, 0);
        let asked = function.call(|list| {
            (count, words) = (room as c_uint, list.words);
            // SAFETY: `gpu` is of this session, and the buffer has room for `count` of the longest entries.
            unsafe { (list.function)(gpu, &raw mut count, buffer.as_mut_ptr()) }
        });
        match asked {
            Ok(()) => {
                return Ok(buffer.chunks_exact(words).take(count as usize).map(entry).collect());
            }
            Err(ProbeError::Nvml { code: code::INSUFFICIENT_SIZE, .. })
                if room < MOST_PROCESSES =>
            {
                // Some may start between the two questions.
                room = (count as usize + 16).max(room * 2).min(MOST_PROCESSES);
            }
            Err(error) => return Err(error),
        }
    }
}

/// In every layout an entry begins with the pid, a gap and the memory.
fn entry(words: &[u64]) -> (u32, Option<u64>) {
    let [a, b, c, d, ..] = words[0].to_ne_bytes();
    let memory = words[1];
    (u32::from_ne_bytes([a, b, c, d]), (memory != NOT_AVAILABLE).then_some(memory))
}

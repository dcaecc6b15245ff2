//! The functions of NVML that Danlu calls, under their C names.
#![allow(unsafe_code, reason = "this is the C interface of NVML")]

use crate::code::{
    ARGUMENT_VERSION_MISMATCH, INSUFFICIENT_SIZE, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED,
    SUCCESS, TIMEOUT, UNKNOWN,
};
use crate::source::{self, Device, Fake, call};
use crate::world::{FakeGpu, FakeProcess};
use std::ffi::{c_char, c_int, c_uint, c_ulonglong};
use std::time::{SystemTime, UNIX_EPOCH};

type Handle = usize;

const NOT_AVAILABLE: c_ulonglong = c_ulonglong::MAX;
const NO_INSTANCE: c_uint = c_uint::MAX;
const XID_EVENT: c_ulonglong = 8;
const UNCORRECTED: c_uint = 1;
const NVLINK: c_uint = 2;

#[repr(C)]
#[derive(Debug)]
pub(crate) struct PciInfo {
    start: PciInfoV2,
    text: [c_char; 32],
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct PciInfoV2 {
    legacy: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct MemoryV2 {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

#[repr(C)]
#[derive(Debug)]
pub(crate) struct EventData {
    device: Handle,
    kind: c_ulonglong,
    data: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct ProcessUtilization {
    pid: c_uint,
    timestamp: c_ulonglong,
    compute: c_uint,
    memory: c_uint,
    encoder: c_uint,
    decoder: c_uint,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlInit_v2() -> c_int {
    source::begin_session("nvmlInit_v2")
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlInit() -> c_int {
    source::begin_session("nvmlInit")
}

/// Danlu does not call it; other programs that are to see the same GPUs do.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> c_int {
    source::begin_session("nvmlInitWithFlags")
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlShutdown() -> c_int {
    source::end_session()
}

/// Not of NVML: how often a session was begun.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn fakenvmlInitialisations() -> c_uint {
    source::initialisations()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetDriverVersion(
    text: *mut c_char,
    length: c_uint,
) -> c_int {
    call("nvmlSystemGetDriverVersion", |fake| write_text(text, length, &fake.world().driver))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> c_int {
    call("nvmlDeviceGetCount_v2", |fake| write(count, fake.world().gpus.len() as c_uint))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCount(count: *mut c_uint) -> c_int {
    call("nvmlDeviceGetCount", |fake| write(count, fake.world().gpus.len() as c_uint))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(
    index: c_uint,
    to: *mut Handle,
) -> c_int {
    call("nvmlDeviceGetHandleByIndex_v2", |fake| handle_by_index(fake, index, to))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByIndex(
    index: c_uint,
    to: *mut Handle,
) -> c_int {
    call("nvmlDeviceGetHandleByIndex", |fake| handle_by_index(fake, index, to))
}

fn handle_by_index(fake: &mut Fake, index: c_uint, to: *mut Handle) -> c_int {
    let Some(gpu) = fake.world().gpus.get(index as usize) else { return INVALID_ARGUMENT };
    if gpu.unreachable {
        return gpu.error;
    }
    let uuid = gpu.uuid.clone();
    write(to, fake.handle(&uuid))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetUUID(
    device: Handle,
    text: *mut c_char,
    length: c_uint,
) -> c_int {
    on_device("nvmlDeviceGetUUID", device, |device| match device {
        Device::Whole(gpu) => write_text(text, length, &gpu.uuid),
        Device::Part(part) => write_text(text, length, &part.uuid),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetName(
    device: Handle,
    text: *mut c_char,
    length: c_uint,
) -> c_int {
    on_device("nvmlDeviceGetName", device, |device| match device {
        Device::Whole(gpu) => write_text(text, length, &gpu.name),
        Device::Part(part) => write_text(text, length, &part.name),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: Handle, to: *mut PciInfo) -> c_int {
    on_gpu("nvmlDeviceGetPciInfo_v3", device, |gpu| match pci(&gpu.bus) {
        Some(info) => write(to, info),
        None => UNKNOWN,
    })
}

/// Before version 3 the struct ended before `text`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetPciInfo_v2(
    device: Handle,
    to: *mut PciInfoV2,
) -> c_int {
    on_gpu("nvmlDeviceGetPciInfo_v2", device, |gpu| match pci(&gpu.bus) {
        Some(info) => write(to, info.start),
        None => UNKNOWN,
    })
}

fn pci(bus: &str) -> Option<PciInfo> {
    let mut numbers = bus.split([':', '.']).map(|part| u32::from_str_radix(part, 16).ok());
    let mut next = || numbers.next().flatten();
    let (domain, bus, device) = (next()?, next()?, next()?);
    let start = PciInfoV2 { legacy: [0; 16], domain, bus, device, device_id: 0, subsystem_id: 0 };
    Some(PciInfo { start, text: [0; 32] })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMemoryInfo(device: Handle, to: *mut Memory) -> c_int {
    on_device("nvmlDeviceGetMemoryInfo", device, |device| {
        let (total, used) = match device {
            Device::Whole(gpu) => (gpu.memory, gpu.used + gpu.reserved),
            Device::Part(part) => (part.memory, part.used),
        };
        write(to, Memory { total, free: total - used, used })
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(
    device: Handle,
    to: *mut MemoryV2,
) -> c_int {
    on_device("nvmlDeviceGetMemoryInfo_v2", device, |device| {
        let wanted = size_of::<MemoryV2>() as c_uint | 2 << 24;
        // SAFETY: NVML's contract: null, or a struct whose version is filled in.
        if unsafe { to.as_ref() }.is_none_or(|to| to.version != wanted) {
            return ARGUMENT_VERSION_MISMATCH;
        }
        let (total, reserved, used) = match device {
            Device::Whole(gpu) => (gpu.memory, gpu.reserved, gpu.used),
            Device::Part(part) => (part.memory, 0, part.used),
        };
        let free = total - reserved - used;
        write(to, MemoryV2 { version: wanted, total, reserved, free, used })
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetUtilizationRates(
    device: Handle,
    to: *mut Utilization,
) -> c_int {
    on_gpu("nvmlDeviceGetUtilizationRates", device, |gpu| {
        write(to, Utilization { gpu: gpu.utilization, memory: 0 })
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetTemperature(
    device: Handle,
    _sensor: c_uint,
    to: *mut c_uint,
) -> c_int {
    on_gpu("nvmlDeviceGetTemperature", device, |gpu| write(to, gpu.temperature))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetPowerUsage(device: Handle, to: *mut c_uint) -> c_int {
    on_gpu("nvmlDeviceGetPowerUsage", device, |gpu| write(to, gpu.milliwatts))
}

/// As the driver's, with a sample of this moment for each process that has one.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetProcessUtilization(
    device: Handle,
    to: *mut ProcessUtilization,
    count: *mut c_uint,
    _since: c_ulonglong,
) -> c_int {
    on_gpu("nvmlDeviceGetProcessUtilization", device, |gpu| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let timestamp = now.as_micros() as c_ulonglong;
        let sample = |process: &FakeProcess| {
            let (pid, compute) = (process.pid, process.utilization?);
            Some(ProcessUtilization { pid, timestamp, compute, ..ProcessUtilization::default() })
        };
        let samples: Vec<ProcessUtilization> = gpu.compute.iter().filter_map(sample).collect();
        if samples.is_empty() {
            return NOT_FOUND;
        }
        // SAFETY: the caller passes a place for the count.
        let room = unsafe { *count };
        let code = write(count, samples.len() as c_uint);
        if to.is_null() || (room as usize) < samples.len() {
            return INSUFFICIENT_SIZE;
        }
        for (place, sample) in samples.into_iter().enumerate() {
            // SAFETY: the caller has room for as many as it says, which are at least these.
            unsafe { to.add(place).write(sample) };
        }
        code
    })
}

macro_rules! process_lists {
    ($($function:ident: $kind:ident, $version:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $function(
                device: Handle,
                count: *mut c_uint,
                to: *mut u8,
            ) -> c_int {
                let function = stringify!($function);
                call(function, |fake| match fake.device(function, device) {
                    Err(code) => code,
                    Ok(device) => {
                        list_processes(&device.$kind(), stride(fake, $version), count, to)
                    }
                })
            }
        )*
    };
}

process_lists! {
    nvmlDeviceGetComputeRunningProcesses: compute, 1;
    nvmlDeviceGetComputeRunningProcesses_v2: compute, 2;
    nvmlDeviceGetComputeRunningProcesses_v3: compute, 3;
    nvmlDeviceGetGraphicsRunningProcesses: graphics, 1;
    nvmlDeviceGetGraphicsRunningProcesses_v2: graphics, 2;
    nvmlDeviceGetGraphicsRunningProcesses_v3: graphics, 3;
}

/// Bytes of one entry. The first 535 drivers had longer ones in version 3.
fn stride(fake: &Fake, version: u32) -> usize {
    let early_535 = ["535.43", "535.54", "535.86"];
    match version {
        1 => 16,
        3 if early_535.iter().any(|early| fake.world().driver.starts_with(early)) => 32,
        _ => 24,
    }
}

type Listed = (FakeProcess, c_uint, c_uint);

impl Device<'_> {
    fn compute(&self) -> Vec<Listed> {
        match self {
            Device::Whole(gpu) => listed(&gpu.compute, NO_INSTANCE, NO_INSTANCE),
            Device::Part(part) => listed(&part.compute, part.gpu_instance, part.compute_instance),
        }
    }

    fn graphics(&self) -> Vec<Listed> {
        match self {
            Device::Whole(gpu) => listed(&gpu.graphics, NO_INSTANCE, NO_INSTANCE),
            Device::Part(_) => Vec::new(),
        }
    }
}

fn listed(processes: &[FakeProcess], gpu: c_uint, compute: c_uint) -> Vec<Listed> {
    processes.iter().map(|process| (process.clone(), gpu, compute)).collect()
}

fn list_processes(processes: &[Listed], stride: usize, count: *mut c_uint, to: *mut u8) -> c_int {
    // SAFETY: NVML's contract: `count` is null or can be read and written.
    let Some(count) = (unsafe { count.as_mut() }) else { return INVALID_ARGUMENT };
    let room = std::mem::replace(count, processes.len() as c_uint);
    if processes.is_empty() {
        return SUCCESS;
    }
    if to.is_null() || (room as usize) < processes.len() {
        return INSUFFICIENT_SIZE;
    }
    for (at, (process, gpu, compute)) in processes.iter().enumerate() {
        let mut entry = [0; 32];
        entry[0..4].copy_from_slice(&process.pid.to_ne_bytes());
        entry[8..16].copy_from_slice(&process.used.unwrap_or(NOT_AVAILABLE).to_ne_bytes());
        entry[16..20].copy_from_slice(&gpu.to_ne_bytes());
        entry[20..24].copy_from_slice(&compute.to_ne_bytes());
        // SAFETY: the caller says that there is room for `room` entries of this size, and at < room.
        unsafe { std::ptr::copy_nonoverlapping(entry.as_ptr(), to.add(at * stride), stride) };
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMigMode(
    device: Handle,
    current: *mut c_uint,
    pending: *mut c_uint,
) -> c_int {
    on_gpu("nvmlDeviceGetMigMode", device, |gpu| match &gpu.mig {
        None => NOT_SUPPORTED,
        Some(_) => write(current, 1).max(write(pending, 1)),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMaxMigDeviceCount(
    device: Handle,
    to: *mut c_uint,
) -> c_int {
    on_gpu("nvmlDeviceGetMaxMigDeviceCount", device, |_| write(to, 7))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMigDeviceHandleByIndex(
    device: Handle,
    index: c_uint,
    to: *mut Handle,
) -> c_int {
    let function = "nvmlDeviceGetMigDeviceHandleByIndex";
    call(function, |fake| {
        let uuid = match fake.device(function, device) {
            Err(code) => return code,
            Ok(Device::Part(_)) => return INVALID_ARGUMENT,
            Ok(Device::Whole(gpu)) => {
                let part = gpu.mig.iter().flatten().nth(index as usize);
                part.map(|part| part.uuid.clone())
            }
        };
        match uuid {
            None => NOT_FOUND,
            Some(uuid) => write(to, fake.handle(&uuid)),
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetGpuInstanceId(
    device: Handle,
    to: *mut c_uint,
) -> c_int {
    on_device("nvmlDeviceGetGpuInstanceId", device, |device| match device {
        Device::Whole(_) => NOT_SUPPORTED,
        Device::Part(part) => write(to, part.gpu_instance),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetComputeInstanceId(
    device: Handle,
    to: *mut c_uint,
) -> c_int {
    on_device("nvmlDeviceGetComputeInstanceId", device, |device| match device {
        Device::Whole(_) => NOT_SUPPORTED,
        Device::Part(part) => write(to, part.compute_instance),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    device: Handle,
    kind: c_uint,
    _counter: c_uint,
    to: *mut c_ulonglong,
) -> c_int {
    on_gpu("nvmlDeviceGetTotalEccErrors", device, |gpu| {
        write(to, if kind == UNCORRECTED { gpu.uncorrected_ecc } else { 0 })
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    device: Handle,
    corrected: *mut c_uint,
    uncorrected: *mut c_uint,
    pending: *mut c_uint,
    failed: *mut c_uint,
) -> c_int {
    on_gpu("nvmlDeviceGetRemappedRows", device, |gpu| {
        write(corrected, 0)
            .max(write(uncorrected, 0))
            .max(write(pending, c_uint::from(gpu.remap_pending)))
            .max(write(failed, c_uint::from(gpu.remap_failed)))
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetP2PStatus(
    one: Handle,
    other: Handle,
    capability: c_uint,
    to: *mut c_uint,
) -> c_int {
    let function = "nvmlDeviceGetP2PStatus";
    call(function, |fake| match (fake.device(function, one), fake.device(function, other)) {
        (Err(code), _) | (_, Err(code)) => code,
        (Ok(Device::Whole(one)), Ok(Device::Whole(other))) => {
            let linked = fake.world().nvlink.iter().any(|(a, b)| {
                (a == &one.uuid && b == &other.uuid) || (a == &other.uuid && b == &one.uuid)
            });
            write(to, if linked && capability == NVLINK { 0 } else { 4 })
        }
        _ => INVALID_ARGUMENT,
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlEventSetCreate(set: *mut usize) -> c_int {
    call("nvmlEventSetCreate", |_| write(set, 1))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlEventSetFree(_set: usize) -> c_int {
    call("nvmlEventSetFree", |_| SUCCESS)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceRegisterEvents(
    device: Handle,
    kinds: c_ulonglong,
    _set: usize,
) -> c_int {
    let function = "nvmlDeviceRegisterEvents";
    call(function, |fake| match fake.device(function, device) {
        Err(code) => code,
        Ok(_) if kinds & XID_EVENT == 0 => NOT_SUPPORTED,
        Ok(_) => {
            if fake.xids_told.iter().all(|(known, _)| *known != device) {
                fake.xids_told.push((device, 0));
            }
            SUCCESS
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlEventSetWait_v2(
    _set: usize,
    to: *mut EventData,
    _timeout: c_uint,
) -> c_int {
    call("nvmlEventSetWait_v2", |fake| {
        let registered = fake.xids_told.clone();
        for (at, (device, told)) in registered.into_iter().enumerate() {
            let Ok(Device::Whole(gpu)) = fake.device("", device) else { continue };
            let Some(xid) = gpu.xids.get(told).copied() else { continue };
            fake.xids_told[at].1 += 1;
            let (gpu_instance, compute_instance) = (NO_INSTANCE, NO_INSTANCE);
            let kind = XID_EVENT;
            return write(
                to,
                EventData { device, kind, data: xid, gpu_instance, compute_instance },
            );
        }
        TIMEOUT
    })
}

fn on_device(function: &str, handle: Handle, answer: impl FnOnce(Device<'_>) -> c_int) -> c_int {
    call(function, |fake| match fake.device(function, handle) {
        Ok(device) => answer(device),
        Err(code) => code,
    })
}

/// For what a part of a divided GPU does not support.
fn on_gpu(function: &str, handle: Handle, answer: impl FnOnce(&FakeGpu) -> c_int) -> c_int {
    on_device(function, handle, |device| match device {
        Device::Whole(gpu) => answer(gpu),
        Device::Part(_) => NOT_SUPPORTED,
    })
}

fn write<T>(to: *mut T, value: T) -> c_int {
    if to.is_null() {
        return INVALID_ARGUMENT;
    }
    // SAFETY: NVML's contract: a pointer that is not null can be written.
    unsafe { to.write(value) };
    SUCCESS
}

fn write_text(to: *mut c_char, length: c_uint, text: &str) -> c_int {
    if to.is_null() {
        return INVALID_ARGUMENT;
    }
    if text.len() >= length as usize {
        return INSUFFICIENT_SIZE;
    }
    // SAFETY: NVML's contract: `to` has room for `length` bytes, and the text with its end has no more.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), text.len());
        to.add(text.len()).write(0);
    }
    SUCCESS
}

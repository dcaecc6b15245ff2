//! The types of NVML's C interface that Danlu uses.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

/// NVML's opaque pointer to a GPU; valid in the session that gave it. A number, so that it may move between threads.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Handle(usize);

#[repr(transparent)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventSet(usize);

/// Version 3; earlier versions are its beginning.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct PciInfo {
    _legacy: [c_char; 16],
    pub(super) domain: c_uint,
    pub(super) bus: c_uint,
    pub(super) device: c_uint,
    _device_id: c_uint,
    _subsystem_id: c_uint,
    _text: [c_char; 32],
}

#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) total: c_ulonglong,
    pub(super) free: c_ulonglong,
    pub(super) used: c_ulonglong,
}

#[repr(C)]
#[derive(Debug)]
pub(super) struct MemoryV2 {
    version: c_uint,
    pub(super) total: c_ulonglong,
    pub(super) reserved: c_ulonglong,
    pub(super) free: c_ulonglong,
    pub(super) used: c_ulonglong,
}

impl Default for MemoryV2 {
    fn default() -> Self {
        let version = size_of::<MemoryV2>() as c_uint | 2 << 24;
        MemoryV2 { version, total: 0, reserved: 0, free: 0, used: 0 }
    }
}

#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Utilization {
    pub(super) gpu: c_uint,
    _memory: c_uint,
}

#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct EventData {
    pub(super) device: Handle,
    pub(super) kind: c_ulonglong,
    pub(super) data: c_ulonglong,
    _gpu_instance: c_uint,
    _compute_instance: c_uint,
}

/// One sample of the use of a GPU by one process.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProcessUtilization {
    pub(super) pid: c_uint,
    pub(super) timestamp: c_ulonglong,
    pub(super) compute: c_uint,
    _memory: c_uint,
    _encoder: c_uint,
    _decoder: c_uint,
}

pub(super) type Plain = unsafe extern "C" fn() -> c_int;
pub(super) type Text = unsafe extern "C" fn(*mut c_char, c_uint) -> c_int;
pub(super) type Count = unsafe extern "C" fn(*mut c_uint) -> c_int;
pub(super) type HandleByIndex = unsafe extern "C" fn(c_uint, *mut Handle) -> c_int;
pub(super) type GpuText = unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> c_int;
/// A function that fills in one value about a GPU.
pub(super) type Gpu<T> = unsafe extern "C" fn(Handle, *mut T) -> c_int;
pub(super) type Temperature = unsafe extern "C" fn(Handle, c_uint, *mut c_uint) -> c_int;
/// Fills in a list whose entries have 8-byte fields or pairs of 4-byte ones.
pub(super) type Processes = unsafe extern "C" fn(Handle, *mut c_uint, *mut u64) -> c_int;
/// Fills in samples that are newer than the last argument.
pub(super) type ProcessUtilizations =
    unsafe extern "C" fn(Handle, *mut ProcessUtilization, *mut c_uint, c_ulonglong) -> c_int;
pub(super) type MigMode = unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint) -> c_int;
pub(super) type MigByIndex = unsafe extern "C" fn(Handle, c_uint, *mut Handle) -> c_int;
pub(super) type EccErrors = unsafe extern "C" fn(Handle, c_uint, c_uint, *mut c_ulonglong) -> c_int;
pub(super) type RemappedRows =
    unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
pub(super) type P2pStatus = unsafe extern "C" fn(Handle, Handle, c_uint, *mut c_uint) -> c_int;
pub(super) type SetCreate = unsafe extern "C" fn(*mut EventSet) -> c_int;
pub(super) type SetFree = unsafe extern "C" fn(EventSet) -> c_int;
pub(super) type RegisterEvents = unsafe extern "C" fn(Handle, c_ulonglong, EventSet) -> c_int;
pub(super) type SetWait = unsafe extern "C" fn(EventSet, *mut EventData, c_uint) -> c_int;

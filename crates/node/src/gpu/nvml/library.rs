//! Loads the NVML library at run time and looks up its functions by name, the newest version of each first.
#![allow(unsafe_code, reason = "NVML is a C library, loaded at run time")]

use super::abi::{
    Count, EccErrors, EventData, EventSet, Gpu, GpuText, Handle, HandleByIndex, Memory, MemoryV2,
    MigByIndex, MigMode, P2pStatus, PciInfo, Plain, ProcessUtilization, ProcessUtilizations,
    Processes, RegisterEvents, RemappedRows, SetCreate, SetFree, SetWait, Temperature, Text,
    Utilization,
};
use super::code;
use crate::gpu::error::ProbeError;
use libloading::Library;
use std::ffi::{c_int, c_uint};
use std::path::Path;

const NAMES: &[&str] = &["libnvidia-ml.so.1", "libnvidia-ml.so"];

#[derive(Debug)]
pub(super) struct NvmlLibrary {
    pub(super) init: Versions<Plain>,
    pub(super) shutdown: Versions<Plain>,
    pub(super) driver_version: Versions<Text>,
    pub(super) count: Versions<Count>,
    pub(super) handle_by_index: Versions<HandleByIndex>,
    pub(super) uuid: Versions<GpuText>,
    pub(super) name: Versions<GpuText>,
    pub(super) pci_info: Versions<Gpu<PciInfo>>,
    pub(super) memory: Versions<Gpu<Memory>>,
    pub(super) memory_v2: Versions<Gpu<MemoryV2>>,
    pub(super) utilization: Versions<Gpu<Utilization>>,
    pub(super) temperature: Versions<Temperature>,
    pub(super) power: Versions<Gpu<c_uint>>,
    pub(super) compute_processes: Versions<ProcessList>,
    pub(super) graphics_processes: Versions<ProcessList>,
    pub(super) process_utilization: Versions<ProcessUtilizations>,
    pub(super) mig_mode: Versions<MigMode>,
    pub(super) mig_count: Versions<Gpu<c_uint>>,
    pub(super) mig_by_index: Versions<MigByIndex>,
    pub(super) gpu_instance: Versions<Gpu<c_uint>>,
    pub(super) compute_instance: Versions<Gpu<c_uint>>,
    pub(super) ecc_errors: Versions<EccErrors>,
    pub(super) remapped_rows: Versions<RemappedRows>,
    pub(super) p2p_status: Versions<P2pStatus>,
    pub(super) events: EventFunctions,
    /// Last, so that it is unloaded after everything that points into it.
    _library: Library,
}

#[derive(Debug)]
pub(super) struct EventFunctions {
    pub(super) create: Versions<SetCreate>,
    pub(super) free: Versions<SetFree>,
    pub(super) register: Versions<RegisterEvents>,
    pub(super) wait: Versions<SetWait>,
}

/// The versions of one function that the library has, newest first. There may be none.
#[derive(Debug)]
pub(super) struct Versions<F> {
    name: &'static str,
    known: Vec<(&'static str, F)>,
}

/// A function that lists processes, and how many 8-byte words each entry has.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessList {
    pub(super) function: Processes,
    pub(super) words: usize,
}

impl NvmlLibrary {
    pub(super) fn load(path: Option<&Path>) -> Result<Self, ProbeError> {
        let (library, name) = open(path)?;
        let find = Finder { library: &library };
        let loaded = NvmlLibrary {
            init: find.versions(&["nvmlInit_v2", "nvmlInit"]),
            shutdown: find.versions(&["nvmlShutdown"]),
            driver_version: find.versions(&["nvmlSystemGetDriverVersion"]),
            count: find.versions(&["nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"]),
            handle_by_index: find
                .versions(&["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"]),
            uuid: find.versions(&["nvmlDeviceGetUUID"]),
            name: find.versions(&["nvmlDeviceGetName"]),
            pci_info: find.versions(&[
                "nvmlDeviceGetPciInfo_v3",
                "nvmlDeviceGetPciInfo_v2",
                "nvmlDeviceGetPciInfo",
            ]),
            memory: find.versions(&["nvmlDeviceGetMemoryInfo"]),
            memory_v2: find.versions(&["nvmlDeviceGetMemoryInfo_v2"]),
            utilization: find.versions(&["nvmlDeviceGetUtilizationRates"]),
            temperature: find.versions(&["nvmlDeviceGetTemperature"]),
            power: find.versions(&["nvmlDeviceGetPowerUsage"]),
            compute_processes: find.process_lists(&[
                "nvmlDeviceGetComputeRunningProcesses_v3",
                "nvmlDeviceGetComputeRunningProcesses_v2",
                "nvmlDeviceGetComputeRunningProcesses",
            ]),
            graphics_processes: find.process_lists(&[
                "nvmlDeviceGetGraphicsRunningProcesses_v3",
                "nvmlDeviceGetGraphicsRunningProcesses_v2",
                "nvmlDeviceGetGraphicsRunningProcesses",
            ]),
            process_utilization: find.versions(&["nvmlDeviceGetProcessUtilization"]),
            mig_mode: find.versions(&["nvmlDeviceGetMigMode"]),
            mig_count: find.versions(&["nvmlDeviceGetMaxMigDeviceCount"]),
            mig_by_index: find.versions(&["nvmlDeviceGetMigDeviceHandleByIndex"]),
            gpu_instance: find.versions(&["nvmlDeviceGetGpuInstanceId"]),
            compute_instance: find.versions(&["nvmlDeviceGetComputeInstanceId"]),
            ecc_errors: find.versions(&["nvmlDeviceGetTotalEccErrors"]),
            remapped_rows: find.versions(&["nvmlDeviceGetRemappedRows"]),
            p2p_status: find.versions(&["nvmlDeviceGetP2PStatus"]),
            events: EventFunctions {
                create: find.versions(&["nvmlEventSetCreate"]),
                free: find.versions(&["nvmlEventSetFree"]),
                register: find.versions(&["nvmlDeviceRegisterEvents"]),
                wait: find.versions(&["nvmlEventSetWait_v2", "nvmlEventSetWait"]),
            },
            _library: library,
        };
        match loaded.missing() {
            Some(function) => Err(ProbeError::Function { library: name, function }),
            None => Ok(loaded),
        }
    }

    /// A required function that the library lacks.
    fn missing(&self) -> Option<&'static str> {
        let needed = [
            self.init.missing(),
            self.shutdown.missing(),
            self.count.missing(),
            self.handle_by_index.missing(),
            self.uuid.missing(),
            self.name.missing(),
            self.pci_info.missing(),
            self.memory_v2.missing().and(self.memory.missing()),
            self.compute_processes.missing(),
        ];
        needed.into_iter().flatten().next()
    }

    /// The first 535 drivers fill in longer entries than version 3 promises: what they say is only right in version 2.
    pub(super) fn adapt_to_driver(&mut self, version: &str) {
        let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
        if let (Some(Some(535)), Some(Some(0..98))) = (parts.next(), parts.next()) {
            self.compute_processes.forget("_v3");
            self.graphics_processes.forget("_v3");
        }
    }
}

impl<F: Copy> Versions<F> {
    /// Tries the newest version, and an older one where this driver does not have it.
    pub(super) fn call(&self, mut run: impl FnMut(F) -> c_int) -> Result<(), ProbeError> {
        for (name, function) in &self.known {
            match run(*function) {
                code::SUCCESS => return Ok(()),
                code::FUNCTION_NOT_FOUND => {}
                code => return Err(ProbeError::Nvml { call: name, code }),
            }
        }
        Err(ProbeError::Nvml { call: self.name, code: code::FUNCTION_NOT_FOUND })
    }

    fn missing(&self) -> Option<&'static str> {
        self.known.is_empty().then_some(self.name)
    }

    fn forget(&mut self, version: &str) {
        if self.known.len() > 1 {
            self.known.retain(|(name, _)| !name.ends_with(version));
        }
    }
}

fn open(path: Option<&Path>) -> Result<(Library, String), ProbeError> {
    let mut failure = String::new();
    let names = match path {
        Some(path) => vec![path.as_os_str()],
        None => NAMES.iter().map(AsRef::as_ref).collect(),
    };
    for name in &names {
        // SAFETY: the library is the driver's own, or the one that the administrator named; what its initialisers
        // do is as trusted as the driver itself.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok((library, name.to_string_lossy().into_owned())),
            Err(error) => failure = error.to_string(),
        }
    }
    let library = names.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Err(ProbeError::Library { library, reason: failure })
}

struct Finder<'a> {
    library: &'a Library,
}

impl Finder<'_> {
    fn versions<F: Copy>(&self, names: &[&'static str]) -> Versions<F> {
        let known = names.iter().filter_map(|name| {
            // SAFETY: NVML gives each name one signature for ever; `F` is the one written in its header.
            let symbol = unsafe { self.library.get::<F>(*name) }.ok()?;
            Some((*name, *symbol))
        });
        Versions { name: names.first().copied().unwrap_or_default(), known: known.collect() }
    }

    fn process_lists(&self, names: &[&'static str]) -> Versions<ProcessList> {
        let Versions { name, known } = self.versions::<Processes>(names);
        let known = known.into_iter().map(|(name, function)| {
            let words = if name.ends_with("Processes") { 2 } else { 3 };
            (name, ProcessList { function, words })
        });
        Versions { name, known: known.collect() }
    }
}

const _: () = {
    // The layouts that NVML's header promises.
    assert!(size_of::<PciInfo>() == 68);
    assert!(size_of::<Memory>() == 24);
    assert!(size_of::<MemoryV2>() == 40);
    assert!(size_of::<EventData>() == 32);
    assert!(size_of::<ProcessUtilization>() == 32);
    assert!(size_of::<Handle>() == size_of::<*mut u8>());
    assert!(size_of::<EventSet>() == size_of::<*mut u8>());
};

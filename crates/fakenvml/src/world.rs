//! The content of the JSON file as types that tests can fill in.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    pub driver: String,
    /// A session that began in another generation has lost its driver until it is initialised again.
    pub generation: u32,
    /// In the order of NVML's own numbers.
    pub gpus: Vec<FakeGpu>,
    /// UUIDs of GPUs that NVLink connects.
    pub nvlink: Vec<(String, String)>,
    /// Functions by their full name that answer with this code whatever they are asked.
    pub fail: BTreeMap<String, i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FakeGpu {
    pub uuid: String,
    pub name: String,
    /// As in `/sys/bus/pci/devices`.
    pub bus: String,
    pub memory: u64,
    pub used: u64,
    /// The driver's own share, which `nvmlDeviceGetMemoryInfo` without `_v2` counts as used.
    pub reserved: u64,
    pub utilization: u32,
    pub temperature: u32,
    pub milliwatts: u32,
    pub compute: Vec<FakeProcess>,
    pub graphics: Vec<FakeProcess>,
    pub uncorrected_ecc: u64,
    pub remap_pending: bool,
    pub remap_failed: bool,
    /// Reported once each, oldest first.
    pub xids: Vec<u64>,
    /// `None`: the GPU cannot be divided. `Some` of an empty list: divided into nothing.
    pub mig: Option<Vec<FakeMig>>,
    /// What every call about this GPU answers, if not 0; `nvmlDeviceGetHandleByIndex` too if `unreachable`.
    pub error: i32,
    pub unreachable: bool,
    /// As in [`World::fail`], for this GPU.
    pub fail: BTreeMap<String, i32>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FakeProcess {
    pub pid: u32,
    /// `None` is NVML's "not available".
    pub used: Option<u64>,
    /// Percent; `None`: the driver has no sample of it.
    #[serde(default)]
    pub utilization: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FakeMig {
    pub uuid: String,
    pub name: String,
    pub gpu_instance: u32,
    pub compute_instance: u32,
    pub memory: u64,
    pub used: u64,
    pub compute: Vec<FakeProcess>,
}

impl Default for World {
    fn default() -> Self {
        World {
            driver: "550.54.14".to_owned(),
            generation: 0,
            gpus: Vec::new(),
            nvlink: Vec::new(),
            fail: BTreeMap::new(),
        }
    }
}

impl Default for FakeGpu {
    fn default() -> Self {
        FakeGpu {
            uuid: "GPU-fa4e0000-0000-0000-0000-000000000000".to_owned(),
            name: "Fake A100".to_owned(),
            bus: "0000:01:00.0".to_owned(),
            memory: 80 << 30,
            used: 0,
            reserved: 512 << 20,
            utilization: 0,
            temperature: 35,
            milliwatts: 55_000,
            compute: Vec::new(),
            graphics: Vec::new(),
            uncorrected_ecc: 0,
            remap_pending: false,
            remap_failed: false,
            xids: Vec::new(),
            mig: None,
            error: 0,
            unreachable: false,
            fail: BTreeMap::new(),
        }
    }
}

impl World {
    /// `count` equal GPUs in PCI order.
    pub fn of(count: u32) -> Self {
        World { gpus: (0..count).map(FakeGpu::number).collect(), ..World::default() }
    }
}

impl FakeGpu {
    /// The GPU in slot `number`, whose UUID ends in that number.
    pub fn number(number: u32) -> Self {
        FakeGpu {
            uuid: format!("GPU-fa4e0000-0000-0000-0000-{number:012}"),
            bus: format!("0000:{:02x}:00.0", number + 1),
            ..FakeGpu::default()
        }
    }
}

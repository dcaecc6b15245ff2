//! Chooses the probe that works on this machine: NVML, `nvidia-smi`, amdgpu or simulated GPUs.

use super::bounded_read::line;
use super::error::ProbeError;
use super::{Amd, Nvml, Probe, SimGpus, Smi};
use serde::{Deserialize, Serialize};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct ProbeConfig {
    /// `None`: the first that finds GPUs.
    pub kind: Option<ProbeKind>,
    /// `None`: the library of the installed driver.
    pub nvml: Option<PathBuf>,
    pub smi: PathBuf,
    pub smi_limit: Duration,
    pub sysfs: PathBuf,
    pub proc: PathBuf,
    /// How many GPUs to simulate, if that is asked for.
    pub sim_gpus: u32,
    /// A JSON file that changes the simulated GPUs; see [`super::Script`]. Its directory must exist.
    pub sim_script: Option<PathBuf>,
    /// Tasks put a load on simulated GPUs.
    pub sim_load: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    Nvml,
    Smi,
    Amd,
    Sim,
}

impl Default for ProbeConfig {
    fn default() -> Self {
        ProbeConfig {
            kind: None,
            nvml: None,
            smi: "nvidia-smi".into(),
            smi_limit: Duration::from_secs(10),
            sysfs: "/sys".into(),
            proc: "/proc".into(),
            sim_gpus: 0,
            sim_script: None,
            sim_load: false,
        }
    }
}

impl ProbeConfig {
    /// The defaults, with the NVML library of `DANLU_NVML_PATH` and the files of drivers under `DANLU_SYSFS_PATH`.
    pub fn from_environment() -> Self {
        let path =
            |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let usual = ProbeConfig::default();
        let sysfs = path("DANLU_SYSFS_PATH").unwrap_or(usual.sysfs);
        ProbeConfig { nvml: path("DANLU_NVML_PATH"), sysfs, ..usual }
    }

    pub fn simulated(gpus: u32, script: Option<PathBuf>) -> Self {
        let kind = Some(ProbeKind::Sim);
        ProbeConfig { kind, sim_gpus: gpus, sim_script: script, ..ProbeConfig::default() }
    }
}

/// Unless `DANLU_SIM_LOAD=0` says that simulated GPUs do nothing.
pub fn sim_load_wanted() -> bool {
    env::var_os("DANLU_SIM_LOAD").is_none_or(|given| given != "0")
}

impl Probe {
    pub fn detect(config: &ProbeConfig) -> Result<Probe, ProbeError> {
        match config.kind {
            None => first_that_works(config),
            Some(ProbeKind::Nvml) => Ok(Probe::Nvml(Box::new(Nvml::load(config.nvml.as_deref())?))),
            Some(ProbeKind::Smi) => smi(config).map(Probe::Smi),
            Some(ProbeKind::Amd) => Ok(Probe::Amd(amd(config))),
            Some(ProbeKind::Sim) => {
                let sim = SimGpus::new(config.sim_gpus, config.sim_script.as_deref())?;
                Ok(Probe::Sim(sim.with_load(config.sim_load)))
            }
        }
    }
}

fn first_that_works(config: &ProbeConfig) -> Result<Probe, ProbeError> {
    let mut reasons = Vec::new();
    let mut silent = None;
    match Nvml::load(config.nvml.as_deref()) {
        Ok(mut nvml) => match nvml.sample() {
            Ok(reading) if !reading.gpus.is_empty() || !reading.problems.is_empty() => {
                return Ok(Probe::Nvml(Box::new(nvml)));
            }
            Ok(_) => reasons.push("NVML knows none".to_owned()),
            Err(error) => {
                reasons.push(error.to_string());
                silent = Some(nvml);
            }
        },
        Err(error) => {
            reasons.push(error.to_string());
            // Where the library can be loaded, the program has nothing to add.
            match smi(config) {
                Ok(smi) => return Ok(Probe::Smi(smi)),
                Err(error) => reasons.push(error.to_string()),
            }
        }
    }
    let mut amd = amd(config);
    match amd.sample() {
        Ok(reading) if !reading.gpus.is_empty() => return Ok(Probe::Amd(amd)),
        Ok(reading) if reading.problems.is_empty() => reasons.push("no AMD GPU".to_owned()),
        Ok(reading) => reasons.extend(reading.problems),
        Err(error) => reasons.push(error.to_string()),
    }
    match silent {
        // The driver may come later, as after boot.
        Some(nvml) if has_nvidia_gpu(&config.sysfs) => Ok(Probe::Nvml(Box::new(nvml))),
        _ => Err(ProbeError::NoGpu { reasons }),
    }
}

fn smi(config: &ProbeConfig) -> Result<Smi, ProbeError> {
    let mut smi = Smi::new(config.smi.clone(), config.smi_limit);
    smi.wait_for_answer()?;
    Ok(smi)
}

fn amd(config: &ProbeConfig) -> Amd {
    Amd::new(config.sysfs.clone(), config.proc.clone())
}

/// Whether a card is plugged in, driver or not.
fn has_nvidia_gpu(sysfs: &Path) -> bool {
    const MOST_DEVICES: usize = 4096;
    let Ok(devices) = fs::read_dir(sysfs.join("bus/pci/devices")) else { return false };
    devices.take(MOST_DEVICES).filter_map(Result::ok).any(|device| {
        let says = |file: &str| line(&device.path().join(file)).unwrap_or_default();
        // Class 3 is display: 0x0300 with a screen, 0x0302 without.
        says("vendor") == "0x10de" && says("class").starts_with("0x03")
    })
}

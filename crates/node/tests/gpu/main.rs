//! The GPU probes against a fake driver, a fake `nvidia-smi`, a fake `/sys` and simulated GPUs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod amd;
mod detect;
mod fake_driver;
mod fake_proc;
mod monitor;
mod nvml;
mod nvml_versions;
mod sim;
mod smi;
mod wait;

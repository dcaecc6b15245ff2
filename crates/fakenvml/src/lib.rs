//! A `libnvidia-ml.so` for tests: shows whatever GPUs a JSON file describes.
//!
//! The file is the one named by `DANLU_FAKE_NVML`, or else the library's own path with `.json` after it, so that
//! each test can load a copy of its own. It is read again when it has changed.

mod abi;
mod code;
mod source;
mod world;

pub use code::*;
pub use world::{FakeGpu, FakeMig, FakeProcess, World};

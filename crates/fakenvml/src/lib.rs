//! A `libnvidia-ml.so` for tests: shows the GPUs that a JSON file describes.
//!
//! The file is named by `DANLU_FAKE_NVML`; default: the library's own path with `.json` appended, so that each test can load its own
//! copy. The library reads the file again when it has changed.

mod abi;
mod code;
mod source;
mod world;

pub use code::*;
pub use world::{FakeGpu, FakeMig, FakeProcess, World};

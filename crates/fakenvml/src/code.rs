//! The return codes of NVML that the fake can give.

pub const SUCCESS: i32 = 0;
pub const UNINITIALIZED: i32 = 1;
pub const INVALID_ARGUMENT: i32 = 2;
pub const NOT_SUPPORTED: i32 = 3;
pub const NO_PERMISSION: i32 = 4;
pub const NOT_FOUND: i32 = 6;
pub const INSUFFICIENT_SIZE: i32 = 7;
pub const DRIVER_NOT_LOADED: i32 = 9;
pub const TIMEOUT: i32 = 10;
pub const FUNCTION_NOT_FOUND: i32 = 13;
pub const GPU_IS_LOST: i32 = 15;
pub const RESET_REQUIRED: i32 = 16;
pub const ARGUMENT_VERSION_MISMATCH: i32 = 25;
pub const UNKNOWN: i32 = 999;

//! NVML's return codes: their meaning, hints, and which of them end a session.

pub(crate) const SUCCESS: i32 = 0;
pub(crate) const UNINITIALIZED: i32 = 1;
pub(crate) const NOT_SUPPORTED: i32 = 3;
pub(crate) const NOT_FOUND: i32 = 6;
pub(crate) const INSUFFICIENT_SIZE: i32 = 7;
pub(crate) const DRIVER_NOT_LOADED: i32 = 9;
pub(crate) const FUNCTION_NOT_FOUND: i32 = 13;
pub(crate) const GPU_IS_LOST: i32 = 15;
pub(crate) const RESET_REQUIRED: i32 = 16;
pub(crate) const VERSION_MISMATCH: i32 = 18;
pub(crate) const ARGUMENT_VERSION_MISMATCH: i32 = 25;

/// The driver under the session is gone: nothing more can be asked before a new one.
pub(crate) fn ends_session(code: i32) -> bool {
    matches!(code, UNINITIALIZED | DRIVER_NOT_LOADED | VERSION_MISMATCH)
}

/// The GPU does not answer any more.
pub(crate) fn is_lost(code: i32) -> bool {
    matches!(code, GPU_IS_LOST | RESET_REQUIRED)
}

/// This driver or GPU has no such thing; it has not failed.
pub(crate) fn is_absent(code: i32) -> bool {
    matches!(code, NOT_SUPPORTED | FUNCTION_NOT_FOUND | ARGUMENT_VERSION_MISMATCH)
}

pub(crate) fn meaning(code: i32) -> String {
    let words = match code {
        UNINITIALIZED => "not initialised",
        2 => "invalid argument",
        NOT_SUPPORTED => "not supported",
        4 => "no permission",
        NOT_FOUND => "not found",
        INSUFFICIENT_SIZE => "insufficient size",
        8 => "a power cable is not attached",
        DRIVER_NOT_LOADED => "the NVIDIA driver is not loaded",
        10 => "timeout",
        11 => "an interrupt problem",
        12 => "a library was not found",
        FUNCTION_NOT_FOUND => "the driver has no such function",
        14 => "the GPU's own memory of its settings is corrupted",
        GPU_IS_LOST => "the GPU is lost: it has fallen off the bus",
        RESET_REQUIRED => "the GPU needs a reset",
        17 => "the operating system refused it",
        VERSION_MISMATCH => "driver and library have different versions",
        19 => "in use",
        20 => "not enough memory",
        21 => "no data",
        23 => "not enough resources",
        ARGUMENT_VERSION_MISMATCH => "an argument of another version is wanted",
        27 => "not ready",
        28 => "no such GPU",
        29 => "invalid state",
        999 => "unknown error",
        _ => return format!("error {code}"),
    };
    format!("{words} ({code})")
}

pub(crate) fn hint(code: i32) -> &'static str {
    match code {
        DRIVER_NOT_LOADED => "load it with modprobe nvidia, or reboot after a driver update",
        VERSION_MISMATCH => "the driver was updated while loaded: reboot",
        GPU_IS_LOST => "look for Xid in dmesg; a power cycle often brings the GPU back",
        RESET_REQUIRED => "nvidia-smi --gpu-reset -i INDEX",
        4 => "run the daemon as root",
        _ => "nvidia-smi and dmesg may say more",
    }
}

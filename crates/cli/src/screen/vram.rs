//! GPU memory that a command was seen to use, and the option that requests as much.

use danlu_messages::cli::screen as msg;
use danlu_wire::api::RunView;

use super::amounts;

/// The most that any of these runs used of a GPU.
pub(crate) fn used_by(runs: &[RunView]) -> Option<u64> {
    runs.iter().filter_map(|run| run.peak_gpu_memory).filter(|bytes| *bytes > 0).max()
}

/// In whole GiB: what was seen is a sample, not a bound.
pub(crate) fn hint(bytes: u64) -> String {
    let used = amounts::bytes(bytes);
    let asked = amounts::exact_bytes(bytes.next_multiple_of(1 << 30));
    msg::peak_gpu_memory(&used, &asked)
}

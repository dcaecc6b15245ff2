//! How much GPU memory a command was seen to use, and how to ask for as much.

use danlu_wire::api::RunView;

use super::amounts;
use crate::language::say;

/// The most that any of these runs used of a GPU.
pub(crate) fn used_by(runs: &[RunView]) -> Option<u64> {
    runs.iter().filter_map(|run| run.peak_gpu_memory).filter(|bytes| *bytes > 0).max()
}

/// In whole GiB: what was seen is a sample, not a bound.
pub(crate) fn hint(bytes: u64) -> String {
    let used = amounts::bytes(bytes);
    let asked = amounts::exact_bytes(bytes.next_multiple_of(1 << 30));
    say!(
        "it has used up to {used} of a GPU: --vram {asked}",
        "它曾用过至多 {used} 显存：--vram {asked}",
    )
}

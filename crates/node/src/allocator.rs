//! Keeps the memory of a process that runs for months near what it uses.
#![allow(unsafe_code, reason = "`mallopt` has no safe wrapper in `rustix` or `nix`")]

/// Freed memory goes back to the system, and threads share a few arenas. By default the C library keeps more the more was ever
/// freed at once, and has eight arenas for each core. To be called before there are other threads.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, mallopt};
        const ARENAS: i32 = 4;
        const BYTES: i32 = 256 << 10;
        for (what, value) in
            [(M_ARENA_MAX, ARENAS), (M_TRIM_THRESHOLD, BYTES), (M_MMAP_THRESHOLD, BYTES)]
        {
            // SAFETY: takes numbers. One that it refuses changes nothing.
            unsafe { mallopt(what, value) };
        }
    }
}

//! The id and the time of the machine's current boot.

use danlu_core::Time;
use std::fs;
use std::sync::OnceLock;

/// Told apart from every other boot; empty where the kernel does not say.
pub fn boot_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map_or_else(|_| String::new(), |id| id.trim().to_owned())
    })
}

/// When the machine was booted.
pub(crate) fn booted_at() -> Option<Time> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(Time::from_secs(seconds.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_was_before_now() {
        assert!(!boot_id().is_empty());
        assert!(booted_at().unwrap() < crate::clock::now());
    }
}

//! `cargo xtask chaos`: many simulated clusters full of faults, each from a seed.

use std::{
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::shell;

/// How many seeds the normal test run tries: so many that are always the same, and as many that nobody has picked.
pub(crate) const SEEDS_IN_TESTS: u64 = 1_000;

pub(crate) fn run(options: &[&str]) -> Result<bool, String> {
    let (first, seeds) = parse(options)?;
    Ok(build() && shell::succeeds(&mut command(first, seeds)))
}

/// The development profile on purpose: it optimises the scheduler and keeps its assertions. For the whole workspace,
/// so that what the tests have built is not built again with other features.
pub(crate) fn build() -> bool {
    shell::succeeds(&mut shell::cargo("build --quiet --workspace --example chaos"))
}

/// Simulates so many clusters with the program that [`build`] has built.
pub(crate) fn command(first: u64, seeds: u64) -> Command {
    let mut command = Command::new(shell::target().join("debug/examples/chaos"));
    command.arg("--seeds").arg(seeds.to_string());
    command.arg("--first").arg(first.to_string());
    command
}

/// The first of the seeds that are others with every commit, and what they are derived from.
pub(crate) fn fresh_seeds() -> (u64, String) {
    let commit = shell::output_of(Command::new("git").args(["rev-parse", "HEAD"]));
    match commit.map(|commit| commit.trim().to_owned()).filter(|commit| !commit.is_empty()) {
        Some(commit) => (first_of(&commit), format!("commit {commit}")),
        None => {
            let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            (
                first_of(&since_1970.as_secs().to_string()),
                "the clock: this is no git checkout".to_owned(),
            )
        }
    }
}

/// Far from the fixed seeds, and from those of other commits (FNV-1a).
fn first_of(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    // Short enough to be typed.
    10_000_000 + hash % 1_000_000_000 * SEEDS_IN_TESTS
}

fn parse(options: &[&str]) -> Result<(u64, u64), String> {
    let (mut first, mut seeds) = (0, None);
    let mut options = options.iter();
    while let Some(&option) = options.next() {
        let value = options.next().ok_or(format!("`{option}` needs a number"))?;
        let number =
            value.parse().map_err(|_| format!("`{option}` needs a number, not `{value}`"))?;
        match option {
            "--first" => first = number,
            "--seeds" => seeds = Some(number),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    let seeds = seeds.ok_or("`--seeds N` is missing")?;
    Ok((first, seeds))
}

#[cfg(test)]
mod tests {
    use super::{SEEDS_IN_TESTS, first_of, parse};

    #[test]
    fn seeds_are_needed_and_first_is_zero_unless_told() {
        assert_eq!(parse(&["--seeds", "5"]), Ok((0, 5)));
        assert_eq!(parse(&["--first", "7", "--seeds", "5"]), Ok((7, 5)));
        for wrong in [&[][..], &["--seeds"], &["--seeds", "x"], &["--last", "5"]] {
            assert!(parse(wrong).is_err(), "{wrong:?} is accepted");
        }
    }

    #[test]
    fn every_commit_has_seeds_of_its_own() {
        let (one, other) = (first_of("2129412"), first_of("051ee87"));
        assert_eq!(one, first_of("2129412"), "they are the same on every machine");
        assert!(one.abs_diff(other) >= SEEDS_IN_TESTS && one.min(other) > SEEDS_IN_TESTS);
    }
}

//! `cargo xtask chaos`: many simulated clusters full of faults, each from a seed.

use std::process::Command;

use crate::shell;

/// How many seeds the normal test run tries.
pub(crate) const SEEDS_IN_TESTS: u64 = 2_000;

pub(crate) fn run(options: &[&str]) -> Result<bool, String> {
    let (first, seeds) = parse(options)?;
    Ok(shell::succeeds(&mut command(first, seeds)))
}

/// The development profile on purpose: it optimises the scheduler and keeps its assertions.
pub(crate) fn command(first: u64, seeds: u64) -> Command {
    let mut command = shell::cargo("run --quiet --package danlu-sim --example chaos --");
    command.arg("--seeds").arg(seeds.to_string());
    command.arg("--first").arg(first.to_string());
    command
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
    use super::parse;

    #[test]
    fn seeds_are_needed_and_first_is_zero_unless_told() {
        assert_eq!(parse(&["--seeds", "5"]), Ok((0, 5)));
        assert_eq!(parse(&["--first", "7", "--seeds", "5"]), Ok((7, 5)));
        for wrong in [&[][..], &["--seeds"], &["--seeds", "x"], &["--last", "5"]] {
            assert!(parse(wrong).is_err(), "{wrong:?} is accepted");
        }
    }
}

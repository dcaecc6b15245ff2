//! As much of the protocol of test programs as `cargo nextest` and `cargo test` speak.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

pub(crate) type Test = (&'static str, fn());

/// A test that is not in the list is dead code, which the compiler reports.
macro_rules! tests {
    ($($module:ident::$test:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($test)), crate::$module::$test as fn())),*]
    };
}
pub(crate) use tests;

pub(crate) fn run(tests: &[Test]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            tests.iter().for_each(|(name, _)| println!("{name}: test"));
        }
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let chosen = tests.iter().filter(|(name, _)| {
        wanted.is_empty()
            || wanted.iter().any(|part| {
                if has("--exact") { name == part } else { name.contains(part.as_str()) }
            })
    });
    let mut failed = 0;
    for (name, test) in chosen {
        let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

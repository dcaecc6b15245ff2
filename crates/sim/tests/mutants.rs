//! The simulator is itself tested: deliberate faults in the core must not go unnoticed.

use danlu_core::{Mutant, with_mutant};
use danlu_sim::chaos::{Failure, run_seed};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A fault that this many seeds do not show counts as not caught.
const SEEDS: u64 = 1_000;

/// Faults that no simulation can show, each with the reason.
const NOT_CAUGHT: &[(Mutant, &str)] = &[(
    Mutant::TaskRowNotNamed,
    "every end of a run also ends or requeues its task, and that event names the row",
)];

#[test]
fn every_deliberate_fault_is_caught() {
    // Some faults make the core panic, which is a way of being caught and needs no backtrace.
    std::panic::set_hook(Box::new(|_| {}));
    let results = catch_all();
    let _ = std::panic::take_hook();
    let mut wrong = Vec::new();
    for (mutant, failure) in &results {
        let excuse = NOT_CAUGHT.iter().find(|(it, _)| it == mutant).map(|(_, reason)| reason);
        println!("{}", row(*mutant, failure.as_deref()));
        match (failure, excuse) {
            (None, None) => wrong.push(format!("{mutant:?} is not caught")),
            (None, Some(reason)) => println!("{:31}because {reason}", ""),
            (Some(_), Some(_)) => wrong.push(format!("{mutant:?} is caught after all: unlist it")),
            (Some(_), None) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let caught = results.iter().filter(|(_, failure)| failure.is_some()).count();
    println!("{caught} of {} deliberate faults are caught", results.len());
    assert_eq!(caught, Mutant::ALL.len() - NOT_CAUGHT.len());
}

fn row(mutant: Mutant, failure: Option<&Failure>) -> String {
    let name = format!("{mutant:?}");
    match failure {
        None => format!("{name:26} not caught"),
        Some(failure) => {
            let message: String = failure.message.chars().take(120).collect();
            format!("{name:26} {:3}  {message}", failure.seed + 1)
        }
    }
}

type Result = (Mutant, Option<Box<Failure>>);

/// In the order of the list, on two threads.
fn catch_all() -> Vec<Result> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result)>> = Mutex::default();
    let work = || {
        while let Some(mutant) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            Mutant::ALL.get(at).map(|mutant| (at, *mutant))
        } {
            let (at, mutant) = mutant;
            let seeds = if NOT_CAUGHT.iter().any(|(it, _)| *it == mutant) { 100 } else { SEEDS };
            let failure = with_mutant(mutant, || (0..seeds).find_map(|seed| run_seed(seed).err()));
            results.lock().expect("nobody panics with the lock").push((at, (mutant, failure)));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let mut results = results.into_inner().expect("nobody panics with the lock");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

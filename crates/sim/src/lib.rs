//! A fake world around the scheduler: chaos runs, trace replay and evaluation reports.

#[cfg(feature = "chaos")]
pub mod chaos;
pub mod packing;
pub mod trace;

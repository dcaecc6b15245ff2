//! How full a cluster gets: tasks that share GPUs arrive one by one and never leave.
//!
//! After the protocol of "Beware of Fragmentation" (ATC '23): tasks are drawn from a list until they ask for more than
//! there is, and what counts is the share of all GPUs that was given out by then.

mod fill;
mod read;

pub use fill::{Filled, fill};
pub use read::{Machine, PackingError, Pod, read_machines, read_pods};

/// Mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub deviation: f64,
}

impl Spread {
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Spread {
        let count = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Spread { mean, deviation: (squares / count).sqrt() }
    }
}

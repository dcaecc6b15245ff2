//! The load of simulated GPUs: what a training program would look like, the same every time for the same run.
//!
//! Everything is a function of a seed and of times that are passed in.

use std::time::Duration;

/// °C and watts of a GPU that does nothing, and what full load adds.
const COOL: f64 = 30.0;
const HOT: f64 = 48.0;
const IDLE_WATTS: f64 = 20.0;
const FULL_WATTS: f64 = 280.0;
/// How long temperature and power take to follow, in seconds.
const WARMING: f64 = 25.0;
const POWER_FOLLOWS: f64 = 2.0;
/// Until the first step is computed and until all memory is in use, in seconds.
const START: f64 = 8.0;
const MEMORY_GROWS: f64 = 20.0;
/// Memory is taken in pieces.
const PIECE: u64 = 64 << 20;

/// Percent of a GPU that a run would use if it had it alone: rises, and dips where the next epoch's data is loaded.
pub(super) fn utilization(seed: u64, age: Duration) -> f64 {
    let seconds = age.as_secs_f64();
    let level = 76.0 + spread(seed, 1) * 20.0;
    let epoch = 40.0 + spread(seed, 2) * 50.0;
    let pause = 3.0 + spread(seed, 3) * 3.0;
    let start = (seconds / START).min(1.0);
    let into = seconds % epoch;
    let loads_data = seconds > epoch && into < pause;
    let level = if loads_data { level * 0.15 } else { level };
    let noise = (ripple(seed, seconds / 3.0) - 0.5) * 8.0;
    ((level + noise) * start * start).clamp(0.0, 100.0)
}

/// Bytes: what it asked for, or a part of the GPU, after some time.
pub(super) fn memory(seed: u64, age: Duration, asked: Option<u64>, total: u64) -> u64 {
    let whole = asked.map_or_else(|| total as f64 * (0.3 + spread(seed, 4) * 0.4), |it| it as f64);
    let grown = 1.0 - (-age.as_secs_f64() / MEMORY_GROWS * 4.0).exp();
    let pieces = (whole * grown) as u64 / PIECE;
    (pieces.max(1) * PIECE).min(whole as u64)
}

/// Temperature and power, which follow the load slowly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Warmth {
    temperature: f64,
    watts: f64,
}

impl Default for Warmth {
    fn default() -> Warmth {
        Warmth { temperature: COOL, watts: IDLE_WATTS }
    }
}

impl Warmth {
    pub(super) fn follow(&mut self, utilization: f64, elapsed: Duration) {
        let approach = |now: f64, goal: f64, slowness: f64| {
            goal + (now - goal) * (-elapsed.as_secs_f64() / slowness).exp()
        };
        let load = utilization / 100.0;
        self.temperature = approach(self.temperature, COOL + HOT * load, WARMING);
        self.watts = approach(self.watts, IDLE_WATTS + FULL_WATTS * load, POWER_FOLLOWS);
    }

    pub(super) fn temperature(&self) -> i32 {
        self.temperature.round() as i32
    }

    pub(super) fn watts(&self) -> f32 {
        self.watts as f32
    }

    /// As cold as a GPU that was never used: nothing changes any more.
    pub(super) fn is_at_rest(&self) -> bool {
        self.temperature() == COOL as i32 && self.watts.round() == IDLE_WATTS
    }
}

/// From 0 to 1, smooth.
fn ripple(seed: u64, at: f64) -> f64 {
    let place = at.floor();
    let (one, two) = (spread(seed, place as u64 + 100), spread(seed, place as u64 + 101));
    let way = at - place;
    one + (two - one) * way * way * (3.0 - 2.0 * way)
}

/// From 0 to 1, by chance that is always the same (SplitMix64).
fn spread(seed: u64, place: u64) -> f64 {
    let mut number = seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((number ^ (number >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn load_rises_and_dips_and_is_the_same_every_time() {
        for seed in 0..50 {
            let life: Vec<f64> = (0..300).map(|second| utilization(seed, at(second))).collect();
            assert!(life[0] < 1.0, "it begins with nothing");
            let busy = life.iter().filter(|percent| **percent > 60.0).count();
            assert!(busy > 230, "mostly busy: {busy}");
            assert!(life[20..].iter().any(|percent| *percent < 30.0), "it loads data");
            let again: Vec<f64> = (0..300).map(|second| utilization(seed, at(second))).collect();
            assert_eq!(life, again);
        }
        assert_ne!(utilization(1, at(30)), utilization(2, at(30)));
    }

    #[test]
    fn memory_grows_to_what_was_asked_for() {
        let early = memory(7, at(2), Some(8 << 30), 24 << 30);
        let late = memory(7, at(120), Some(8 << 30), 24 << 30);
        assert!(early < late && late <= 8 << 30 && late > 7 << 30, "{early} {late}");
        assert!(memory(7, at(120), None, 24 << 30) < 24 << 30);
    }

    #[test]
    fn warmth_follows_slowly_and_comes_to_rest() {
        let mut warmth = Warmth::default();
        assert!(warmth.is_at_rest());
        warmth.follow(100.0, at(1));
        assert!(warmth.temperature() < 40, "{warmth:?}");
        warmth.follow(100.0, at(300));
        assert!(warmth.temperature() > 70 && warmth.watts() > 250.0, "{warmth:?}");
        warmth.follow(0.0, at(300));
        assert!(warmth.is_at_rest());
    }
}

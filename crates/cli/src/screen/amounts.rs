//! Formats numbers with units: memory sizes, durations.

pub(crate) use danlu_spec::given::{
    amount::{bytes_in_words, exact_bytes, short_bytes as bytes},
    duration::{clock, length},
};

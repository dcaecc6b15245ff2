//! Numbers with units: memory, lengths of time.

pub(crate) use danlu_spec::parse::{
    amount::{bytes_in_words, exact_bytes, short_bytes as bytes},
    duration::{clock, length},
};

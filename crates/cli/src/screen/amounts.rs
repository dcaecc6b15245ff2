//! Formats numbers with units: memory sizes, durations.

pub(crate) use danlu_messages::amounts::{
    bytes_in_words, clock, exact_bytes, length, short_bytes as bytes,
};

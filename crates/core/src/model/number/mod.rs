//! Numbers that every machine computes and compares alike: no floating point.

pub mod fraction;
pub(crate) mod logarithm;
pub mod thousandths;

//! Numbers without floating point, so that every machine computes and compares them alike.

pub mod fraction;
pub(crate) mod logarithm;
pub mod thousandths;

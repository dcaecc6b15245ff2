//! The orders: one file for each, with the key by which it ranks tasks or users.

pub(crate) mod balance;
pub(crate) mod fair;
pub(crate) mod fifo;
pub(crate) mod las;
pub(crate) mod sjf;
pub(crate) mod srtf;

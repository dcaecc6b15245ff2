//! The orders, one file each: the key by which each ranks tasks or users. `auto` has a room of its own.

pub(crate) mod balance;
pub(crate) mod fair;
pub(crate) mod fifo;
pub(crate) mod las;
pub(crate) mod sjf;
pub(crate) mod srtf;

//! Interfaces of other programs, for clients that were written for them.

pub(crate) mod gpuman;

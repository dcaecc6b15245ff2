//! Whose turn it is: users in the order of `balance` or `fair`, updated with every change.

pub(crate) mod balance;
pub(crate) mod cursor;
pub mod decay;
pub(crate) mod fair;
pub(crate) mod key;

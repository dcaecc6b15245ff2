//! Newtypes for identities.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($number:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// A task, for ever: ids are never reused.
    TaskId(u64)
);
number_id!(
    /// What a task, or all tasks of an array, were asked to do.
    SpecId(u64)
);
number_id!(NodeId(u32));
number_id!(
    /// 0 is no user.
    #[derive(Default)]
    UserId(u32)
);

number_id!(
    /// One connection to a node. A new connection has a higher number than any before it.
    SessionId(u64)
);
number_id!(
    /// One life of the store. A restored backup begins a new epoch, so that no run id is met twice.
    Epoch(u32)
);

/// One attempt of a task; also the name of its run directory on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    pub epoch: Epoch,
    pub number: u64,
}

impl RunId {
    /// No run has a lower id.
    pub const FIRST: RunId = RunId { epoch: Epoch(0), number: 0 };
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.number)
    }
}

/// A GPU's UUID: what it is, wherever it is plugged in and whatever its index is today.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GpuId(pub Arc<str>);

impl From<&str> for GpuId {
    fn from(uuid: &str) -> Self {
        GpuId(uuid.into())
    }
}

impl fmt::Display for GpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

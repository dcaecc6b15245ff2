//! Who submits tasks, and what is theirs.

use crate::ids::UserId;
use crate::thousandths::Thousandths;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    pub name: String,
    pub admin: bool,
    /// For `balance`: below zero before everybody, zero before all above it, else the share of the GPUs.
    #[serde(default = "one")]
    pub priority: Thousandths,
}

/// What is to be different; the rest stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserChange {
    pub priority: Option<Thousandths>,
}

impl User {
    pub(crate) fn new(id: UserId, name: String, admin: bool) -> User {
        User { id, name, admin, priority: Thousandths::ONE }
    }
}

fn one() -> Thousandths {
    Thousandths::ONE
}

//! Who submits tasks, and what is theirs.

use crate::ids::UserId;
use crate::quota::Spent;
use crate::thousandths::Thousandths;
use crate::usage::Usage;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    pub name: String,
    pub admin: bool,
    /// For `balance`: below zero before everybody, zero before all above it, else the share of the GPUs.
    #[serde(default = "one")]
    pub priority: Thousandths,
    /// For `fair`: more is a larger share.
    #[serde(default = "one")]
    pub weight: Thousandths,
    /// Whose members share what the group's weight gives them.
    #[serde(default)]
    pub group: Option<String>,
    /// As of the last start or end of one of their runs.
    #[serde(default)]
    pub used: Usage,
    #[serde(default)]
    pub spent: Spent,
}

/// What is to be different; the rest stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserChange {
    pub priority: Option<Thousandths>,
    pub weight: Option<Thousandths>,
    /// Empty: none.
    pub group: Option<String>,
}

impl User {
    pub(crate) fn new(id: UserId, name: String, admin: bool) -> User {
        User {
            id,
            name,
            admin,
            priority: Thousandths::ONE,
            weight: Thousandths::ONE,
            group: None,
            used: Usage::default(),
            spent: Spent::default(),
        }
    }
}

fn one() -> Thousandths {
    Thousandths::ONE
}

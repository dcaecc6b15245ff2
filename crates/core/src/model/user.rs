//! Users: who submits tasks, with priority, weight and profile.

use crate::model::ids::UserId;
use crate::model::number::thousandths::Thousandths;
use crate::schedule::quota::Spent;
use crate::schedule::turn::decay::Usage;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    pub name: String,
    pub admin: bool,
    /// Locked: may do nothing; their runs go on.
    #[serde(default)]
    pub locked: bool,
    /// Removed: their history stays, their name is free again.
    #[serde(default)]
    pub removed: bool,
    /// The OS user that their tasks run as; `None`: the OS user of the same name.
    #[serde(default)]
    pub os_user: Option<String>,
    #[serde(default)]
    pub profile: Profile,
    /// For `balance`: users below zero go first, then zero, then all above it in proportion to their priority.
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

/// What users may change about themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    pub email: Option<String>,
    /// `en` or `zh`; `None`: as the browser or terminal says.
    pub language: Option<String>,
    /// Their template for new tasks, as a JSON object.
    pub template: Option<String>,
}

/// What is to be different; the rest stays. An empty text takes away what was there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserChange {
    pub admin: Option<bool>,
    pub locked: Option<bool>,
    pub os_user: Option<String>,
    pub email: Option<String>,
    pub language: Option<String>,
    pub template: Option<String>,
    pub priority: Option<Thousandths>,
    pub weight: Option<Thousandths>,
    pub group: Option<String>,
}

impl UserChange {
    /// Users may change this about themselves.
    pub(crate) fn is_personal(&self) -> bool {
        let rest = UserChange { email: None, language: None, template: None, ..self.clone() };
        rest == UserChange::default()
    }
}

impl User {
    /// Who can come in and act.
    pub fn is_active(&self) -> bool {
        !self.locked && !self.removed
    }

    /// Changes the OS user that their tasks run as.
    pub fn os_name(&self) -> &str {
        self.os_user.as_deref().unwrap_or(&self.name)
    }

    pub(crate) fn new(id: UserId, name: String, admin: bool) -> User {
        User {
            id,
            name,
            admin,
            locked: false,
            removed: false,
            os_user: None,
            profile: Profile::default(),
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

//! Users, their shares and quotas.

use super::Secret;
use danlu_core::Thousandths;
use danlu_core::quota::Quota;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Users {
    pub users: Vec<UserView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneUser {
    pub user: UserView,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserView {
    pub name: String,
    pub admin: bool,
    pub locked: bool,
    pub os_user: String,
    /// By machine, where it is another there.
    #[serde(default)]
    pub os_user_on: BTreeMap<String, String>,
    pub email: Option<String>,
    #[schemars(with = "serde_json::Value")]
    pub priority: Thousandths,
    #[schemars(with = "serde_json::Value")]
    pub weight: Thousandths,
    pub group: Option<String>,
    pub running_tasks: u64,
    pub running_gpus: u64,
    pub waiting_tasks: u64,
    /// In this period.
    pub spent_gpu_seconds: u64,
    #[schemars(with = "serde_json::Value")]
    pub quota: Quota,
    /// As `fair` counts it: what is long ago counts less.
    pub used_gpu_seconds: u64,
}

/// The answer to `POST /users`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedUser {
    pub user: UserView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_time_password: Option<Secret>,
}

/// The answer to `DELETE /users/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Removed {
    pub removed: String,
}

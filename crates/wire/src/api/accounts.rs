//! Accounts: `/me`, tokens, sessions, passwords, the audit log.

use super::MaybeNewer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A password or a token; no log and no message shows it.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// What a token is good for; each includes those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Look at everything that its owner sees.
    Read,
    /// Submit tasks and act on its owner's.
    #[default]
    Submit,
    /// Everything that its owner may do.
    Admin,
}

/// `POST /users`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    pub name: String,
    #[serde(default)]
    pub admin: bool,
    #[serde(default)]
    pub os_user: Option<String>,
    #[serde(default)]
    pub email: Option<String>,
    /// Left out: the account has no password and cannot log in with one.
    #[serde(default)]
    pub password: Option<Secret>,
    /// Make a password that has to be changed at the first log-in, and tell it this once.
    #[serde(default)]
    pub one_time_password: bool,
}

/// `POST /users/{name}/password` and `POST /me/password`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    /// Of oneself, over the network.
    #[serde(default)]
    pub old: Option<Secret>,
    /// Left out: one is made that has to be changed at the first log-in.
    #[serde(default)]
    pub new: Option<Secret>,
}

/// The answer where a password was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PasswordSet {
    pub user: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_time_password: Option<Secret>,
}

/// `POST /session`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogIn {
    pub user: String,
    pub password: Secret,
}

/// The answer to it; the session itself is in a cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedIn {
    pub user: String,
    pub admin: bool,
    /// Goes with every change, as the header `X-CSRF-Token`.
    pub csrf: Secret,
    pub must_change_password: bool,
}

/// `POST /tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    pub name: String,
    #[serde(default)]
    pub scope: Scope,
    /// Such as `30d`; left out: until it is revoked.
    #[serde(default)]
    #[schemars(regex(pattern = r"^([1-9][0-9]{0,2}(m|h|d))?$"))]
    pub expires: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    pub id: String,
    pub name: String,
    pub scope: MaybeNewer<Scope>,
    pub created_at: String,
    pub expires_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    pub tokens: Vec<TokenView>,
}

/// The only answer that has the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeToken {
    pub token: TokenView,
    pub secret: Secret,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sessions {
    pub sessions: Vec<SessionView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    pub id: String,
    pub created_at: String,
    pub seen_at: String,
    pub from: String,
    pub browser: String,
    /// The one that asks.
    pub current: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Newest first.
    pub entries: Vec<AuditView>,
    /// For the ones before these: `?cursor=`.
    pub next_cursor: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditView {
    pub id: i64,
    pub at: String,
    pub user: String,
    pub from: String,
    pub act: String,
    pub target: String,
    pub detail: String,
}

/// `GET /me`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Me {
    pub user: String,
    pub admin: bool,
    pub version: String,
    pub scope: MaybeNewer<Scope>,
    pub email: Option<String>,
    pub language: Option<String>,
    pub os_user: String,
    pub has_password: bool,
    pub must_change_password: bool,
    #[serde(default)]
    pub notify: Notify,
}

/// What a user is told of tasks that say nothing else, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Notify {
    pub start: bool,
    pub success: bool,
    pub failure: bool,
    /// A task goes back to the queue, is lost, or its time limit is near.
    pub warning: bool,
    /// A task that may have run already, a broken GPU under a task, a quota that is used up.
    pub trouble: bool,
    pub announcement: bool,
    /// By name; `email` is the address of the account. Empty: that address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// What comes meanwhile is told afterwards, in one message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet: Option<QuietHours>,
}

impl Default for Notify {
    fn default() -> Notify {
        Notify {
            start: false,
            success: false,
            failure: false,
            warning: false,
            trouble: true,
            announcement: false,
            channels: Vec::new(),
            quiet: None,
        }
    }
}

/// From one time of the day to another, which may be on the next day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuietHours {
    /// `22:00`.
    pub from: String,
    /// `07:00`.
    pub to: String,
    /// `Asia/Shanghai`; left out: that of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// `GET /me/nodes`: who I am on each machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MyNodes {
    pub nodes: Vec<MyNode>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MyNode {
    pub node: String,
    /// Whom my tasks run as there where the server is root; an admin names it.
    pub os_user: String,
    /// Where the server is not root, people can give a key of their own.
    pub takes_keys: bool,
    pub ssh_user: Option<String>,
    /// Its kind and its fingerprint; the key itself is never told.
    pub key: Option<String>,
    /// Why my own connection is not open.
    #[serde(default)]
    pub problem: Option<String>,
}

/// `PUT /me/nodes/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSshLogin {
    pub ssh_user: String,
    /// A private key of OpenSSH without a passphrase; left out: the one that is there stays.
    #[serde(default)]
    pub key: Option<Secret>,
}

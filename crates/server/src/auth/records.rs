//! The stored records of accounts: passwords, tokens, sessions, notification settings.
//!
//! Secrets are stored as hashes only.

use super::secret::SecretHash;
use crate::store::{RecordChange, Store, StoreError};
use danlu_core::{Time, UserId};
use danlu_wire::api::{Notify, Scope};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Password {
    pub(crate) user: UserId,
    /// As argon2id writes it, with its salt and cost.
    pub(crate) hash: String,
    /// Another person chose it, so it must be changed.
    #[serde(default)]
    pub(crate) must_change: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub(crate) digest: SecretHash,
    pub(crate) user: UserId,
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) created_at: Time,
    pub(crate) expires_at: Option<Time>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) digest: SecretHash,
    pub(crate) user: UserId,
    /// The CSRF token, required with every change.
    pub(crate) csrf: String,
    pub(crate) created_at: Time,
    pub(crate) seen_at: Time,
    pub(crate) origin: String,
    pub(crate) browser: String,
    /// The OS user of a session that began on this machine without encryption: no other user can use it.
    #[serde(default)]
    pub(crate) os_user: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Notice {
    pub(crate) user: UserId,
    pub(crate) wanted: Notify,
}

/// All of them, as of the last commit.
#[derive(Debug, Default)]
pub(crate) struct AccountRecords {
    pub(crate) passwords: BTreeMap<UserId, Password>,
    pub(crate) tokens: BTreeMap<SecretHash, Token>,
    pub(crate) sessions: BTreeMap<SecretHash, Session>,
    pub(crate) notices: BTreeMap<UserId, Notify>,
}

/// One record that is new, different or gone.
#[derive(Debug, Clone)]
pub(crate) enum AccountChange {
    Password(Password),
    NoPassword(UserId),
    Token(Token),
    NoToken(SecretHash),
    Session(Session),
    NoSession(SecretHash),
    Notice(Notice),
}

const PASSWORD: &str = "password";
const TOKEN: &str = "token";
const SESSION: &str = "session";
const NOTICE: &str = "notify";
/// Of 0.1.0. The server's own notices have the same kind: see `daemon/notices.rs`.
const OLD_NOTICE: &str = "notice";

impl AccountRecords {
    pub(crate) fn load(store: &Store) -> Result<AccountRecords, StoreError> {
        let mut book = AccountRecords::default();
        all(store, PASSWORD)?.into_iter().for_each(|it| book.apply(AccountChange::Password(it)));
        all(store, TOKEN)?.into_iter().for_each(|it| book.apply(AccountChange::Token(it)));
        all(store, SESSION)?.into_iter().for_each(|it| book.apply(AccountChange::Session(it)));
        // Newer ones replace older ones of the same user.
        let old = old_notices(store)?.into_iter();
        let notices = old.chain(all(store, NOTICE)?);
        notices.for_each(|it| book.apply(AccountChange::Notice(it)));
        Ok(book)
    }

    pub(crate) fn apply(&mut self, change: AccountChange) {
        match change {
            AccountChange::Password(it) => drop(self.passwords.insert(it.user, it)),
            AccountChange::NoPassword(user) => drop(self.passwords.remove(&user)),
            AccountChange::Token(it) => drop(self.tokens.insert(it.digest.clone(), it)),
            AccountChange::NoToken(digest) => drop(self.tokens.remove(&digest)),
            AccountChange::Session(it) => drop(self.sessions.insert(it.digest.clone(), it)),
            AccountChange::NoSession(digest) => drop(self.sessions.remove(&digest)),
            AccountChange::Notice(it) => drop(self.notices.insert(it.user, it.wanted)),
        }
    }
}

impl AccountChange {
    /// Whether a credential ends, so that open connections have to be checked again.
    pub(crate) fn ends_something(&self) -> bool {
        match self {
            AccountChange::NoPassword(_)
            | AccountChange::NoToken(_)
            | AccountChange::NoSession(_) => true,
            AccountChange::Password(_)
            | AccountChange::Token(_)
            | AccountChange::Session(_)
            | AccountChange::Notice(_) => false,
        }
    }

    /// As the store keeps it.
    pub(crate) fn stored(&self) -> RecordChange {
        let put = |kind, id: String, json: Result<String, _>| RecordChange::Put {
            kind,
            id,
            // Numbers and texts only: they can be written.
            json: json.unwrap_or_default(),
        };
        match self {
            AccountChange::Password(it) => {
                put(PASSWORD, it.user.to_string(), serde_json::to_string(it))
            }
            AccountChange::Token(it) => {
                put(TOKEN, it.digest.to_string(), serde_json::to_string(it))
            }
            AccountChange::Session(it) => {
                put(SESSION, it.digest.to_string(), serde_json::to_string(it))
            }
            AccountChange::Notice(it) => {
                put(NOTICE, it.user.to_string(), serde_json::to_string(it))
            }
            AccountChange::NoPassword(user) => {
                RecordChange::Delete { kind: PASSWORD, id: user.to_string() }
            }
            AccountChange::NoToken(digest) => {
                RecordChange::Delete { kind: TOKEN, id: digest.to_string() }
            }
            AccountChange::NoSession(digest) => {
                RecordChange::Delete { kind: SESSION, id: digest.to_string() }
            }
        }
    }
}

/// Among them are notices about the server, which name no user.
fn old_notices(store: &Store) -> Result<Vec<Notice>, StoreError> {
    let all: Vec<serde_json::Value> = all(store, OLD_NOTICE)?;
    let ours = all.into_iter().filter(|record| record.get("user").is_some());
    let read = |record| {
        serde_json::from_value(record)
            .map_err(|error| store.damaged(format!("a {OLD_NOTICE} cannot be read: {error}")))
    };
    ours.map(read).collect()
}

fn all<T: DeserializeOwned>(store: &Store, kind: &str) -> Result<Vec<T>, StoreError> {
    let read = |json: &String| {
        serde_json::from_str(json)
            .map_err(|error| store.damaged(format!("a {kind} cannot be read: {error}")))
    };
    store.records(kind)?.iter().map(read).collect()
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Password").field("user", &self.user).finish_non_exhaustive()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("user", &self.user).finish_non_exhaustive()
    }
}

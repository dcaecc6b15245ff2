//! Accounts over the network: passwords, browser sessions, API tokens.
//!
//! Invariant: a change is committed before it takes effect here.

mod attempts;
mod password;
mod recent;
mod records;
mod secret;
mod sessions;
mod system;
mod tokens;
mod unknown_callers;

pub(crate) use records::{Session, Token};
pub(crate) use secret::{SecretHash, random as random_secret};

use crate::daemon::config::AuthConfig;
use crate::daemon::handle::{Asker, Handle, NotNow};
use crate::store::{Deed, Store, StoreError};
use attempts::Attempts;
use danlu_core::limits::NAME_BYTES;
use danlu_core::{Time, User, UserId};
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_wire::api::Notify;
use recent::Recent;
use records::{AccountChange, AccountRecords, Notice, Password};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use system::SystemPasswords;
use thiserror::Error;
use tokio::sync::{Semaphore, watch};
use unknown_callers::UnknownCallers;

/// Concurrent argon2id computations; each takes 19 MB and some milliseconds.
const HASHED_AT_ONCE: usize = 2;

#[derive(Debug)]
pub struct Auth {
    config: AuthConfig,
    pub(crate) system: SystemPasswords,
    book: RwLock<AccountRecords>,
    /// Serialises changes, so that memory follows what is committed.
    changing: tokio::sync::Mutex<()>,
    /// Notified when an account may no longer be accepted.
    changed: watch::Sender<()>,
    attempts: Attempts,
    pub(crate) unknown_callers: UnknownCallers,
    hashing: Semaphore,
    recent: Recent,
    /// A random salt of this process.
    salt: String,
    /// The key of the set-up link.
    setup: Mutex<Option<SecretHash>>,
}

#[derive(Debug, Error)]
pub(crate) enum AuthError {
    #[error("{}", errors::wrong_name_or_password())]
    Wrong,
    #[error("{}", errors::too_many_attempts(&(.0.as_secs() + 1)))]
    Wait(Duration),
    #[error("{}", errors::name_or_password_too_long(&NAME_BYTES, &password::LONGEST))]
    TooLong,
    #[error("{0}")]
    Unfit(&'static str),
    #[error("{}", errors::account_locked())]
    Locked,
    #[error("{}", errors::too_many_tokens(.0))]
    TooMany(usize),
    #[error("{}", errors::no_such_session())]
    NoSuchSession,
    #[error("{}", errors::no_such_token())]
    NoSuchToken,
    #[error("{}", errors::no_randomness_is_to_be_had())]
    NoRandomness,
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

impl Auth {
    pub(crate) fn load(store: &Store, config: &AuthConfig) -> Result<Auth, StoreError> {
        Ok(Auth {
            config: config.clone(),
            system: SystemPasswords::new(config.pam.clone()),
            book: RwLock::new(AccountRecords::load(store)?),
            changing: tokio::sync::Mutex::default(),
            changed: watch::Sender::default(),
            attempts: Attempts::default(),
            unknown_callers: UnknownCallers::default(),
            hashing: Semaphore::new(HASHED_AT_ONCE),
            recent: Recent::default(),
            salt: secret::random().unwrap_or_default(),
            setup: Mutex::default(),
        })
    }

    pub(crate) fn must_change_password(&self, user: UserId) -> bool {
        self.read().passwords.get(&user).is_some_and(|password| password.must_change)
    }

    pub(crate) fn has_password(&self, user: UserId) -> bool {
        self.read().passwords.contains_key(&user)
    }

    /// Counts the attempt, and delays each further guess.
    pub(crate) async fn check_password(
        &self,
        user: Option<&User>,
        (name, password): (&str, &str),
        address: Option<IpAddr>,
    ) -> Result<(), AuthError> {
        if name.len() > NAME_BYTES || password.len() > password::LONGEST {
            return Err(AuthError::TooLong);
        }
        let turn = self.attempts.begin(name, address).map_err(AuthError::Wait)?;
        if let Some(turn) = &turn {
            tokio::time::sleep(turn.pause).await;
        }
        let kept = user.and_then(|user| Some(self.read().passwords.get(&user.id)?.hash.clone()));
        let given = password.to_owned();
        let fits = self.hash(move || password::fits(&given, kept.as_deref())).await;
        let same = user.is_none_or(|user| user.os_name() == name);
        if fits != Some(true) && !(same && self.system.fits(name, password).await) {
            self.attempts.failed_at(name, address);
            return Err(AuthError::Wrong);
        }
        self.attempts.succeeded(name, address);
        Ok(())
    }

    /// The same for clients that send it with every request: a recent success is remembered.
    pub(crate) async fn check_password_again(
        &self,
        user: Option<&User>,
        (name, password): (&str, &str),
        address: Option<IpAddr>,
    ) -> Result<(), AuthError> {
        let kept = user.and_then(|user| Some(self.read().passwords.get(&user.id)?.hash.clone()));
        let proof = kept.map(|kept| SecretHash::of(&format!("{}\0{kept}\0{password}", self.salt)));
        if proof.as_ref().is_some_and(|proof| self.recent.knows(proof)) {
            return Ok(());
        }
        self.check_password(user, (name, password), address).await?;
        proof.into_iter().for_each(|proof| self.recent.remember(proof));
        Ok(())
    }

    /// All sessions but `keep` end with the old password.
    pub(crate) async fn set_password(
        &self,
        handle: &Handle,
        (user, name): (UserId, &str),
        password: &str,
        must_change: bool,
        (by, keep): (&Asker, Option<&SecretHash>),
    ) -> Result<(), AuthError> {
        Auth::check_new_password(name, password)?;
        let given = password.to_owned();
        let hash = self.hash(move || password::hash(&given)).await.flatten();
        let hash = hash.ok_or(AuthError::NoRandomness)?;
        let mut changes: Vec<AccountChange> = self
            .sessions_of(user)
            .into_iter()
            .filter(|session| Some(&session.digest) != keep)
            .map(|session| AccountChange::NoSession(session.digest))
            .collect();
        changes.push(AccountChange::Password(Password { user, hash, must_change }));
        let deed = deed((&by.name, &by.origin), Act::SetPasswordOf, format!("user {name}"));
        Ok(self.change(handle, changes, Some(deed)).await?)
    }

    pub(crate) fn check_new_password(name: &str, password: &str) -> Result<(), AuthError> {
        password::objection(name, password).map_or(Ok(()), |what| Err(AuthError::Unfit(what)))
    }

    /// A one-time password, which must be changed at the first log-in.
    pub(crate) fn one_time_password() -> Result<String, AuthError> {
        secret::one_time_password().map_err(|_| AuthError::NoRandomness)
    }

    /// Deletes the credentials of a locked or removed account.
    pub(crate) async fn throw_out(
        &self,
        handle: &Handle,
        user: UserId,
        password_too: bool,
    ) -> Result<(), NotNow> {
        let sessions = self.sessions_of(user).into_iter();
        let mut changes: Vec<AccountChange> =
            sessions.map(|session| AccountChange::NoSession(session.digest)).collect();
        let tokens = self.tokens_of(user).into_iter();
        changes.extend(tokens.map(|token| AccountChange::NoToken(token.digest)));
        if password_too && self.has_password(user) {
            changes.push(AccountChange::NoPassword(user));
        }
        if changes.is_empty() { Ok(()) } else { self.change(handle, changes, None).await }
    }

    /// What a user wants mail about.
    pub(crate) fn notify(&self, user: UserId) -> Notify {
        self.read().notices.get(&user).cloned().unwrap_or_default()
    }

    pub(crate) async fn set_notify(
        &self,
        handle: &Handle,
        user: UserId,
        wanted: Notify,
        by: &Asker,
    ) -> Result<(), NotNow> {
        let deed = deed((&by.name, &by.origin), Act::ChooseNoticesOf, format!("user {}", by.name));
        self.change(handle, vec![AccountChange::Notice(Notice { user, wanted })], Some(deed)).await
    }

    /// The key of the link with which the first admin is made.
    pub(crate) fn open_setup(&self) -> Option<String> {
        let key = random().ok()?;
        *self.setup.lock().unwrap_or_else(PoisonError::into_inner) = Some(SecretHash::of(&key));
        Some(key)
    }

    pub(crate) fn is_setup_key(&self, key: &str) -> bool {
        let setup = self.setup.lock().unwrap_or_else(PoisonError::into_inner);
        setup.as_ref() == Some(&SecretHash::of(key))
    }

    /// The key is used up.
    pub(crate) fn close_setup(&self) {
        *self.setup.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn change(
        &self,
        handle: &Handle,
        changes: Vec<AccountChange>,
        deed: Option<Deed>,
    ) -> Result<(), NotNow> {
        let _one_at_a_time = self.changing.lock().await;
        handle.keep(changes.iter().map(AccountChange::stored).collect(), deed).await?;
        let mut book = self.book.write().unwrap_or_else(PoisonError::into_inner);
        let ends_something = changes.iter().any(AccountChange::ends_something);
        changes.into_iter().for_each(|change| book.apply(change));
        drop(book);
        if ends_something {
            self.tell_of_change();
        }
        Ok(())
    }

    /// For long-lived responses.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(crate) fn tell_of_change(&self) {
        self.changed.send_replace(());
    }

    /// Not on the thread that serves all requests.
    async fn hash<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _turn = self.hashing.acquire().await.ok()?;
        tokio::task::spawn_blocking(work).await.ok()
    }

    fn read(&self) -> RwLockReadGuard<'_, AccountRecords> {
        self.book.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn oldest_first<'a, T: Clone + 'a>(
    all: impl Iterator<Item = &'a T>,
    created_at: impl Fn(&T) -> Time,
) -> Vec<T> {
    let mut all: Vec<T> = all.cloned().collect();
    all.sort_by_key(created_at);
    all
}

fn random() -> Result<String, AuthError> {
    secret::random().map_err(|_| AuthError::NoRandomness)
}

fn deed((user, origin): (&str, &str), act: Act, target: String) -> Deed {
    Deed { user: user.to_owned(), origin: origin.to_owned(), act, target, detail: String::new() }
}

/// As the audit log says it.
pub(crate) fn origin(address: Option<IpAddr>) -> String {
    address.map_or_else(|| String::from("socket"), |address| address.to_string())
}

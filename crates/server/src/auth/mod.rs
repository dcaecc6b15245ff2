//! Who comes over the network: passwords, sessions of browsers, tokens of programs.
//!
//! Invariant: what this says is durable; a change is committed first and known afterwards.

mod attempts;
mod password;
mod recent;
mod records;
mod secret;
mod strangers;
mod system;

pub(crate) use records::{Session, Token};
pub(crate) use secret::{Digest, random as random_secret};

use crate::clock;
use crate::config::AuthConfig;
use crate::handle::{Asker, Handle, NotNow};
use crate::store::{Deed, Store, StoreError};
use attempts::Attempts;
use danlu_core::{Span, Time, User, UserId};
use danlu_wire::api::{Notify, Scope};
use recent::Recent;
use records::{Book, Change, Notice, Password};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use strangers::Strangers;
use system::SystemPasswords;
use thiserror::Error;
use tokio::sync::Semaphore;

/// That a session was used is written down this often, or more often where it ends soon.
const SEEN_EVERY: Span = Span::from_secs(3_600);
const SESSIONS_PER_USER: usize = 50;
const TOKENS_PER_USER: usize = 200;
/// Each takes 19 MB and some milliseconds.
const HASHED_AT_ONCE: usize = 2;

#[derive(Debug)]
pub struct Auth {
    config: AuthConfig,
    pub(crate) system: SystemPasswords,
    book: RwLock<Book>,
    /// One change after the other, so that what is known follows what is durable.
    changing: tokio::sync::Mutex<()>,
    attempts: Attempts,
    pub(crate) strangers: Strangers,
    hashing: Semaphore,
    recent: Recent,
    /// Of this life of the server.
    salt: String,
    /// Of the link that makes the first admin.
    setup: Mutex<Option<Digest>>,
}

#[derive(Debug, Error)]
pub(crate) enum AuthError {
    #[error("the name or the password is wrong")]
    Wrong,
    #[error("too many attempts: wait {} seconds", .0.as_secs() + 1)]
    Wait(Duration),
    #[error("{0}")]
    Unfit(&'static str),
    #[error("this account is locked")]
    Locked,
    #[error("too many of them: at most {0}")]
    TooMany(usize),
    #[error("there is no such {0}")]
    Missing(&'static str),
    #[error("no randomness is to be had")]
    NoRandomness,
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

/// What a browser gets.
pub(crate) struct LoggedIn {
    /// For the cookie.
    pub(crate) secret: String,
    pub(crate) csrf: String,
    pub(crate) must_change: bool,
}

impl Auth {
    pub(crate) fn load(store: &Store, config: &AuthConfig) -> Result<Auth, StoreError> {
        Ok(Auth {
            config: config.clone(),
            system: SystemPasswords::new(config.pam.clone()),
            book: RwLock::new(Book::load(store)?),
            changing: tokio::sync::Mutex::default(),
            attempts: Attempts::default(),
            strangers: Strangers::default(),
            hashing: Semaphore::new(HASHED_AT_ONCE),
            recent: Recent::default(),
            salt: secret::random().unwrap_or_default(),
            setup: Mutex::default(),
        })
    }

    /// Whose token it is, and what it is good for.
    pub(crate) fn token(&self, secret: &str) -> Option<Token> {
        let token = self.read().tokens.get(&Digest::of(secret)).cloned()?;
        let now = clock::now();
        token.expires_at.is_none_or(|end| now < end).then_some(token)
    }

    pub(crate) async fn session(&self, handle: &Handle, secret: &str) -> Option<Session> {
        let session = self.read().sessions.get(&Digest::of(secret)).cloned()?;
        let now = clock::now();
        if !self.is_alive(&session, now) {
            return None;
        }
        if now.since(session.seen_at) > self.seen_every() {
            let seen = Session { seen_at: now, ..session.clone() };
            // It is good all the same if that cannot be written.
            let _ = self.change(handle, vec![Change::Session(seen)], None).await;
        }
        Some(session)
    }

    pub(crate) fn has_session(&self, session: &Digest) -> bool {
        self.read().sessions.contains_key(session)
    }

    pub(crate) fn must_change_password(&self, user: UserId) -> bool {
        self.read().passwords.get(&user).is_some_and(|password| password.must_change)
    }

    pub(crate) fn has_password(&self, user: UserId) -> bool {
        self.read().passwords.contains_key(&user)
    }

    /// `user` is the account of that name, if there is one.
    pub(crate) async fn log_in(
        &self,
        handle: &Handle,
        user: Option<&User>,
        (name, password): (&str, &str),
        (address, browser): (Option<IpAddr>, &str),
    ) -> Result<LoggedIn, AuthError> {
        self.check_password(user, (name, password), address).await?;
        let user = user.ok_or(AuthError::Wrong)?;
        if !user.is_active() {
            return Err(AuthError::Locked);
        }
        let origin = origin(address);
        let secret = random()?;
        let now = clock::now();
        let session = Session {
            digest: Digest::of(&secret),
            user: user.id,
            csrf: random()?,
            created_at: now,
            seen_at: now,
            origin: origin.clone(),
            browser: browser.chars().filter(|c| !c.is_control()).take(200).collect(),
        };
        let csrf = session.csrf.clone();
        let mut changes = self.sessions_to_forget(user.id, now);
        changes.push(Change::Session(session));
        let deed = deed((&user.name, &origin), "log in", String::new());
        self.change(handle, changes, Some(deed)).await?;
        Ok(LoggedIn { secret, csrf, must_change: self.must_change_password(user.id) })
    }

    /// Counts the attempt, and makes whoever guesses wait.
    pub(crate) async fn check_password(
        &self,
        user: Option<&User>,
        (name, password): (&str, &str),
        address: Option<IpAddr>,
    ) -> Result<(), AuthError> {
        if let Some(wait) = self.attempts.wait(name, address) {
            return Err(AuthError::Wait(wait));
        }
        let kept = user.and_then(|user| Some(self.read().passwords.get(&user.id)?.hash.clone()));
        let given = password.to_owned();
        let fits = self.hash(move || password::fits(&given, kept.as_deref())).await;
        let same = user.is_none_or(|user| user.os_name() == name);
        if fits != Some(true) && !(same && self.system.fits(name, password).await) {
            self.attempts.failed(name, address);
            return Err(AuthError::Wrong);
        }
        self.attempts.succeeded(name, address);
        Ok(())
    }

    /// The same for who says it with every request: what was right a moment ago still is.
    pub(crate) async fn check_password_again(
        &self,
        user: Option<&User>,
        (name, password): (&str, &str),
        address: Option<IpAddr>,
    ) -> Result<(), AuthError> {
        let kept = user.and_then(|user| Some(self.read().passwords.get(&user.id)?.hash.clone()));
        let proof = kept.map(|kept| Digest::of(&format!("{}\0{kept}\0{password}", self.salt)));
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
        (by, keep): (&Asker, Option<&Digest>),
    ) -> Result<(), AuthError> {
        Auth::check_new_password(name, password)?;
        let given = password.to_owned();
        let hash = self.hash(move || password::hash(&given)).await.flatten();
        let hash = hash.ok_or(AuthError::NoRandomness)?;
        let mut changes: Vec<Change> = self
            .sessions_of(user)
            .into_iter()
            .filter(|session| Some(&session.digest) != keep)
            .map(|session| Change::NoSession(session.digest))
            .collect();
        changes.push(Change::Password(Password { user, hash, must_change }));
        let deed = deed((&by.name, &by.origin), "set password of", format!("user {name}"));
        Ok(self.change(handle, changes, Some(deed)).await?)
    }

    pub(crate) fn check_new_password(name: &str, password: &str) -> Result<(), AuthError> {
        password::objection(name, password).map_or(Ok(()), |what| Err(AuthError::Unfit(what)))
    }

    /// One that a person types once, and has to change then.
    pub(crate) fn one_time_password() -> Result<String, AuthError> {
        secret::one_time_password().map_err(|_| AuthError::NoRandomness)
    }

    /// A locked or removed account has nothing left that lets anybody in.
    pub(crate) async fn throw_out(
        &self,
        handle: &Handle,
        user: UserId,
        password_too: bool,
    ) -> Result<(), NotNow> {
        let sessions = self.sessions_of(user).into_iter();
        let mut changes: Vec<Change> =
            sessions.map(|session| Change::NoSession(session.digest)).collect();
        let tokens = self.tokens_of(user).into_iter();
        changes.extend(tokens.map(|token| Change::NoToken(token.digest)));
        if password_too && self.has_password(user) {
            changes.push(Change::NoPassword(user));
        }
        if changes.is_empty() { Ok(()) } else { self.change(handle, changes, None).await }
    }

    /// The token itself is told this once.
    pub(crate) async fn new_token(
        &self,
        handle: &Handle,
        user: UserId,
        (name, scope, lifetime): (String, Scope, Option<Span>),
        by: &Asker,
    ) -> Result<(String, Token), AuthError> {
        if self.tokens_of(user).len() >= TOKENS_PER_USER {
            return Err(AuthError::TooMany(TOKENS_PER_USER));
        }
        let secret = format!("danlu_{}", random()?);
        let created_at = clock::now();
        let token = Token {
            digest: Digest::of(&secret),
            user,
            name: name.clone(),
            scope,
            created_at,
            expires_at: lifetime.map(|span| created_at + span),
        };
        let deed = deed((&by.name, &by.origin), "make", format!("token {name}"));
        self.change(handle, vec![Change::Token(token.clone())], Some(deed)).await?;
        Ok((secret, token))
    }

    pub(crate) fn tokens_of(&self, user: UserId) -> Vec<Token> {
        let book = self.read();
        oldest_first(book.tokens.values().filter(|token| token.user == user), |it| it.created_at)
    }

    /// By its name or the beginning of its digest.
    pub(crate) async fn revoke_token(
        &self,
        handle: &Handle,
        user: UserId,
        which: &str,
        by: &Asker,
    ) -> Result<(), AuthError> {
        let tokens = self.tokens_of(user);
        let matches = |token: &&Token| token.name == which || token.digest.short() == which;
        let found: Vec<Change> =
            tokens.iter().filter(matches).map(|it| Change::NoToken(it.digest.clone())).collect();
        if found.is_empty() {
            return Err(AuthError::Missing("token"));
        }
        let deed = deed((&by.name, &by.origin), "revoke", format!("token {which}"));
        Ok(self.change(handle, found, Some(deed)).await?)
    }

    pub(crate) fn sessions_of(&self, user: UserId) -> Vec<Session> {
        let book = self.read();
        oldest_first(book.sessions.values().filter(|it| it.user == user), |it| it.created_at)
    }

    pub(crate) async fn end_session(
        &self,
        handle: &Handle,
        user: UserId,
        which: &str,
        by: &Asker,
    ) -> Result<(), AuthError> {
        let sessions = self.sessions_of(user);
        let found = sessions.iter().find(|session| session.digest.short() == which);
        let found = found.ok_or(AuthError::Missing("session"))?;
        let deed = deed((&by.name, &by.origin), "log out", String::new());
        let change = Change::NoSession(found.digest.clone());
        Ok(self.change(handle, vec![change], Some(deed)).await?)
    }

    /// About what somebody wants mail.
    pub(crate) fn notify(&self, user: UserId) -> Notify {
        self.read().notices.get(&user).copied().unwrap_or_default()
    }

    pub(crate) async fn set_notify(
        &self,
        handle: &Handle,
        user: UserId,
        wanted: Notify,
        by: &Asker,
    ) -> Result<(), NotNow> {
        let deed = deed((&by.name, &by.origin), "choose notices of", format!("user {}", by.name));
        self.change(handle, vec![Change::Notice(Notice { user, wanted })], Some(deed)).await
    }

    /// The key of the link with which the first admin is made.
    pub(crate) fn open_setup(&self) -> Option<String> {
        let key = random().ok()?;
        *self.setup.lock().unwrap_or_else(PoisonError::into_inner) = Some(Digest::of(&key));
        Some(key)
    }

    pub(crate) fn is_setup_key(&self, key: &str) -> bool {
        let setup = self.setup.lock().unwrap_or_else(PoisonError::into_inner);
        setup.as_ref() == Some(&Digest::of(key))
    }

    /// It was good once.
    pub(crate) fn close_setup(&self) {
        *self.setup.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn change(
        &self,
        handle: &Handle,
        changes: Vec<Change>,
        deed: Option<Deed>,
    ) -> Result<(), NotNow> {
        let _one_at_a_time = self.changing.lock().await;
        handle.keep(changes.iter().map(Change::stored).collect(), deed).await?;
        let mut book = self.book.write().unwrap_or_else(PoisonError::into_inner);
        changes.into_iter().for_each(|change| book.apply(change));
        Ok(())
    }

    /// Not on the thread that serves everybody.
    async fn hash<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _turn = self.hashing.acquire().await.ok()?;
        tokio::task::spawn_blocking(work).await.ok()
    }

    /// Those that are over, and the oldest if there are too many.
    fn sessions_to_forget(&self, user: UserId, now: Time) -> Vec<Change> {
        let sessions = self.sessions_of(user);
        let (alive, over): (Vec<Session>, Vec<Session>) =
            sessions.into_iter().partition(|session| self.is_alive(session, now));
        let too_many = (alive.len() + 1).saturating_sub(SESSIONS_PER_USER);
        let gone = over.into_iter().chain(alive.into_iter().take(too_many));
        gone.map(|session| Change::NoSession(session.digest)).collect()
    }

    fn is_alive(&self, session: &Session, now: Time) -> bool {
        now.since(session.seen_at) < self.config.session_idle
            && now.since(session.created_at) < self.config.session_longest
    }

    /// How often that a session was used is written down.
    fn seen_every(&self) -> Span {
        SEEN_EVERY.min(Span(self.config.session_idle.0 / 4))
    }

    /// A browser need not keep its cookie for longer.
    pub(crate) fn longest_session(&self) -> Span {
        self.config.session_longest
    }

    fn read(&self) -> RwLockReadGuard<'_, Book> {
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

fn deed((user, origin): (&str, &str), act: &'static str, target: String) -> Deed {
    Deed { user: user.to_owned(), origin: origin.to_owned(), act, target, detail: String::new() }
}

/// As the audit log says it.
pub(crate) fn origin(address: Option<IpAddr>) -> String {
    address.map_or_else(|| String::from("socket"), |address| address.to_string())
}

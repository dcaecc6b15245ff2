//! Browser sessions: they expire when unused, and after some weeks in any case.

use super::records::{AccountChange, Session};
use super::secret::SecretHash;
use super::{Auth, AuthError, deed, oldest_first, origin, random};
use crate::daemon::clock;
use crate::daemon::handle::{Asker, Handle};
use danlu_core::{Span, Time, User, UserId};
use danlu_messages::acts::Act;
use std::net::IpAddr;

/// Interval at which the use of a session is stored; shorter for short sessions.
const SEEN_EVERY: Span = Span::from_secs(3_600);
const SESSIONS_PER_USER: usize = 50;

/// What a browser gets.
pub(crate) struct LoggedIn {
    /// For the cookie.
    pub(crate) secret: String,
    pub(crate) csrf: String,
    pub(crate) must_change: bool,
}

impl Auth {
    /// `user` is the account of that name, if there is one.
    pub(crate) async fn log_in(
        &self,
        handle: &Handle,
        user: Option<&User>,
        (name, password): (&str, &str),
        (address, browser, os_user): (Option<IpAddr>, &str, Option<u32>),
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
            digest: SecretHash::of(&secret),
            user: user.id,
            csrf: random()?,
            created_at: now,
            seen_at: now,
            origin: origin.clone(),
            browser: browser.chars().filter(|c| !c.is_control()).take(200).collect(),
            os_user,
        };
        let csrf = session.csrf.clone();
        let mut changes = self.sessions_to_forget(user.id, now);
        changes.push(AccountChange::Session(session));
        let deed = deed((&user.name, &origin), Act::LogIn, String::new());
        self.change(handle, changes, Some(deed)).await?;
        Ok(LoggedIn { secret, csrf, must_change: self.must_change_password(user.id) })
    }

    pub(crate) async fn session(&self, handle: &Handle, secret: &str) -> Option<Session> {
        let session = self.read().sessions.get(&SecretHash::of(secret)).cloned()?;
        let now = clock::now();
        if !self.is_alive(&session, now) {
            return None;
        }
        if now.since(session.seen_at) > self.seen_every() {
            let seen = Session { seen_at: now, ..session.clone() };
            // The session is valid even if this cannot be stored.
            let _ = self.change(handle, vec![AccountChange::Session(seen)], None).await;
        }
        Some(session)
    }

    /// A session with an open page is in use, regardless of the stored time.
    pub(crate) fn has_session(&self, session: &SecretHash) -> bool {
        let longest = self.config.session_longest;
        let lives = |session: &Session| clock::now().since(session.created_at) < longest;
        self.read().sessions.get(session).is_some_and(lives)
    }

    pub(crate) fn sessions_of(&self, user: UserId) -> Vec<Session> {
        let book = self.read();
        oldest_first(book.sessions.values().filter(|it| it.user == user), |it| it.created_at)
    }

    /// Sessions that are still valid.
    pub(crate) fn open_sessions_of(&self, user: UserId) -> Vec<Session> {
        let now = clock::now();
        let mut sessions = self.sessions_of(user);
        sessions.retain(|session| self.is_alive(session, now));
        sessions
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
        let found = found.ok_or(AuthError::NoSuchSession)?;
        let deed = deed((&by.name, &by.origin), Act::LogOut, String::new());
        let change = AccountChange::NoSession(found.digest.clone());
        Ok(self.change(handle, vec![change], Some(deed)).await?)
    }

    /// A browser need not keep its cookie for longer.
    pub(crate) fn longest_session(&self) -> Span {
        self.config.session_longest
    }

    /// Expired sessions, and the oldest if there are too many.
    fn sessions_to_forget(&self, user: UserId, now: Time) -> Vec<AccountChange> {
        let sessions = self.sessions_of(user);
        let (alive, over): (Vec<Session>, Vec<Session>) =
            sessions.into_iter().partition(|session| self.is_alive(session, now));
        let too_many = (alive.len() + 1).saturating_sub(SESSIONS_PER_USER);
        let gone = over.into_iter().chain(alive.into_iter().take(too_many));
        gone.map(|session| AccountChange::NoSession(session.digest)).collect()
    }

    fn is_alive(&self, session: &Session, now: Time) -> bool {
        now.since(session.seen_at) < self.config.session_idle
            && now.since(session.created_at) < self.config.session_longest
    }

    /// How often that a session was used is written down.
    fn seen_every(&self) -> Span {
        SEEN_EVERY.min(Span(self.config.session_idle.0 / 4))
    }
}

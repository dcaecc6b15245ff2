//! API tokens. Only their hashes are stored.

use super::records::{AccountChange, Token};
use super::secret::SecretHash;
use super::{Auth, AuthError, deed, oldest_first, random};
use crate::daemon::clock;
use crate::daemon::handle::{Asker, Handle};
use danlu_core::{Span, UserId};
use danlu_messages::acts::Act;
use danlu_wire::api::Scope;

const TOKENS_PER_USER: usize = 200;

impl Auth {
    /// The token itself is returned this once.
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
            digest: SecretHash::of(&secret),
            user,
            name: name.clone(),
            scope,
            created_at,
            expires_at: lifetime.map(|span| created_at + span),
        };
        let deed = deed((&by.name, &by.origin), Act::Make, format!("token {name}"));
        self.change(handle, vec![AccountChange::Token(token.clone())], Some(deed)).await?;
        Ok((secret, token))
    }

    /// Whose token it is, and what it is good for.
    pub(crate) fn token(&self, secret: &str) -> Option<Token> {
        let token = self.read().tokens.get(&SecretHash::of(secret)).cloned()?;
        is_good(&token).then_some(token)
    }

    /// Neither revoked nor expired.
    pub(crate) fn has_token(&self, digest: &SecretHash) -> bool {
        self.read().tokens.get(digest).is_some_and(is_good)
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
        let found: Vec<AccountChange> = tokens
            .iter()
            .filter(matches)
            .map(|it| AccountChange::NoToken(it.digest.clone()))
            .collect();
        if found.is_empty() {
            return Err(AuthError::NoSuchToken);
        }
        let deed = deed((&by.name, &by.origin), Act::Revoke, format!("token {which}"));
        Ok(self.change(handle, found, Some(deed)).await?)
    }
}

fn is_good(token: &Token) -> bool {
    let now = clock::now();
    token.expires_at.is_none_or(|end| now < end)
}

//! Generated secrets. They have enough entropy that a plain hash of them is safe to store.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The SHA-256 of a secret, which is what is stored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct SecretHash(String);

impl SecretHash {
    pub(crate) fn of(secret: &str) -> SecretHash {
        let bytes = Sha256::digest(secret.as_bytes());
        SecretHash(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Enough to tell it from the others, and no help in guessing the secret.
    pub(crate) fn short(&self) -> &str {
        // People give it to commands, for which a dash at the front is an option.
        let shown = self.0.trim_start_matches('-');
        shown.get(..10).unwrap_or(shown)
    }
}

impl fmt::Display for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// 256 bits, in letters that go into addresses and cookies. Not with a dash at the front, which commands take for an option.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    loop {
        getrandom::fill(&mut bytes)?;
        let secret = URL_SAFE_NO_PAD.encode(bytes);
        if !secret.starts_with('-') {
            return Ok(secret);
        }
    }
}

/// For a person to type once: letters and digits that are not mistaken for each other.
pub(crate) fn one_time_password() -> Result<String, getrandom::Error> {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789_";
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_known_by_their_digest() {
        let (a, b) = (random().expect("randomness"), random().expect("randomness"));
        assert_ne!(a, b);
        assert_eq!(SecretHash::of(&a), SecretHash::of(&a));
        assert_ne!(SecretHash::of(&a), SecretHash::of(&b));
        assert!((0..1_000).all(|_| !random().expect("randomness").starts_with('-')));
        assert!(
            (0..1_000).all(|number| !SecretHash::of(&number.to_string()).short().starts_with('-'))
        );
        assert_eq!(one_time_password().expect("randomness").len(), 16);
    }
}

//! Passwords: the minimum requirements, and hashing (argon2id).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use danlu_messages::errors;
use std::sync::LazyLock;

pub(crate) const SHORTEST: usize = 8;
/// Longer passwords only cost time.
pub(crate) const LONGEST: usize = 1024;

/// What is wrong with it, if anything is.
pub(crate) fn objection(name: &str, password: &str) -> Option<&'static str> {
    if password.chars().count() < SHORTEST {
        return Some(errors::password_too_short());
    }
    if password.len() > LONGEST {
        return Some(errors::password_too_long());
    }
    let same = password.eq_ignore_ascii_case(name);
    same.then_some(errors::password_is_name())
}

/// Slow on purpose: not to be called on a thread that serves requests.
pub(crate) fn hash(password: &str) -> Option<String> {
    Argon2::default().hash_password(password.as_bytes()).ok().map(|hash| hash.to_string())
}

/// Takes as long for an account that does not exist, or has no password, as for a wrong password.
pub(crate) fn fits(password: &str, hash: Option<&str>) -> bool {
    static NOBODYS: LazyLock<String> = LazyLock::new(|| self::hash("nobody").unwrap_or_default());
    let parsed = PasswordHash::new(hash.unwrap_or(&NOBODYS));
    let fits = parsed.is_ok_and(|parsed| {
        Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()
    });
    fits && hash.is_some() && password.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_fits() {
        let kept = hash("correct horse").expect("it can be hashed");
        assert!(kept.starts_with("$argon2id$"), "{kept}");
        assert!(fits("correct horse", Some(&kept)));
        assert!(!fits("correct horse ", Some(&kept)));
        assert!(!fits("nobody", None));
    }

    #[test]
    fn short_ones_and_the_name_itself_are_refused() {
        assert!(objection("ann", "short").is_some());
        assert!(objection("annabelle", "Annabelle").is_some());
        assert!(objection("ann", &"x".repeat(2000)).is_some());
        assert_eq!(objection("ann", "long enough"), None);
        assert_eq!(objection("ann", "密码密码密码密码"), None);
    }
}

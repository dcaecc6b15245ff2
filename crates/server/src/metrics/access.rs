//! Who may read `/metrics` without an account: holders of the token, and machines at listed addresses.

use crate::daemon::config::{AddressRange, MetricsConfig};
use crate::notify::{SecretError, SecretText};
use sha2::{Digest as _, Sha256};
use std::net::IpAddr;

#[derive(Debug, Default)]
pub(crate) struct MetricsAccess {
    token: Option<SecretText>,
    allow: Vec<AddressRange>,
    pub(crate) per_user: bool,
}

impl MetricsAccess {
    pub(crate) fn open(config: &MetricsConfig) -> Result<MetricsAccess, SecretError> {
        let token = config.token.as_ref().map(SecretText::read).transpose()?;
        Ok(MetricsAccess { token, allow: config.allow.clone(), per_user: config.per_user })
    }

    pub(crate) fn admits(&self, bearer: Option<&str>, address: Option<IpAddr>) -> bool {
        let by_token = self.token.as_ref().zip(bearer);
        by_token.is_some_and(|(token, given)| is_same(token.as_str(), given))
            || address.is_some_and(|it| self.allow.iter().any(|range| range.contains(it)))
    }
}

/// Takes as long for a token that is nearly right as for any other.
fn is_same(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::config::SecretSource;

    fn access(token: Option<&str>, allow: &[&str]) -> MetricsAccess {
        let allow = allow.iter().map(|it| AddressRange::parse(it).expect("a range")).collect();
        let token = token.map(|text| SecretSource::Here(text.to_owned()));
        MetricsAccess::open(&MetricsConfig { token, allow, ..MetricsConfig::default() })
            .expect("it can be opened")
    }

    #[test]
    fn a_token_or_an_address_suffices_and_nothing_admits_nobody() {
        let from = |text: &str| Some(text.parse().expect("an address"));
        let both = access(Some("key"), &["10.0.0.0/8", "::1"]);
        assert!(both.admits(Some("key"), from("192.0.2.1")));
        assert!(both.admits(None, from("10.9.8.7")));
        assert!(both.admits(Some("wrong"), from("::ffff:10.9.8.7")), "of the same network");
        assert!(both.admits(None, from("::1")));
        assert!(!both.admits(Some("Key"), from("11.0.0.1")));
        assert!(!both.admits(None, None), "the local socket knows who asks");
        let none = access(None, &[]);
        assert!(!none.admits(Some(""), from("127.0.0.1")));
    }
}

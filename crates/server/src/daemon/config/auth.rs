//! `[auth]`: log-in over the network and lifetime of sessions.

use super::ConfigError;
use danlu_core::Span;
use serde::Deserialize;
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthConfig {
    /// A browser that has not been seen for so long has to log in again …
    pub session_idle: Span,
    /// … and every browser after so long.
    pub session_longest: Span,
    /// The PAM service that checks passwords of OS users; `None`: PAM is not used.
    pub pam: Option<String>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpAddr>,
}

impl Default for AuthConfig {
    fn default() -> AuthConfig {
        AuthConfig {
            session_idle: Span::from_secs(3 * 86_400),
            session_longest: Span::from_secs(30 * 86_400),
            pam: None,
            trusted_proxies: Vec::new(),
        }
    }
}

/// `[auth] session_idle = "3d"`, `session_longest = "30d"`, `pam = true`, `pam_service = "danlu"`,
/// `trusted_proxies = ["10.0.0.1"]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AuthInFile {
    pub(super) session_idle: Option<String>,
    pub(super) session_longest: Option<String>,
    pub(super) pam: bool,
    pub(super) pam_service: Option<String>,
    pub(super) trusted_proxies: Vec<IpAddr>,
}

impl AuthInFile {
    pub(super) fn parse(self, from: &str) -> Result<AuthConfig, ConfigError> {
        let usual = AuthConfig::default();
        let span = |key, given: Option<String>, usual| {
            let Some(given) = given else { return Ok(usual) };
            let span = crate::given::duration::parse_span(&given);
            let wrong =
                || ConfigError::Auth { path: PathBuf::from(from), key, value: given.clone() };
            span.filter(|span| *span >= SHORTEST_SESSION).ok_or_else(wrong)
        };
        let service = self.pam_service.unwrap_or_else(|| String::from("danlu"));
        Ok(AuthConfig {
            session_idle: span("session_idle", self.session_idle, usual.session_idle)?,
            session_longest: span("session_longest", self.session_longest, usual.session_longest)?,
            pam: self.pam.then_some(service),
            trusted_proxies: self.trusted_proxies.iter().map(IpAddr::to_canonical).collect(),
        })
    }
}

/// Less time than this does not suffice to read a page.
const SHORTEST_SESSION: Span = Span::from_secs(1);

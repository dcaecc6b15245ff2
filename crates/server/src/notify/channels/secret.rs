//! Secrets of channels, from the configuration, a file or a variable. They are never printed.

use crate::daemon::config::SecretSource;
use danlu_messages::notify::config as msg;
use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretText(String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText")
    }
}

#[derive(Debug, Error)]
pub enum SecretError {
    #[error("{}", msg::unreadable_secret(&path.display(), error))]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{}", msg::secret_open_to_others(&path.display()))]
    OpenToOthers { path: PathBuf },
    #[error("{}", msg::secret_empty(&path.display()))]
    Empty { path: PathBuf },
    #[error("{}", msg::variable_unset(name))]
    Unset { name: String },
    #[error("{}", msg::bad_certificates(&path.display()))]
    Certificates { path: PathBuf },
}

/// Longer than any key or token.
const MOST_BYTES: u64 = 64 << 10;

impl SecretText {
    pub(crate) fn read(source: &SecretSource) -> Result<SecretText, SecretError> {
        match source {
            SecretSource::Here(text) => Ok(SecretText(text.clone())),
            SecretSource::Variable(name) => match std::env::var(name) {
                Ok(text) if !text.is_empty() => Ok(SecretText(text)),
                _ => Err(SecretError::Unset { name: name.clone() }),
            },
            SecretSource::File(path) => {
                let unreadable = |error| SecretError::Unreadable { path: path.clone(), error };
                let file = std::fs::File::open(path).map_err(unreadable)?;
                let facts = file.metadata().map_err(unreadable)?;
                if facts.permissions().mode() & 0o077 != 0 {
                    return Err(SecretError::OpenToOthers { path: path.clone() });
                }
                let mut text = String::new();
                file.take(MOST_BYTES).read_to_string(&mut text).map_err(unreadable)?;
                match text.trim() {
                    "" => Err(SecretError::Empty { path: path.clone() }),
                    text => Ok(SecretText(text.to_owned())),
                }
            }
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

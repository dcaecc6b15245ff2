//! What the configuration needs from secret files and variables, read before any of it takes effect.

use crate::daemon::config::Config;
use crate::metrics::MetricsAccess;
use crate::notify::{Channels, SecretError};

#[derive(Debug)]
pub(crate) struct Secrets {
    pub(crate) channels: Channels,
    pub(crate) metrics: MetricsAccess,
}

impl Secrets {
    pub(crate) fn open(config: &Config) -> Result<Secrets, SecretError> {
        Ok(Secrets {
            channels: Channels::open(&config.notify)?,
            metrics: MetricsAccess::open(&config.metrics)?,
        })
    }
}

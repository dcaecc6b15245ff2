//! What the configuration needs from secret files and variables, read before any of it takes effect.

use crate::daemon::config::Config;
use crate::metrics::{InfluxTarget, MetricsAccess};
use crate::notify::{Channels, SecretError};

#[derive(Debug)]
pub(crate) struct Secrets {
    pub(crate) channels: Channels,
    pub(crate) metrics: MetricsAccess,
    pub(crate) influx: Vec<InfluxTarget>,
}

impl Secrets {
    pub(crate) fn open(config: &Config) -> Result<Secrets, SecretError> {
        Ok(Secrets {
            channels: Channels::open(&config.notify)?,
            metrics: MetricsAccess::open(&config.metrics)?,
            influx: config.influx.iter().map(InfluxTarget::open).collect::<Result<_, _>>()?,
        })
    }
}

//! The daemon process: start and stop, configuration, the engine thread, backups, notices to administrators.

pub(crate) mod archive;
pub(crate) mod archive_line;
mod audit_entry;
pub(crate) mod backup;
pub(crate) mod certificate_dates;
pub(crate) mod clock;
pub mod config;
pub mod data_directory;
pub mod engine;
pub mod handle;
pub mod host_health;
pub(crate) mod log_filter;
mod log_format;
pub(crate) mod logging;
pub mod notices;
mod panic_reports;
pub mod restore;
pub(crate) mod retention;
pub(crate) mod secrets;
pub mod serve;
mod systemd;
pub mod tls;

//! Pages for administrators: users, settings, commands, audit log.

pub(super) mod audit;
pub(super) mod commands;
pub(super) mod notices;
pub(super) mod notify;
pub(super) mod quotas;
pub(super) mod server_log;
mod setting_help;
pub(super) mod settings;
pub(super) mod users;

//! What admins do: users, settings, the audit log.

pub(super) mod audit;
pub(super) mod settings;
pub(super) mod users;

//! One function for each input; `step.rs` is their table of contents.

pub(crate) mod admin;
pub(crate) mod boot;
pub(crate) mod conclude;
pub(crate) mod dependencies;
pub(crate) mod description;
pub(crate) mod extend;
pub(crate) mod gpus;
pub(crate) mod logs;
pub(crate) mod lost;
pub(crate) mod nodes;
pub(crate) mod permission;
pub(crate) mod possible;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod schedule;
pub(crate) mod submit;
pub(crate) mod tasks;
pub(crate) mod unknown;
pub(crate) mod users;

//! The server: stores what `danlu-core` decides, carries it out on the fleet and serves the API and the pages.

pub mod api;
pub mod auth;
mod compat;
pub mod daemon;
pub mod fleet;
mod guard;
pub mod idle;
mod metrics;
pub mod notify;
pub mod read_model;
pub mod reports;
pub mod store;
pub mod usage;
mod web;

use danlu_spec::{input_error, parse, script};

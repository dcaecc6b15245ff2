//! The daemon: what decides is `danlu-core`; what is here stores it, carries it out and serves it.

pub mod api;
pub mod auth;
mod compat;
pub mod daemon;
pub mod fleet;
pub mod read_model;
pub mod store;
mod web;

use danlu_spec::{complaint, given, script};

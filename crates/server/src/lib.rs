//! The daemon: what decides is `danlu-core`; what is here stores it, carries it out and serves it.

pub mod api;
mod archive;
mod audit;
pub mod auth;
pub mod backend;
mod clock;
pub mod config;
pub mod disk;
pub mod engine;
mod environment;
mod epoch;
mod gpuman;
pub mod handle;
mod kept;
mod launch;
mod logging;
mod logs;
pub mod model;
pub mod nodes;
pub mod serve;
pub mod store;
mod systemd;
mod template;
pub mod tls;
mod web;

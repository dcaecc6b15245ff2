//! The daemon: what decides is `danlu-core`; what is here stores it, carries it out and serves it.

pub mod api;
mod archive;
mod audit;
pub mod auth;
pub mod backend;
mod backup;
mod clock;
pub mod config;
pub mod data_directory;
pub mod disk;
pub mod engine;
mod environment;
pub mod epoch;
mod gpuman;
pub mod handle;
mod kept;
mod language;
mod launch;
mod logging;
pub mod logins;
mod logs;
pub mod model;
mod network;
pub mod nodes;
pub mod notices;
mod panics;
pub mod restore;
pub mod serve;
pub mod store;
mod systemd;
mod template;
pub mod tls;
mod web;

use danlu_spec::{input_error, parse, script};

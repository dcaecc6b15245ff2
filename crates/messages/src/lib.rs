//! Every sentence for people, English and Chinese side by side, for the command line, pages and the API.
//!
//! A sentence is a function that returns it in the language of the reader (`Language::current`). Sentences about a value
//! of a domain enum are in modules that match on it exhaustively; all others are in tables, one file for each part of the
//! program.

#[macro_use]
mod table;
#[cfg(test)]
mod every;
mod language;

pub mod acts;
pub mod addresses;
pub mod amounts;
pub mod cli;
pub mod efficiency;
pub mod ends;
pub mod errors;
pub mod idle;
pub mod machines;
pub mod notify;
pub mod reasons;
pub mod refusals;
pub mod reports;
pub mod server;
pub mod sim;
pub mod slurm;
pub mod spec;
pub mod states;
pub mod web;

pub use language::{Language, Speaking};

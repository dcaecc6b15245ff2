//! Sentences of the web.

pub mod acts;
pub mod admin;
pub mod charts;
pub mod gpu_map;
pub mod manual;
pub mod me;
pub mod new;
pub mod nodes;
pub mod page;
pub mod pages;
pub mod reasons;
pub mod reports;
pub mod rows;
pub mod states;
pub mod task;
pub mod tasks;

//! The rules of the core, each by a small scenario. The name of a test says the rule.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test may fail loudly")]

mod accounts;
mod any_input;
mod arrays;
mod auto;
mod balance;
mod binding;
mod cancel;
mod cluster;
mod dependencies;
mod edit;
mod extend;
mod failures;
mod fair;
mod fair_turns;
mod forecast;
mod gangs;
mod gpus;
mod lab;
mod labels;
mod logs;
mod lost;
mod lost_store;
mod managed;
mod named_resources;
mod nodes;
mod order;
mod pause;
mod placement;
mod plans;
mod predictions;
mod preemption;
mod queue_pause;
mod quota;
mod restart;
mod retries;
mod seed_bugs;
mod sharing;
mod slices;
mod starvation;
mod submit;
mod trouble;
mod twins;
mod why;

//! The live screen of `danlu top` and `danlu ls --watch`.
//!
//! `model` is what is shown and what keys do, `draw` makes a frame of it (both pure), `run` has the terminal, the threads
//! and the requests.

mod draw;
mod model;
mod run;

pub(crate) use model::{TaskScope, TopModel, TopScreen, task_pane::PAGE_LINES};
pub(crate) use run::{ListSource, show};

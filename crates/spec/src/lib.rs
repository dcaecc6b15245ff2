//! A task as people write it: on the command line, in the lines of a script, in forms.

pub mod complaint;
pub mod given;
pub mod language;
pub mod script;
pub mod task_options;

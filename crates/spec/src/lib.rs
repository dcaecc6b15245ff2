//! A task as people write it: on the command line, in the lines of a script, in forms and templates, in the JSON of the API.
//! All of them fill one `Patch`; `Field` is the table of its fields.

pub mod field;
pub mod input_error;
pub mod parse;
pub use danlu_messages::Language;
pub mod options;
pub mod patch;
pub mod script;
mod task_name;

pub use field::Field;
pub use options::{NewTaskOptions, TaskOptions};
pub use patch::{Change, Patch, Place};
pub use task_name::name_of;

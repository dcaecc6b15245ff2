//! Labels of the form: from the table of fields, and those of the page itself.

use danlu_messages::web::new as msg;
use danlu_spec::{Field, field};

pub(super) fn label(control: &str) -> &'static str {
    match control {
        "no_shell" => msg::run_without_a_shell(),
        "script" => msg::script(),
        "sharing" => msg::use_of_the_gpus(),
        name => Field::named(name).map_or("", |field| field::label(field)),
    }
}

/// What to type, in one sentence; empty where the label says it all.
pub(super) fn help(control: &str) -> &'static str {
    match control {
        "script" => msg::script_lines_fill_form(),
        name => Field::named(name).map_or("", |field| field::hint(field)),
    }
}

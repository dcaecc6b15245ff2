//! The text in which a task is found.

use danlu_core::Task;

/// Its name, description, command and what its sweep has set, in lower case.
pub(crate) fn searched_text(task: &Task) -> String {
    let spec = &task.spec;
    let mut text = format!("{}\n{}\n{}", spec.name, spec.description, spec.command.join(" "));
    for (name, value) in task.values() {
        text += &format!("\n{name}={value}");
    }
    text.to_lowercase()
}

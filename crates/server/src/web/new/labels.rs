//! What the controls of the form are called: those of fields by the table, and the page's own.

use crate::web::language::Language;
use danlu_spec::{Field, field};

pub(super) fn label(control: &str, language: Language) -> &'static str {
    match control {
        "no_shell" => language.say("Run without a shell", "不经 shell 直接执行"),
        "script" => language.say("Script", "脚本"),
        "sharing" => language.say("Use of the GPUs", "GPU 使用方式"),
        name => Field::named(name).map_or("", |field| field::label(field, language)),
    }
}

/// What to type, in one sentence; empty where the label says it all.
pub(super) fn help(control: &str, language: Language) -> &'static str {
    match control {
        "script" => language.say(
            "#SBATCH and #DANLU lines fill the empty fields of this form.",
            "#SBATCH 与 #DANLU 行会填入表单中的空字段。",
        ),
        name => Field::named(name).map_or("", |field| field::hint(field, language)),
    }
}

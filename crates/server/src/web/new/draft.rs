//! The form as it was typed. An empty field takes its default.

use super::super::form::Sent;
use danlu_spec::field::{Form, InForm, ON};
use danlu_spec::{Field, Patch};

#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) form: Form,
    pub(super) script: String,
    pub(super) no_shell: bool,
}

impl Draft {
    pub(super) fn sent(sent: &Sent) -> Draft {
        let typed = |name: &str| sent.field(name).replace("\r\n", "\n").trim_end().to_owned();
        let mut draft = Draft {
            form: Form::default(),
            script: typed("script"),
            no_shell: !sent.field("no_shell").is_empty(),
        };
        for field in Field::ALL.iter().filter(|field| field.row().form == InForm::Yes) {
            draft.form.set(*field, typed(field.name()));
        }
        draft.choose_sharing(sent.field("sharing"));
        draft
    }

    /// The form filled in with a task; of an array, with one element.
    pub(super) fn of(body: &Patch) -> Draft {
        Draft {
            form: Form::of(&body.clone().only(|key| key != "array")),
            script: String::new(),
            no_shell: body.shell.value() != Some(&true),
        }
    }

    pub(super) fn choose_sharing(&mut self, chosen: &str) {
        for field in [Field::Shared, Field::Exclusive] {
            let text = if field.name() == chosen { ON } else { "" };
            self.form.set(field, text.to_owned());
        }
    }

    /// By the name of a control of the page.
    pub(super) fn get(&self, name: &str) -> &str {
        let on = |is_on: bool| if is_on { ON } else { "" };
        match name {
            "script" => self.script.trim_start_matches('\n'),
            "no_shell" => on(self.no_shell),
            "sharing" => {
                let chosen = [Field::Shared, Field::Exclusive];
                chosen.into_iter().find(|it| self.form.has(*it)).map_or("", Field::name)
            }
            name => Field::named(name).map_or("", |field| self.form.get(field)),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// Whether a part of the form that is folded has something in it.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }
}

//! Converts the fields of the form to the description of a task.

use super::draft::Draft;
use crate::api::ApiError;
use crate::script;
use danlu_messages::web::new as msg;
use danlu_spec::field::{FieldError, InForm, label};
use danlu_spec::{Change, Field, Patch};

/// `base` has what the form does not ask for.
pub(super) fn submit(draft: &Draft, base: Patch) -> Result<Patch, ApiError> {
    described(draft, base)
}

fn described(draft: &Draft, mut base: Patch) -> Result<Patch, ApiError> {
    let (command, shell) = command(draft)?;
    // People write `#12` as they see it.
    let mut form = draft.form.clone();
    let plain = |it: &char| *it != '#' && !it.is_whitespace();
    form.set(Field::After, form.get(Field::After).chars().filter(plain).collect());
    let asked: Vec<Field> = Field::ALL.iter().copied().filter(|it| is_asked(*it)).collect();
    let typed = form.read(&asked).map_err(|it| wrong(&it))?;
    base.replace_with(typed);
    base.command = Change::Set(command);
    base.shell = Change::Set(shell);
    Ok(base)
}

/// The command and its shell have controls of their own.
fn is_asked(field: Field) -> bool {
    let is_shown = !matches!(field.row().form, InForm::No(_));
    is_shown && ![Field::Command, Field::Shell].contains(&field)
}

fn wrong(FieldError { field, text, reason }: &FieldError) -> ApiError {
    let label = label(*field);
    let message = msg::label_cannot_be_text(&label, &text);
    ApiError::bad_request(message, reason)
}

fn command(draft: &Draft) -> Result<(Vec<String>, bool), ApiError> {
    if draft.has("script") {
        return Ok((script::without_file(draft.get("script"))?, false));
    }
    let line = draft.form.get(Field::Command).trim();
    if line.is_empty() {
        let message = msg::no_command_yet();
        let hint = msg::for_example_python_train_py();
        return Err(ApiError::bad_request(message, hint));
    }
    if !draft.no_shell {
        return Ok((vec![line.to_owned()], true));
    }
    let words = shlex::split(line).filter(|words| !words.is_empty());
    words.map(|words| (words, false)).ok_or_else(|| {
        let reason = msg::unclosed_quote().to_owned();
        wrong(&FieldError { field: Field::Command, text: line.to_owned(), reason })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::Language;

    fn typed(field: Field, text: &str) -> Result<Patch, ApiError> {
        let mut draft = Draft::default();
        draft.form.set(Field::Command, "true".to_owned());
        draft.form.set(field, text.to_owned());
        submit(&draft, Patch::default())
    }

    #[test]
    fn lists_in_fields() {
        let variables =
            |text| typed(Field::Env, text).map(|it| it.variables.into_value_or_default());
        assert_eq!(variables("A=1\n\nB=x=y").expect("two").len(), 2);
        assert!(variables("A").is_err());
        let resources =
            |text| typed(Field::Resource, text).map(|it| it.resources.into_value_or_default());
        assert_eq!(resources("licence:2, scratch").expect("two").len(), 2);
        assert!(resources("licence:0").is_err());
        let after = |text| typed(Field::After, text).map(|it| it.dependencies().count());
        assert_eq!(after("#1, 2-4,afterany:9").expect("five"), 5);
        assert!(after("@").is_err());
        assert!(typed(Field::IdleUtil, "101").is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named_in_the_readers_language() {
        let check = |language: Language, words: &str| {
            let mut draft = Draft::default();
            draft.form.set(Field::Command, "true".to_owned());
            draft.form.set(Field::Time, "soon".to_owned());
            let error =
                language.within(|| submit(&draft, Patch::default())).expect_err("it is no time");
            assert!(error.0.hint.contains(words), "{error:?}");
        };
        check(Language::English, "expected a duration such as");
        check(Language::Chinese, "应为时长");
    }
}

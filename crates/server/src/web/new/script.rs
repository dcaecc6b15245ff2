//! A pasted script in the form: its lines count as on the command line, below what was typed.

use super::draft::Draft;
use crate::api::{Api, ApiError};
use crate::input_error::{InputError, InputErrorKind};
use crate::script;
use crate::web::page_context::Visit;
use danlu_core::TaskId;
use danlu_messages::web::new as msg;
use danlu_spec::{Field, Patch, Place};

/// In the language that is spoken when it is made.
impl From<InputError> for ApiError {
    fn from(complaint: InputError) -> ApiError {
        let hint = complaint.hint.unwrap_or_else(|| msg::correct_it().to_owned());
        match complaint.kind {
            InputErrorKind::Usage => ApiError::bad_request(complaint.message, &hint),
            InputErrorKind::Refused => ApiError::refused(complaint.message, &hint),
        }
    }
}

/// What its lines say. Relative paths begin in the directory that the form names.
pub(super) async fn said(api: &Api, visit: &Visit, draft: &Draft) -> Result<Patch, ApiError> {
    let read = async {
        let home = super::home(api, visit);
        let typed = draft.form.get(Field::Dir);
        let directory = if typed.starts_with('/') { typed.to_owned() } else { home.clone() };
        let place = Place { directory: Ok(directory), home };
        let mut lines = script::read(msg::in_script(), draft.get("script"), &place)?;
        let mine = match lines.patch.names_own_tasks() {
            true => api.newest_of(visit.caller.id, MOST_BACK).await?,
            false => Vec::new(),
        };
        let at = lines.after_at.clone();
        lines.patch.resolve_own(|back| own_task(&mine, back, &at))?;
        Ok(lines.patch(draft.has_any(&["array", "grid"])))
    };
    visit.context.language.speaking(read).await
}

/// `@~N` reaches so far back.
const MOST_BACK: usize = 1_000;

fn own_task(mine: &[TaskId], back: u32, at: &str) -> Result<u64, ApiError> {
    mine.get(back as usize).map(|id| id.0).ok_or_else(|| {
        let message = msg::no_task_back(&at, &back);
        ApiError::bad_request(message, msg::name_it_by_its_id())
    })
}

/// Fills the fields of the script into those that the user did not type. `first` is the initial form, for comparison.
/// Returns the fields that were filled.
pub(super) fn lay_under(said: Patch, draft: &Draft, first: &Draft, body: &mut Patch) -> Vec<Field> {
    let is_typed = |field: &Field| {
        let (now, before) = (draft.form.get(*field), first.form.get(*field));
        !now.is_empty() && now != before
    };
    let typed: Vec<&str> =
        Field::ALL.iter().filter(|it| is_typed(it)).flat_map(|it| it.row().keys).copied().collect();
    let mut filled: Vec<Field> = Patch::KEYS
        .iter()
        .filter(|key| !typed.contains(key))
        .filter_map(|key| of(key, &said))
        .collect();
    filled.sort_unstable();
    filled.dedup();
    let mut under = said.clone().only(|key| typed.contains(&key));
    under.lay_over(body.clone().only(|key| typed.contains(&key)).without_defaults());
    body.replace_with(under);
    body.lay_over(said.only(|key| !typed.contains(&key)));
    filled
}

/// The field that says this key; of several the one that has a text.
fn of(key: &str, said: &Patch) -> Option<Field> {
    if !said.says(key) {
        return None;
    }
    let has_text =
        |field: &Field| field.row().text.is_some_and(|text| !(text.write)(said).is_empty());
    Field::with_key(key).find(has_text).or_else(|| Field::with_key(key).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(source: &str, typed: &[(Field, &str)]) -> (Patch, Vec<&'static str>) {
        let first = Draft::default();
        let mut draft = first.clone();
        for (field, value) in typed {
            draft.form.set(*field, (*value).to_owned());
        }
        let home = "/home/ann".to_owned();
        let place = Place { directory: Ok(home.clone()), home };
        let lines = script::read("it", source, &place).expect("it is understood");
        draft.form.set(Field::Command, "true".to_owned());
        let mut body =
            super::super::describe::submit(&draft, Patch::default()).expect("it is typed well");
        let filled = lay_under(lines.patch(false), &draft, &first, &mut body);
        (body, filled.into_iter().map(Field::name).collect())
    }

    #[test]
    fn what_is_typed_counts_more_than_the_script() {
        let source = "#SBATCH --gres=gpu:a100:2 --mem=4096 -t 1:00:00\n#DANLU --label a=1 --label b=2 --hold --retries 0\n";
        let (body, filled) = laid(source, &[(Field::Time, "5m"), (Field::Label, "b=3\nc=4")]);
        let model = body.gpu_model.value().map(String::as_str);
        assert_eq!((body.gpus.value(), model), (Some(&2), Some("a100")));
        assert_eq!((body.memory.value(), body.time_limit.value()), (Some(&(4 << 30)), Some(&300)));
        assert_eq!((body.hold.value(), body.retries.value()), (Some(&true), Some(&0)));
        let labels = body.labels.into_value_or_default();
        let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(labels, ["a=1", "b=3", "c=4"]);
        assert_eq!(filled, ["gpus", "mem", "retries", "variables", "hold"]);
    }

    #[test]
    fn one_file_that_is_typed_leaves_the_others_to_the_script() {
        let source = "#DANLU --stdout out.txt --gpu-env uuid --output both.log\n";
        let (body, _) = laid(source, &[(Field::Output, "mine.log")]);
        assert_eq!(body.gpus_by_uuid.value(), Some(&true));
        assert_eq!(body.output().both.as_deref(), Some("mine.log"));
        assert!(body.output().stdout.is_some());
    }
}

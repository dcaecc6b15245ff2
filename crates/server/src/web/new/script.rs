//! A pasted script on the page: its lines count as the command line counts them, under what somebody typed.

use super::draft::Draft;
use crate::api::{Api, ApiError};
use crate::complaint::{Complaint, ComplaintKind};
use crate::given::task_ids::TaskName;
use crate::language::{say, text};
use crate::script;
use crate::task_options::{Fields, Submitter};
use crate::web::look::Visit;
use danlu_wire::api::Submit;
use serde_json::Value;

/// Somebody at the form: relative paths begin in the directory that it names.
pub(super) struct AtTheForm<'a> {
    pub(super) api: &'a Api,
    pub(super) visit: &'a Visit,
    pub(super) directory: &'a str,
}

impl Submitter for AtTheForm<'_> {
    type Error = ApiError;

    fn directory(&self) -> Result<String, ApiError> {
        Ok(if self.directory.starts_with('/') { self.directory.to_owned() } else { self.home() })
    }

    fn home(&self) -> String {
        super::home(self.api, self.visit)
    }

    fn task(&self, name: TaskName) -> Result<u64, ApiError> {
        let back = match name {
            TaskName::Id(id) | TaskName::Range(id, _) => return Ok(id),
            TaskName::Mine(back) => back,
        };
        let model = self.api.handle.model();
        let mut mine = model.tasks.values().rev().filter(|it| it.owner == self.visit.caller.id);
        let found = mine.nth(back as usize).map(|task| task.id.0);
        found.ok_or_else(|| {
            let message =
                say!("you have no task that `@~{back}` stands for", "您没有 `@~{back}` 所指的任务");
            ApiError::bad_request(message, text("name it by its id", "请写任务编号"))
        })
    }

    fn at(place: &str, mut error: ApiError) -> ApiError {
        error.0.message.insert_str(0, place);
        error
    }
}

/// In the language that is spoken when it is made.
impl From<Complaint> for ApiError {
    fn from(complaint: Complaint) -> ApiError {
        let hint = complaint.hint.unwrap_or_else(|| text("correct it", "请更正").to_owned());
        match complaint.kind {
            ComplaintKind::Usage => ApiError::bad_request(complaint.message, &hint),
            ComplaintKind::Refused => ApiError::refused(complaint.message, &hint),
        }
    }
}

pub(super) fn fields(draft: &Draft, form: &AtTheForm<'_>) -> Result<Fields, ApiError> {
    let language = form.visit.look.language;
    language.within(|| {
        let lines = script::read(text("the script,", "脚本"), draft.get("script"), form)?;
        Ok(lines.fields(draft.has_any(&["array", "grid"])))
    })
}

/// Puts what the script says where nobody has typed anything else. `first` is the form as it was at first, which
/// nobody typed. Says which fields were filled.
pub(super) fn lay_under(
    mut said: Fields,
    draft: &Draft,
    first: &Draft,
    body: Submit,
) -> Result<(Submit, Vec<&'static str>), ApiError> {
    let mut filled = Vec::new();
    let Ok(Value::Object(mut whole)) = serde_json::to_value(body) else { return Err(odd()) };
    for (fields, names) in STAND_FOR {
        let is_typed =
            fields.iter().any(|field| draft.has(field) && draft.get(field) != first.get(field));
        for name in *names {
            let Some(value) = said.remove(*name) else { continue };
            if !is_typed {
                filled.push(if is_of_the_last(&value) {
                    fields[fields.len() - 1]
                } else {
                    fields[0]
                });
            }
            let before = whole.remove(*name);
            let value = match (before, value) {
                (Some(Value::Object(typed)), Value::Object(said)) if MAPS.contains(name) => {
                    let (mut under, over) = if is_typed { (said, typed) } else { (typed, said) };
                    under.extend(over.into_iter().filter(|(_, value)| !value.is_null()));
                    Value::Object(under)
                }
                (Some(typed), _) if is_typed => typed,
                (_, said) => said,
            };
            whole.insert((*name).to_owned(), value);
        }
    }
    filled.dedup();
    // What the form does not ask for.
    whole.extend(said);
    let body = serde_json::from_value(Value::Object(whole)).map_err(|_| odd())?;
    Ok((body, filled))
}

/// Which fields of the form are about which fields of a task.
const STAND_FOR: &[(&[&str], &[&str])] = &[
    (&["name"], &["name"]),
    (&["description"], &["description"]),
    (&["project"], &["project"]),
    (&["labels"], &["labels"]),
    (&["directory"], &["directory"]),
    (&["variables"], &["variables"]),
    (&["conda", "venv"], &["python"]),
    (&["gpus"], &["gpus", "gpu_model"]),
    (&["sharing"], &["shared", "exclusive"]),
    (&["vram"], &["gpu_memory"]),
    (&["idle_util"], &["idle_util"]),
    (&["gpu_ids"], &["gpu_ids"]),
    (&["node"], &["node"]),
    (&["nodes"], &["nodes"]),
    (&["prefer"], &["prefer"]),
    (&["cpus"], &["cpus"]),
    (&["mem"], &["memory"]),
    (&["resources"], &["resources"]),
    (&["time"], &["time_limit"]),
    (&["begin"], &["begin"]),
    (&["priority"], &["priority"]),
    (&["urgent"], &["urgent"]),
    (&["preemptible"], &["preemptible"]),
    (&["hold"], &["hold"]),
    (&["retries"], &["retries", "retry_on"]),
    (&["after"], &["after"]),
    (&["array", "grid"], &["array"]),
    (&["output"], &["output"]),
    (&["gpu_arg"], &["gpu_argument"]),
];

/// One by one, as on the command line.
const MAPS: [&str; 3] = ["labels", "variables", "output"];

/// Of two fields of the form for one field of a task.
fn is_of_the_last(value: &Value) -> bool {
    ["venv", "grid"].into_iter().any(|name| value.get(name).is_some())
}

fn odd() -> ApiError {
    ApiError::bad_request("the script asks for what no task can have", "danlu submit --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Somebody who names nothing that needs a place.
    struct AtHome;

    impl Submitter for AtHome {
        type Error = Complaint;

        fn directory(&self) -> Result<String, Complaint> {
            Ok(self.home())
        }

        fn home(&self) -> String {
            "/home/ann".to_owned()
        }

        fn task(&self, _: TaskName) -> Result<u64, Complaint> {
            Err(Complaint::refused("there is no such task"))
        }

        fn at(place: &str, error: Complaint) -> Complaint {
            error.at(place)
        }
    }

    fn laid(source: &str, typed: &[(&'static str, &str)]) -> (Submit, Vec<&'static str>) {
        let first = Draft::default();
        let mut draft = first.clone();
        for (field, value) in typed {
            draft.set(field, (*value).to_owned());
        }
        let lines = script::read("it", source, &AtHome).expect("it is understood");
        let said = lines.fields(false);
        let base = Submit { command: vec!["true".to_owned()], ..Submit::default() };
        draft.set("command", "true".to_owned());
        let language = crate::language::Language::English;
        let body =
            super::super::describe::submit(&draft, base, language).expect("it is typed well");
        lay_under(said, &draft, &first, body).expect("they fit")
    }

    #[test]
    fn what_is_typed_counts_more_than_the_script() {
        let source = "#SBATCH --gres=gpu:a100:2 --mem=4096 -t 1:00:00\n#DANLU --label a=1 --label b=2 --hold --retries 0\n";
        let (body, filled) = laid(source, &[("time", "5m"), ("labels", "b=3\nc=4")]);
        assert_eq!((body.gpus, body.request.gpu_model.as_deref()), (Some(2), Some("a100")));
        assert_eq!((body.request.memory, body.time_limit), (4 << 30, Some(300)));
        assert_eq!((body.hold, body.retries), (true, Some(0)));
        let labels: Vec<_> =
            body.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(labels, ["a=1", "b=3", "c=4"]);
        assert_eq!(filled, ["variables", "gpus", "mem", "hold", "retries"]);
    }

    #[test]
    fn what_the_form_does_not_ask_for_is_taken_too() {
        let source = "#DANLU --stdout out.txt --gpu-env uuid --output both.log\n";
        let (body, _) = laid(source, &[("output", "mine.log")]);
        assert!(body.gpus_by_uuid);
        assert_eq!(body.output.both.as_deref(), Some("mine.log"));
        assert!(body.output.stdout.is_some());
    }
}

//! The form for a new task, a copy of a task, or an edit of a waiting one.

mod describe;
mod draft;
mod labels;
mod script;

use super::form::Sent;
use super::moment::Moment;
use super::page::{PageError, PageResult, page};
use super::page_context::{PageContext, Visit};
use crate::api::submit::{self, described, dry_run, replace};
use crate::api::{Api, ApiError, me};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect};
use danlu_core::{Refusal, Task, TaskId};
use danlu_messages::web::new as msg;
use danlu_messages::web::pages;
use danlu_spec::field::InTemplate;
use danlu_spec::{Change, Field, Patch};
use danlu_wire::api::WouldStart;
use draft::Draft;
use serde::Deserialize;
use std::sync::Arc;

/// What the form is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct About {
    clone: Option<u64>,
    edit: Option<u64>,
}

/// Fields that a link has filled in, such as those that would let a task start now.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Filled {
    gpus: Option<String>,
    sharing: Option<String>,
    vram: Option<String>,
}

#[derive(Template)]
#[template(path = "new.html")]
struct NewPage<'a> {
    context: &'a PageContext,
    draft: Draft,
    about: About,
    answer: Option<DryRunAnswer>,
    nodes: Vec<String>,
    /// The same form sent twice makes one task.
    key: String,
}

struct DryRunAnswer {
    good: bool,
    words: String,
    hint: String,
    at: Option<Moment>,
    filled: String,
}

pub(super) async fn form(
    State(api): State<Api>,
    visit: Visit,
    Query(about): Query<About>,
    Query(filled): Query<Filled>,
) -> PageResult {
    let mut draft = match source(&api, &visit, about).await? {
        Some(task) => Draft::of(&described(&task)),
        None => first_draft(&api, &visit),
    };
    let Filled { gpus, sharing, vram } = filled;
    for (field, value) in [(Field::Gpus, gpus), (Field::Vram, vram)] {
        // A link is not longer than what one would type.
        if let Some(value) = value.filter(|value| value.len() <= 100) {
            draft.form.set(field, value);
        }
    }
    if let Some(chosen) = sharing {
        draft.choose_sharing(&chosen);
    }
    Ok(shown(&api, &visit, draft, about, None))
}

pub(super) async fn send(State(api): State<Api>, sent: Sent) -> PageResult {
    let about =
        About { clone: sent.field("clone").parse().ok(), edit: sent.field("edit").parse().ok() };
    let visit = &sent.visit;
    let source = source(&api, visit, about).await?;
    let mut draft = Draft::sent(&sent);
    let base = source.as_deref().map(described).unwrap_or_default();
    let base = Patch { array: Change::Reset, ..base };
    let keeps = sent.field("action") == "template";
    if keeps && !draft.has_any(&["command", "script"]) {
        draft.form.set(Field::Command, "true".to_owned());
    }
    let first = match &source {
        Some(task) => Draft::of(&described(task)),
        None => first_draft(&api, visit),
    };
    let (body, filled) = match read(&api, visit, &draft, &first, base).await {
        Ok(read) => read,
        Err(error) => {
            return Ok(shown(&api, visit, draft, about, Some(DryRunAnswer::no(&error))));
        }
    };
    if keeps {
        keep_as_template(&api, visit, body).await.map_err(visit.no())?;
        return Ok(Redirect::to("/me#template").into_response());
    }
    if sent.field("action") == "submit" {
        let result = match (&source, about.edit) {
            (Some(task), Some(_)) => {
                replace(&api, &visit.caller, task, body).await.map(|()| task.id.0)
            }
            _ => {
                let key = Some(sent.field("key").to_owned()).filter(|key| !key.is_empty());
                submit::accept(&api, &visit.caller, body, key, source.as_deref())
                    .await
                    .map(|it| it.id)
            }
        };
        return match result {
            Ok(id) => Ok(Redirect::to(&format!("/tasks/{id}")).into_response()),
            Err(error) => Ok(shown(&api, visit, draft, about, Some(DryRunAnswer::no(&error)))),
        };
    }
    let count = count(&body);
    let answer = match dry_run(&api, &visit.caller, body).await {
        Ok(forecast) => DryRunAnswer::yes(&forecast, count, &visit.context),
        Err(error) => DryRunAnswer::no(&error),
    };
    let names: Vec<&str> = filled.iter().map(|it| danlu_spec::field::label(*it)).collect();
    let answer = DryRunAnswer { filled: names.join(msg::comma()), ..answer };
    Ok(shown(&api, visit, draft, about, Some(answer)))
}

/// What is typed, over what the script says.
async fn read(
    api: &Api,
    visit: &Visit,
    draft: &Draft,
    first: &Draft,
    base: Patch,
) -> Result<(Patch, Vec<Field>), ApiError> {
    let mut body = describe::submit(draft, base)?;
    if !draft.has("script") {
        return Ok((body, Vec::new()));
    }
    let said = script::said(api, visit, draft).await?;
    let filled = script::lay_under(said, draft, first, &mut body);
    Ok((body, filled))
}

/// The task that is copied or edited: for its owner and admins, as its variables are.
async fn source(api: &Api, visit: &Visit, about: About) -> Result<Option<Arc<Task>>, PageError> {
    let Some(id) = about.edit.or(about.clone).map(TaskId) else { return Ok(None) };
    let model = api.model_with(&[id]).await.map_err(visit.no())?;
    let task = model.tasks.get(&id).cloned().ok_or(Refusal::NoSuchTask(id));
    let task = task.map_err(visit.no())?;
    visit.caller.may_see_inside(&model, &task).map_err(visit.no())?;
    Ok(Some(task))
}

/// As their template says, in their home.
fn first_draft(api: &Api, visit: &Visit) -> Draft {
    let mut draft = Draft { no_shell: false, ..Draft::of(&me::template_of(api, &visit.caller)) };
    if !draft.form.has(Field::Dir) {
        draft.form.set(Field::Dir, home(api, visit));
    }
    draft
}

fn home(api: &Api, visit: &Visit) -> String {
    let model = api.handle.model();
    let name = model.users.get(&visit.caller.id).map_or("", |user| user.os_name());
    let found = nix::unistd::User::from_name(name).ok().flatten();
    found.map_or_else(|| "/tmp".to_owned(), |user| user.dir.display().to_string())
}

/// What tasks have in common: not what each one is.
async fn keep_as_template(api: &Api, visit: &Visit, body: Patch) -> Result<(), ApiError> {
    let usual = |key: &str| Field::in_template(key) == InTemplate::Yes;
    me::keep_template(api, &visit.caller, body.without_defaults().only(usual)).await
}

fn shown(
    api: &Api,
    visit: &Visit,
    draft: Draft,
    about: About,
    answer: Option<DryRunAnswer>,
) -> axum::response::Response {
    let nodes = api.handle.model().nodes.values().map(|node| node.name.clone()).collect();
    let key = format!("page-{}-{}", visit.caller.id.0, crate::daemon::clock::now().0);
    page(&NewPage { context: &visit.context, draft, about, answer, nodes, key })
}

fn count(body: &Patch) -> u64 {
    let Some(array) = body.array.value() else { return 1 };
    let combinations = danlu_core::task::ArraySpec::combinations(&array.grid).unwrap_or(0);
    if array.indices.is_empty() { combinations as u64 } else { array.indices.len() as u64 }
}

impl DryRunAnswer {
    fn no(error: &ApiError) -> DryRunAnswer {
        let (words, hint) = error.words();
        DryRunAnswer {
            good: false,
            words: words.to_owned(),
            hint: hint.to_owned(),
            at: None,
            filled: String::new(),
        }
    }

    fn yes(forecast: &WouldStart, count: u64, context: &PageContext) -> DryRunAnswer {
        let gpus: Vec<String> = forecast.gpu_ids.iter().map(u32::to_string).collect();
        let gpus = gpus.join(", ");
        let at = forecast.expected_start_at.as_deref().and_then(|it| Moment::read(it, context.now));
        let words = match (&forecast.node, forecast.now, at) {
            (Some(node), true, _) if gpus.is_empty() => msg::dry_run_now(&node),
            (Some(node), true, _) => msg::dry_run_now_on_gpus(&node, &gpus),
            (_, _, Some(_)) => msg::dry_run_wait().to_owned(),
            _ => msg::dry_run_wait_unknown().to_owned(),
        };
        let hint = match count {
            0 | 1 => String::new(),
            count => msg::count_tasks_in_all(&count),
        };
        DryRunAnswer {
            good: true,
            words,
            hint,
            at: at.filter(|_| !forecast.now),
            filled: String::new(),
        }
    }
}

impl NewPage<'_> {
    fn label(&self, field: &str) -> &'static str {
        labels::label(field)
    }

    fn help(&self, field: &str) -> &'static str {
        labels::help(field)
    }
}

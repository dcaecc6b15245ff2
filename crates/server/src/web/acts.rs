//! Actions on tasks from a page. Those that cannot be undone ask for confirmation.

use super::form::Sent;
use super::page::{PageError, PageResult, page};
use super::page_context::{PageContext, Visit};
use crate::api::{Api, ApiError, act_on_all, one_task, waiting_for};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect};
use danlu_core::TaskId;
use danlu_messages::errors;
use danlu_messages::web::acts as msg;
use danlu_messages::web::pages;
use danlu_wire::api::{Act, ActName};

/// The command line can act on more.
const MOST_IDS: usize = 1_000;

pub(super) async fn act(State(api): State<Api>, sent: Sent) -> PageResult {
    let wanted = wanted(&sent).map_err(sent.visit.no())?;
    if let Some(act) = FinalAct::of(wanted.act)
        && sent.field("sure").is_empty()
    {
        return confirmation(&api, &sent, &wanted, act).await;
    }
    let ids = wanted.ids.clone();
    let removed = wanted.act == ActName::Remove;
    let results = act_on_all(&api, &sent.visit.caller, wanted).await.map_err(sent.visit.no())?;
    let refused: Vec<(u64, ApiError)> =
        results.into_iter().filter_map(|(id, error)| Some((id, error?))).collect();
    if !refused.is_empty() {
        return Ok(result_page(&sent.visit, sent.back(), &ids, refused));
    }
    // The page of a removed task does not exist any more.
    let gone = removed && ids.iter().any(|id| sent.back() == format!("/tasks/{id}"));
    Ok(Redirect::to(if gone { "/tasks" } else { sent.back() }).into_response())
}

fn wanted(sent: &Sent) -> Result<Act, ApiError> {
    let name = sent.field("act").to_owned();
    let act = serde_json::from_value(serde_json::Value::String(name));
    let act: ActName = act.map_err(|_| {
        ApiError::bad_request(errors::unknown_page_action(), errors::choose_one_from_the_list())
    })?;
    let ids: Result<Vec<u64>, _> = sent.all("id").map(str::parse).collect();
    let ids = ids.map_err(|_| {
        ApiError::bad_request(errors::ids_are_numbers(), errors::choose_tasks_from_the_list())
    })?;
    if ids.is_empty() || ids.len() > MOST_IDS {
        let words = msg::choose_1_to_most_ids_tasks(&MOST_IDS);
        return Err(ApiError::bad_request(words, msg::tick_the_tasks_first()));
    }
    let more =
        crate::parse::duration::parse_span(sent.field("more")).map_or(0, |span| span.0 / 1000);
    let cascade = !sent.field("cascade").is_empty();
    Ok(Act { more, cascade, ..Act::new(act, ids) })
}

/// An action that cannot be undone: the page asks for confirmation first.
#[derive(Debug, Clone, Copy)]
enum FinalAct {
    Cancel,
    Remove,
}

impl FinalAct {
    fn of(act: ActName) -> Option<FinalAct> {
        match act {
            ActName::Cancel => Some(FinalAct::Cancel),
            ActName::Remove => Some(FinalAct::Remove),
            ActName::Hold
            | ActName::Release
            | ActName::Pause
            | ActName::Resume
            | ActName::Retry
            | ActName::Start
            | ActName::Move
            | ActName::Extend
            | ActName::Keep
            | ActName::Requeue => None,
        }
    }
}

/// A link in a message leads here. It changes nothing: that takes a click.
pub(super) async fn keep(State(api): State<Api>, visit: Visit, Path(id): Path<u64>) -> PageResult {
    let task = one_task(&api, &visit.caller, TaskId(id)).await.map_err(visit.no())?;
    let time = KEEP.to_owned();
    let consequence = if task.idle.is_some() { msg::keep_idle() } else { msg::keep_anyway() };
    Ok(page(&ConfirmPage {
        context: &visit.context,
        question: msg::keep_what(&msg::task_id(&id), &time),
        consequence,
        action: String::from("/tasks/act"),
        act: "keep",
        button: msg::keep_gpus(),
        fields: vec![("id", id.to_string()), ("more", time)],
        no: msg::leave_it(),
        back: &format!("/tasks/{id}"),
        waiting: Vec::new(),
    }))
}

/// For how long a button keeps GPUs.
const KEEP: &str = "2h";

#[derive(Template)]
#[template(path = "confirm.html")]
pub(super) struct ConfirmPage<'a> {
    pub(super) context: &'a PageContext,
    pub(super) question: String,
    pub(super) consequence: &'static str,
    /// Where the answer goes.
    pub(super) action: String,
    pub(super) act: &'a str,
    pub(super) button: &'static str,
    /// What it is about.
    pub(super) fields: Vec<(&'static str, String)>,
    /// The cancel button, and where it leads.
    pub(super) no: &'static str,
    pub(super) back: &'a str,
    /// Tasks that depend on them.
    pub(super) waiting: Vec<u64>,
}

async fn confirmation(api: &Api, sent: &Sent, wanted: &Act, act: FinalAct) -> PageResult {
    let context = &sent.visit.context;
    let mut waiting = waiting_for(api, &wanted.ids).map_err(sent.visit.no())?;
    let model = api.handle.model();
    waiting.retain(|id| sent.visit.caller.visibility(&model).task(TaskId(*id)));
    Ok(page(&ConfirmPage {
        context,
        question: question(&wanted.ids, act),
        consequence: consequence(act),
        action: String::from("/tasks/act"),
        act: sent.field("act"),
        button: match act {
            FinalAct::Remove => msg::remove(),
            FinalAct::Cancel => msg::cancel_for_good(),
        },
        fields: wanted.ids.iter().map(|id| ("id", id.to_string())).collect(),
        no: msg::keep_it(),
        back: sent.back(),
        waiting,
    }))
}

fn question(ids: &[u64], act: FinalAct) -> String {
    let what = match ids {
        [id] => msg::task_id(&id),
        ids => msg::ids_tasks(&ids.len()),
    };
    match act {
        FinalAct::Remove => msg::remove_what(&what),
        FinalAct::Cancel => msg::cancel_what(&what),
    }
}

fn consequence(act: FinalAct) -> &'static str {
    match act {
        FinalAct::Remove => msg::removal_consequences(),
        FinalAct::Cancel => msg::cancel_consequences(),
    }
}

#[derive(Template)]
#[template(path = "acted.html")]
struct ActedPage<'a> {
    context: &'a PageContext,
    done: usize,
    refused: Vec<(u64, String, String)>,
    back: &'a str,
}

fn result_page(
    visit: &Visit,
    back: &str,
    ids: &[u64],
    refused: Vec<(u64, ApiError)>,
) -> axum::response::Response {
    let why = |(id, error): (u64, ApiError)| {
        let (message, hint) = error.words();
        (id, message.to_owned(), hint.to_owned())
    };
    let refused: Vec<_> = refused.into_iter().map(why).collect();
    let done = ids.len().saturating_sub(refused.len());
    page(&ActedPage { context: &visit.context, done, refused, back })
}

/// For pages that act on one thing and have no list of refusals.
pub(super) fn done(sent: &Sent, result: Result<(), ApiError>) -> PageResult {
    match result {
        Ok(()) => Ok(Redirect::to(sent.back()).into_response()),
        Err(error) => Err(PageError::new(sent.visit.context.clone(), error)),
    }
}

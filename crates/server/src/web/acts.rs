//! What people do with tasks from a page. What cannot be undone is asked about first.

use super::form::Sent;
use super::language::{Language, tell};
use super::look::{Look, Visit};
use super::page::{PageError, PageResult, page};
use crate::api::{Api, ApiError, act_on_all, waiting_for};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect};
use danlu_core::TaskId;
use danlu_wire::api::{Act, ActName};

/// More are acted on with the command line.
const MOST_IDS: usize = 1_000;

pub(super) async fn act(State(api): State<Api>, sent: Sent) -> PageResult {
    let wanted = wanted(&sent).map_err(sent.visit.no())?;
    let final_act = matches!(wanted.act, ActName::Cancel | ActName::Remove);
    if final_act && sent.field("sure").is_empty() {
        return confirmation(&api, &sent, &wanted).await;
    }
    let ids = wanted.ids.clone();
    let removed = wanted.act == ActName::Remove;
    let results = act_on_all(&api, &sent.visit.caller, wanted).await.map_err(sent.visit.no())?;
    let refused: Vec<(u64, ApiError)> =
        results.into_iter().filter_map(|(id, error)| Some((id, error?))).collect();
    if !refused.is_empty() {
        return Ok(told(&sent.visit, sent.back(), &ids, refused));
    }
    // The page of a task that is gone is no place to go back to.
    let gone = removed && ids.iter().any(|id| sent.back() == format!("/tasks/{id}"));
    Ok(Redirect::to(if gone { "/tasks" } else { sent.back() }).into_response())
}

fn wanted(sent: &Sent) -> Result<Act, ApiError> {
    let name = sent.field("act").to_owned();
    let act = serde_json::from_value(serde_json::Value::String(name));
    let act: ActName =
        act.map_err(|_| ApiError::bad_request("there is no such act", "choose one from the list"))?;
    let ids: Result<Vec<u64>, _> = sent.all("id").map(str::parse).collect();
    let ids =
        ids.map_err(|_| ApiError::bad_request("ids are numbers", "choose tasks from the list"))?;
    if ids.is_empty() || ids.len() > MOST_IDS {
        let language = sent.visit.look.language;
        let words =
            tell!(language, "choose 1 to {MOST_IDS} tasks", "请选择 1 到 {MOST_IDS} 个任务");
        return Err(ApiError::bad_request(
            words,
            language.say("tick the tasks first", "请先勾选任务"),
        ));
    }
    let more =
        crate::given::duration::parse_span(sent.field("more")).map_or(0, |span| span.0 / 1000);
    let cascade = !sent.field("cascade").is_empty();
    Ok(Act { more, cascade, ..Act::new(act, ids) })
}

/// What cannot be undone is asked about first.
#[derive(Template)]
#[template(path = "confirm.html")]
pub(super) struct ConfirmPage<'a> {
    pub(super) look: &'a Look,
    pub(super) question: String,
    pub(super) consequence: &'static str,
    /// Where the answer goes.
    pub(super) action: String,
    pub(super) act: &'a str,
    pub(super) button: &'static str,
    /// What it is about.
    pub(super) fields: Vec<(&'static str, String)>,
    /// The way out, and where it leads.
    pub(super) no: &'static str,
    pub(super) back: &'a str,
    /// What waits for them.
    pub(super) waiting: Vec<u64>,
}

async fn confirmation(api: &Api, sent: &Sent, wanted: &Act) -> PageResult {
    let look = &sent.visit.look;
    let mut waiting = waiting_for(api, &wanted.ids).map_err(sent.visit.no())?;
    let model = api.handle.model();
    waiting.retain(|id| sent.visit.caller.sight(&model).task(TaskId(*id)));
    Ok(page(&ConfirmPage {
        look,
        question: question(wanted, look.language),
        consequence: consequence(wanted.act, look.language),
        action: String::from("/tasks/act"),
        act: sent.field("act"),
        button: match wanted.act {
            ActName::Remove => look.language.say("Remove", "删除"),
            _ => look.language.say("Cancel for good", "确认取消"),
        },
        fields: wanted.ids.iter().map(|id| ("id", id.to_string())).collect(),
        no: look.language.say("Keep it", "保留"),
        back: sent.back(),
        waiting,
    }))
}

fn question(wanted: &Act, language: Language) -> String {
    let what = match wanted.ids.as_slice() {
        [id] => tell!(language, "task #{id}", "任务 #{id}"),
        ids => tell!(language, "{0} tasks", "{0} 个任务", ids.len()),
    };
    match wanted.act {
        ActName::Remove => tell!(language, "Remove {what}?", "删除{what}？"),
        _ => tell!(language, "Cancel {what}?", "取消{what}？"),
    }
}

fn consequence(act: ActName, language: Language) -> &'static str {
    match act {
        ActName::Remove => language.say(
            "Their logs and results here are gone then; a running one is ended first.",
            "其日志与记录将被删除；运行中的任务会先被结束。",
        ),
        _ => language.say(
            "What waits does not start; what runs is ended with all its processes.",
            "等待中的不再启动；运行中的及其全部进程将被结束。",
        ),
    }
}

#[derive(Template)]
#[template(path = "acted.html")]
struct ActedPage<'a> {
    look: &'a Look,
    done: usize,
    refused: Vec<(u64, String, String)>,
    back: &'a str,
}

fn told(
    visit: &Visit,
    back: &str,
    ids: &[u64],
    refused: Vec<(u64, ApiError)>,
) -> axum::response::Response {
    let why = |(id, error): (u64, ApiError)| {
        let (message, hint) = visit.look.words_of(&error);
        (id, message.to_owned(), hint.to_owned())
    };
    let refused: Vec<_> = refused.into_iter().map(why).collect();
    let done = ids.len().saturating_sub(refused.len());
    page(&ActedPage { look: &visit.look, done, refused, back })
}

/// For pages that act on one thing and have no list of refusals.
pub(super) fn done(sent: &Sent, result: Result<(), ApiError>) -> PageResult {
    match result {
        Ok(()) => Ok(Redirect::to(sent.back()).into_response()),
        Err(error) => Err(PageError::new(sent.visit.look.clone(), error)),
    }
}

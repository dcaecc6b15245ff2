//! Channels, test messages, deliveries, and alerts for free GPUs.

use super::body::Json;
use super::caller::Caller;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::daemon::config::{ChannelConfig, EMAIL};
use crate::notify::quiet_hours::{self, BadQuietHours};
use crate::notify::recipients::usual;
use crate::notify::{
    Delivered, FreeWatch, MOST_WATCHES, NotifyUnavailable, Post, PostState, Target, WatchRow,
};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use danlu_core::notify_rule::NotifyRule;
use danlu_core::refusal::NameKind;
use danlu_core::{Refusal, UserId, limits};
use danlu_messages::notify::channels as msg;
use danlu_wire::api::{
    AddedWatch, ChannelList, ChannelView, Document, ErrorCode, MessageList, MessageView, NewWatch,
    Notify, NotifyTest, NotifyTested, TestedTarget, WatchView, Watches,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Unless told otherwise.
const MESSAGES: u32 = 100;
const MOST_MESSAGES: u32 = 1_000;
/// That a person may choose.
const MOST_CHANNELS: usize = 8;

impl From<NotifyUnavailable> for ApiError {
    fn from(error: NotifyUnavailable) -> ApiError {
        ApiError::new(ErrorCode::Unavailable, error.to_string(), msg::see_the_log())
    }
}

pub(super) async fn channels(
    State(api): State<Api>,
    caller: Caller,
) -> Json<Document<ChannelList>> {
    Json(Document::new(ChannelList { channels: channel_views(&api, &caller) }))
}

/// Names and kinds; admins see which of them fail.
pub(crate) fn channel_views(api: &Api, caller: &Caller) -> Vec<ChannelView> {
    let (channels, failing) = (api.notifier.channels(), api.notifier.failing());
    let config = channels.config();
    let mail = config.email.is_some().then_some((EMAIL, EMAIL));
    let named = config.channels.iter().map(|(name, channel)| match channel {
        ChannelConfig::Http { service, .. } => (name.as_str(), service.as_str()),
        ChannelConfig::Command { .. } => (name.as_str(), "command"),
    });
    let view = |(name, kind): (&str, &str)| {
        let is_of = |target: &&String| match Target::read(target) {
            Target::Email(_) => kind == EMAIL,
            Target::Channel(channel) => channel == name,
        };
        let worst = failing.iter().filter(|(target, _)| is_of(target)).map(|(_, it)| it).max();
        let worst = worst.filter(|_| caller.admin);
        ChannelView {
            name: name.to_owned(),
            kind: kind.to_owned(),
            failures: worst.map(|(failures, _)| *failures),
            answer: worst.map(|(_, answer)| answer.clone()),
        }
    };
    mail.into_iter().chain(named).map(view).collect()
}

/// Of a task, before it is submitted: what nobody could deliver is refused.
pub(crate) fn check_rules(api: &Api, rules: &[NotifyRule]) -> Result<(), ApiError> {
    rules.iter().filter_map(|rule| rule.to.as_deref()).try_for_each(|to| check_target(api, to))
}

fn check_target(api: &Api, to: &str) -> Result<(), ApiError> {
    let known = api.notifier.channels().known();
    if to == EMAIL || to.contains('@') {
        return match known.email {
            true => Ok(()),
            false => Err(ApiError::refused(msg::no_mail_server(), msg::configure_mail())),
        };
    }
    if known.names.contains(to) {
        return Ok(());
    }
    if known.names.is_empty() {
        return Err(ApiError::refused(msg::no_such_channel(&to), msg::no_channels()));
    }
    let nearest = danlu_core::nearest_name(to, known.names.iter().cloned());
    match nearest {
        Some(nearest) => Err(Refusal::UnknownName {
            kind: NameKind::Channel,
            name: to.to_owned(),
            nearest: Some(nearest),
        }
        .into()),
        None => {
            let names: Vec<&str> = known.names.iter().map(String::as_str).collect();
            let hint = msg::channels_are(&names.join(", "));
            Err(ApiError::refused(msg::no_such_channel(&to), &hint))
        }
    }
}

/// What a person has chosen, before it is kept.
pub(crate) fn check_wanted(api: &Api, wanted: &Notify) -> Result<(), ApiError> {
    if wanted.channels.len() > MOST_CHANNELS {
        let words = msg::too_many_channels(&MOST_CHANNELS);
        return Err(ApiError::refused(words, msg::see_the_log()));
    }
    // One's own address can be chosen before there is a mail server.
    let named = wanted.channels.iter().filter(|name| *name != EMAIL);
    named.into_iter().try_for_each(|name| check_target(api, name))?;
    match wanted.quiet.as_ref().map_or(Ok(()), quiet_hours::check) {
        Ok(()) => Ok(()),
        Err(BadQuietHours::Hours) => Err(ApiError::refused(msg::bad_hours(), "22:00 07:00")),
        Err(BadQuietHours::Zone) => {
            let zone = wanted.quiet.as_ref().and_then(|quiet| quiet.zone.clone());
            let words = msg::bad_zone(&zone.unwrap_or_default());
            Err(ApiError::refused(words, msg::zone_example()))
        }
    }
}

pub(super) async fn test(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<NotifyTest>, ApiError>,
) -> Result<Json<Document<NotifyTested>>, ApiError> {
    let Json(NotifyTest { to }) = body?;
    Ok(Json(Document::new(send_test(&api, &caller, to.as_deref()).await?)))
}

/// Sends it now, and says what the other side answered.
pub(crate) async fn send_test(
    api: &Api,
    caller: &Caller,
    to: Option<&str>,
) -> Result<NotifyTested, ApiError> {
    caller.require_person()?;
    if !api.notifier.may_test(caller.id) {
        return Err(ApiError::refused(msg::too_many_tests(), msg::wait_a_minute()));
    }
    let targets = match to.filter(|to| *to != EMAIL) {
        Some(to) => {
            check_target(api, to)?;
            vec![Target::named(to)]
        }
        None => own_targets(api, caller.id, to == Some(EMAIL))?,
    };
    let mut tests = Vec::new();
    for target in targets {
        let outcome = api.notifier.test(target.clone(), caller.name.clone()).await;
        let (delivered, answer) = match outcome {
            Delivered::Yes { answer } => (true, answer),
            Delivered::Later { answer, .. } | Delivered::Never { answer } => (false, answer),
        };
        tests.push(TestedTarget { to: target.shown().to_owned(), delivered, answer });
    }
    Ok(NotifyTested { tests })
}

/// Where the user is told, or why that is nowhere.
fn own_targets(api: &Api, user: UserId, mail_only: bool) -> Result<Vec<Target>, ApiError> {
    let (model, known) = (api.handle.model(), api.notifier.channels().known());
    let user = model.users.get(&user).ok_or(Refusal::NoSuchUser)?;
    let mut wanted = api.auth.notify(user.id);
    if mail_only {
        wanted.channels = vec![EMAIL.to_owned()];
    }
    let targets: Vec<Target> =
        usual(user, &wanted, &known).into_iter().map(|recipient| recipient.target).collect();
    if !targets.is_empty() {
        return Ok(targets);
    }
    Err(match (known.email, user.profile.email.is_some()) {
        (true, false) => ApiError::refused(msg::no_address(), msg::set_address()),
        (false, _) if !known.names.is_empty() => {
            let names: Vec<&str> = known.names.iter().map(String::as_str).collect();
            ApiError::refused(msg::no_way_to_tell(), &msg::channels_are(&names.join(", ")))
        }
        (_, _) => ApiError::refused(msg::no_mail_server(), msg::configure_mail()),
    })
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MessagesQuery {
    /// Only those that were refused, given up or dropped.
    failed: bool,
    /// At most 1,000.
    limit: Option<u32>,
}

pub(super) async fn messages(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<MessagesQuery>, QueryRejection>,
) -> Result<Json<Document<MessageList>>, ApiError> {
    let Query(MessagesQuery { failed, limit }) = query?;
    let limit = limit.unwrap_or(MESSAGES).min(MOST_MESSAGES);
    let messages = message_views(&api, &caller, failed, limit).await?;
    Ok(Json(Document::new(MessageList { messages })))
}

pub(crate) async fn message_views(
    api: &Api,
    caller: &Caller,
    failed: bool,
    limit: u32,
) -> Result<Vec<MessageView>, ApiError> {
    // Of others' messages nothing is told, not even how many there are.
    let read = if caller.admin { limit } else { MOST_MESSAGES };
    let posts = api.notifier.posts(failed, read).await?;
    let model = api.handle.model();
    let name = |user: UserId| model.users.get(&user).map(|user| user.name.clone());
    let view = |post: Post| MessageView {
        to: Target::read(&post.target).shown().to_owned(),
        user: post.user.and_then(name),
        kind: post.letter.kind().to_owned(),
        task: post.letter.task().map(|task| task.id.0),
        state: state_name(post.state).to_owned(),
        created_at: rfc3339(post.created_at),
        at: rfc3339(post.due_at),
        attempts: post.attempts,
        id: post.id,
        answer: post.answer,
    };
    let mine = posts.into_iter().filter(|post| caller.admin || post.user == Some(caller.id));
    Ok(mine.take(limit as usize).map(view).collect())
}

fn state_name(state: PostState) -> &'static str {
    match state {
        PostState::Waiting => "waiting",
        PostState::Sent => "sent",
        PostState::Failed => "failed",
        PostState::Dropped => "dropped",
    }
}

pub(super) async fn watches(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<Watches>>, ApiError> {
    let rows = api.notifier.watches().await?;
    let mine = rows.into_iter().filter(|row| row.user == caller.id);
    let watches = mine.map(|row| watch_view(&caller, row)).collect();
    Ok(Json(Document::new(Watches { watches })))
}

fn watch_view(caller: &Caller, WatchRow { id, watch, .. }: WatchRow) -> WatchView {
    let FreeWatch { gpus, model, node, always, .. } = watch;
    WatchView { id, user: caller.name.clone(), gpus, model, node, always }
}

pub(super) async fn watch(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<NewWatch>, ApiError>,
) -> Result<(StatusCode, Json<Document<AddedWatch>>), ApiError> {
    let Json(NewWatch { gpus, model, node, always }) = body?;
    // Nobody waits for a message that cannot come.
    own_targets(&api, caller.id, false)?;
    let short =
        |text: &Option<String>| text.as_ref().is_none_or(|it| it.len() <= limits::NAME_BYTES);
    if gpus == 0 || gpus as usize > limits::GPUS_PER_NODE || !short(&model) || !short(&node) {
        return Err(ApiError::refused(msg::watch_needs_gpus(), "danlu notify when-free -g 4"));
    }
    if let Some(name) = &node {
        let model = api.handle.model();
        let mut names = model.nodes.values().map(|node| node.name.clone());
        if !names.any(|it| it == *name) {
            let names = model.nodes.values().map(|node| node.name.clone());
            let nearest = danlu_core::nearest_name(name, names);
            let (kind, name) = (NameKind::Node, name.clone());
            return Err(Refusal::UnknownName { kind, name, nearest }.into());
        }
    }
    let watch = FreeWatch { gpus, model, node, always, armed: true };
    let Some(id) = api.notifier.watch(caller.id, watch.clone()).await? else {
        let words = msg::too_many_watches(&MOST_WATCHES);
        return Err(ApiError::refused(words, msg::cancel_some()));
    };
    let row = WatchRow { id, user: caller.id, watch };
    Ok((StatusCode::CREATED, Json(Document::new(AddedWatch { watch: watch_view(&caller, row) }))))
}

pub(super) async fn unwatch(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
) -> Result<Json<Document<Watches>>, ApiError> {
    let Path(id) = path?;
    let id = i64::try_from(id).unwrap_or(i64::MAX);
    let rows = api.notifier.watches().await?;
    if !rows.iter().any(|row| row.id == id && row.user == caller.id) {
        return Err(ApiError::not_found(msg::no_such_watch(&id), msg::cancel_some()));
    }
    api.notifier.unwatch(id).await?;
    watches(State(api), caller).await
}

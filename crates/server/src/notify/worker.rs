//! Delivers one message on a thread of its own: reads the last lines and the efficiency, words it, sends it.

use super::channels::{Channels, Delivered, Outgoing};
use super::letter::{Letter, Matter, TaskNews};
use super::outbox::Post;
use super::recipients::Target;
use super::render::{RenderContext, render};
use super::subject::subject;
use crate::api::efficiency::efficiencies;
use crate::api::{Api, WeakApi, logs};
use crate::daemon::clock;
use crate::fleet::run_logs::Which;
use danlu_core::RunId;
use danlu_messages::Language;
use danlu_wire::agent::LogStart;
use danlu_wire::api::Efficiency;
use std::sync::Arc;
use std::time::Duration;

/// Of what a failed run has printed.
const LINES: u64 = 12;
const LINE_CHARS: usize = 300;
const MOST_BYTES: u64 = 16 << 10;
/// A message does not wait longer for them: they are in the log.
const LONGEST_READ: Duration = Duration::from_secs(5);

pub(super) fn deliver(
    api: &WeakApi,
    runtime: &tokio::runtime::Handle,
    channels: &Arc<Channels>,
    post: &Post,
) -> Delivered {
    let api = api.upgrade();
    let user = api.as_ref().zip(post.user).and_then(|(api, user)| {
        let model = api.handle.model();
        model.users.get(&user).map(|user| (user.name.clone(), user.profile.language.clone()))
    });
    let (name, chosen) = user.map_or((None, None), |(name, chosen)| (Some(name), chosen));
    let language = chosen.as_deref().and_then(Language::named).or(channels.config().language);
    let (last_lines, efficiency) = api.map_or_else(Default::default, |api| {
        runtime.block_on(async {
            let read = tokio::time::timeout(LONGEST_READ, last_lines(&api, &post.letter));
            let lines = read.await.ok().flatten().unwrap_or_default();
            let read = tokio::time::timeout(LONGEST_READ, efficiency(&api, &post.letter));
            (lines, read.await.ok().flatten())
        })
    });
    language.unwrap_or_else(Language::current).within(|| {
        let (letter, url) = (post.letter.clone(), channels.config().url.clone());
        let context = RenderContext { url, last_lines, efficiency, user: name };
        let rendered = render(&letter, &context);
        let template = channels.config().email.as_ref().and_then(|it| it.subject.as_deref());
        let subject = subject(template, &letter, &rendered);
        let RenderContext { last_lines, efficiency, .. } = context;
        let (id, now) = (post.id.clone(), clock::now());
        let message = Outgoing { id, letter, rendered, last_lines, efficiency, subject, now };
        channels.deliver(&Target::read(&post.target), &message)
    })
}

/// Of the run that it tells of; as the last lines, it is the owner's.
async fn efficiency(api: &Api, letter: &Letter) -> Option<Efficiency> {
    let Matter::Task { news: TaskNews::Ended, task: told } = &letter.matter else { return None };
    let model = api.model_with(&[told.id]).await.ok()?;
    let task = model.tasks.get(&told.id)?;
    // It may have been run again since.
    let of_attempt = |run: &RunId| model.runs.get(run).is_some_and(|it| it.attempt == told.attempt);
    let all = efficiencies(api, &model, task).await.into_iter();
    all.filter(|(run, _)| of_attempt(run)).map(|(_, seen)| seen).next()
}

/// Of a run that failed; it is the owner's, to whom this goes.
async fn last_lines(api: &Api, letter: &Letter) -> Option<Vec<String>> {
    let Matter::Task { news: TaskNews::Ended | TaskNews::Requeued { .. }, task } = &letter.matter
    else {
        return None;
    };
    let mut log = logs::open(api, task.id, task.log?, Which::Stdout).await.ok()?;
    let start = log.start(LogStart::Tail(LINES)).await.ok()?;
    let (bytes, _) = log.read(start, MOST_BYTES).await.ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let shown = |line: &str| -> String {
        // A progress bar writes over itself.
        let last = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
        last.chars().filter(|it| !it.is_control() || *it == '\t').take(LINE_CHARS).collect()
    };
    let lines = text.lines().map(shown).filter(|line| !line.trim().is_empty());
    Some(lines.collect())
}

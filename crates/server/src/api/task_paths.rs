//! Checks whether the directory and files that a task names exist where it would run. A process with the rights of the
//! user looks at them, with a deadline, because a file system may never answer.

use super::{Api, ApiError};
use crate::fleet::launch_order;
use crate::read_model::ReadModel;
use danlu_core::task::Stream;
use danlu_core::{Node, User, UserId};
use danlu_messages::errors;
use danlu_spec::Patch;
use danlu_wire::agent::{OutputPath, PathProblem, PathsSeen, TaskPaths};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// Timeout of the check.
const LONGEST: Duration = Duration::from_millis(500);
/// Maximum number of machines that are asked.
const MOST_MACHINES: usize = 16;

/// False when no file system has answered in time, and everything may be there.
pub(super) async fn check(api: &Api, owner: UserId, body: &Patch) -> Result<bool, ApiError> {
    if !Path::new(body.directory()).is_absolute() {
        return Err(ApiError::refused(errors::directory_not_absolute(), errors::dir_path()));
    }
    let model = api.handle.model();
    let fits = |node: &&Arc<Node>| {
        body.node.value().is_none_or(|wanted| wanted.matches(&node.name, &node.labels))
    };
    let nodes: Vec<&Arc<Node>> = model.nodes.values().filter(fits).collect();
    match check_on(api, &model, owner, &nodes, &paths_of(body)).await {
        PathVerdict::Good => Ok(true),
        PathVerdict::Silent => Ok(false),
        PathVerdict::Wrong(node, problem) => {
            let there = api.nodes.is_remote(&model, node.id).then_some(node.name.as_str());
            Err(refusal(problem, there))
        }
    }
}

/// The paths of a task that a file system does not answer for, on any of the machines that it may run on, or runs on.
pub(super) async fn silent(api: &Api, owner: UserId, body: &Patch, on: &[&str]) -> Vec<String> {
    let model = api.handle.model();
    let fits = |node: &&Arc<Node>| match (body.node.value(), on) {
        (Some(wanted), []) => wanted.matches(&node.name, &node.labels),
        (None, []) => true,
        (_, on) => on.contains(&node.name.as_str()),
    };
    let nodes: Vec<&Arc<Node>> = model.nodes.values().filter(fits).collect();
    let paths = paths_of(body);
    match check_on(api, &model, owner, &nodes, &paths).await {
        PathVerdict::Good | PathVerdict::Wrong(..) => Vec::new(),
        PathVerdict::Silent => {
            let outputs = paths.outputs.into_iter().map(|output| output.path);
            std::iter::once(paths.directory).chain(outputs).collect()
        }
    }
}

enum PathVerdict<'a> {
    /// On at least one machine, or no machine could check.
    Good,
    /// On every machine that answered.
    Wrong(&'a Node, PathProblem),
    Silent,
}

/// Checks this machine first; usually the others need not be asked then.
async fn check_on<'a>(
    api: &Api,
    model: &ReadModel,
    owner: UserId,
    nodes: &[&'a Arc<Node>],
    paths: &TaskPaths,
) -> PathVerdict<'a> {
    let Some(owner) = model.users.get(&owner) else { return PathVerdict::Good };
    let until = Instant::now() + LONGEST;
    let (there, here): (Vec<&Arc<Node>>, Vec<&Arc<Node>>) =
        nodes.iter().copied().partition(|node: &&Arc<Node>| api.nodes.is_remote(model, node.id));
    let (mut wrong, mut is_silent) = (None, false);
    if let Some(node) = here.first() {
        let seen = check_here(api, owner, &node.name, paths.clone());
        match timeout_at(until, seen).await {
            Ok(Ok(PathsSeen::Good)) => return PathVerdict::Good,
            Ok(Ok(PathsSeen::Wrong(problem))) => wrong = Some((*node, problem)),
            Ok(Ok(PathsSeen::Silent)) | Err(_) => is_silent = true,
            Ok(Ok(PathsSeen::Unseen) | Err(_)) => {}
        }
    }
    let asked = there.into_iter().take(MOST_MACHINES).filter_map(|node| {
        let name = launch_order::runs_as(&api.logins, owner, &node.name);
        let seen = api.nodes.check_paths(node.id, owner.id, name, paths.clone())?;
        Some(async move { (node, timeout_at(until, seen).await) })
    });
    let mut asked: FuturesUnordered<_> = asked.collect();
    while let Some((node, seen)) = asked.next().await {
        match seen {
            Ok(Ok(PathsSeen::Good)) => return PathVerdict::Good,
            Ok(Ok(PathsSeen::Wrong(problem))) => wrong = Some((node, problem)),
            Ok(Ok(PathsSeen::Silent)) | Err(_) => is_silent = true,
            Ok(Ok(PathsSeen::Unseen) | Err(_)) => {}
        }
    }
    match wrong {
        Some((node, problem)) => PathVerdict::Wrong(node, problem),
        None if is_silent => PathVerdict::Silent,
        None => PathVerdict::Good,
    }
}

fn check_here(
    api: &Api,
    owner: &User,
    node: &str,
    paths: TaskPaths,
) -> oneshot::Receiver<PathsSeen> {
    // A server without root runs everything as itself.
    let user = (api.own_uid == 0).then(|| launch_order::runs_as(&api.logins, owner, node));
    let (answer, answered) = oneshot::channel();
    api.user_files.check(user, paths, LONGEST, move |seen| {
        let _ = answer.send(seen);
    });
    answered
}

fn paths_of(body: &Patch) -> TaskPaths {
    let stream = |stream: &Option<Stream>| match stream {
        Some(Stream::Append { path } | Stream::Truncate { path }) => Some((path.clone(), false)),
        Some(Stream::Discard) | None => None,
    };
    let output = body.output();
    let all =
        [output.both.map(|path| (path, true)), stream(&output.stdout), stream(&output.stderr)];
    // The values of placeholders in names are not known yet.
    let known = all.into_iter().flatten().filter(|(path, _)| !path.contains('{'));
    let outputs = known.map(|(path, may_be_directory)| OutputPath { path, may_be_directory });
    TaskPaths { directory: body.directory().to_owned(), outputs: outputs.collect() }
}

fn refusal(problem: PathProblem, on: Option<&str>) -> ApiError {
    let (message, hint) = match (problem, on) {
        (PathProblem::NoDirectory { path }, None) => {
            (errors::no_directory(&path), errors::create_it_or_give_another_with_dir())
        }
        (PathProblem::NoDirectory { path }, Some(node)) => {
            (errors::no_directory_on(&path, &node), errors::create_it_or_give_another_with_dir())
        }
        (PathProblem::NoDirectoryFor { file, directory }, None) => (
            errors::no_directory_for(&directory, &file),
            errors::create_it_or_choose_another_file(),
        ),
        (PathProblem::NoDirectoryFor { file, directory }, Some(node)) => (
            errors::no_directory_for_on(&directory, &file, &node),
            errors::create_it_or_choose_another_file(),
        ),
        (PathProblem::IsDirectory { path }, None) => {
            (errors::is_a_directory(&path), errors::name_file_inside())
        }
        (PathProblem::IsDirectory { path }, Some(node)) => {
            (errors::directory_on(&path, &node), errors::name_file_inside())
        }
    };
    ApiError::refused(message, hint)
}

//! Machines that are configured in a file: `[[node]]` in the configuration file, or in `nodes.toml` beside it.
//!
//! The file is watched: additions, changes and removals take effect at once. Invalid entries are ignored and logged.

use super::{BadNode, NodeRecord, NodeRoute, Nodes, put_record, remove_record};
use crate::daemon::config::Config;
use crate::daemon::handle::{AskError, Handle};
use danlu_core::{Actor, Input, NodeId, Refusal};
use danlu_messages::errors;
use danlu_wire::api::{NewNode, NodeRole};
use inotify::{Inotify, WatchMask};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;
use toml::Spanned;
use tracing::{info, warn};

/// An editor writes a file in several steps.
const SETTLED: Duration = Duration::from_millis(300);
/// Interval of attempts to remove a machine that still has runs.
const LATER: Duration = Duration::from_secs(2);

/// `nodes.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NodesFile {
    pub(crate) node: Vec<Spanned<NewNode>>,
}

/// Where in the file it is wrong, and why.
#[derive(Debug, Error)]
#[error("line {line}, column {column}: [[node]] {name}: {message} ({hint})")]
pub struct BadEntry {
    line: usize,
    column: usize,
    name: String,
    message: String,
    hint: &'static str,
}

/// Names are given once, and each entry can be used.
pub(crate) fn check(text: &str, nodes: &[Spanned<NewNode>]) -> Result<(), BadEntry> {
    let mut names = BTreeSet::new();
    for node in nodes {
        let wanted = node.get_ref();
        let sound = NodeRecord::new(wanted).map(drop);
        let bad = match sound {
            Ok(()) if names.insert(&wanted.name) => continue,
            Ok(()) => BadNode {
                message: errors::name_twice().to_owned(),
                hint: errors::name_of_its_own(),
            },
            Err(bad) => bad,
        };
        let before = &text[..node.span().start.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        let (name, hint) = (wanted.name.clone(), bad.hint);
        return Err(BadEntry { line, column, name, message: bad.message, hint });
    }
    Ok(())
}

/// It stands in both files.
pub(crate) fn twice(name: &str) -> BadEntry {
    let (name, message) = (name.to_owned(), errors::name_twice().to_owned());
    BadEntry { line: 1, column: 1, name, message, hint: errors::name_of_its_own() }
}

/// `nodes.toml` in the directory of the configuration file.
pub(crate) fn beside(config: &Path) -> PathBuf {
    config.with_file_name("nodes.toml")
}

impl Nodes {
    /// What the files say at the start, and whenever they change.
    pub(crate) async fn follow_files(self, handle: Handle, config: Config) {
        let mut left = self.apply(&handle, &config).await;
        let directory = config.file().parent().map(Path::to_owned).unwrap_or_default();
        let mut changes = FileWatch::of(&directory);
        loop {
            let changed = match left {
                false => changes.next().await,
                true => tokio::time::timeout(LATER, changes.next()).await.unwrap_or(false),
            };
            if !changed && !left {
                // Nothing can be watched: `danlu reload` is heard all the same.
                return;
            }
            match config.again() {
                Ok(newer) => left = self.apply(&handle, &newer).await,
                Err(cause) if changed => {
                    warn!(%cause, "the machines in the file are not taken over; nothing changes");
                }
                Err(_) => {}
            }
        }
    }

    /// Whether something is left to be done when a machine runs nothing any more.
    pub(crate) async fn apply(&self, handle: &Handle, config: &Config) -> bool {
        for wanted in &config.nodes {
            if let Err(cause) = self.apply_one(handle, wanted).await {
                warn!(node = wanted.name, %cause, "the machine in the file is not taken over");
            }
        }
        let mut left = false;
        for name in self.not_in(config) {
            left |= !self.take_out(handle, &name).await;
        }
        left
    }

    /// Those that came by a file and do not stand there any more.
    fn not_in(&self, config: &Config) -> Vec<String> {
        let known = self.known();
        let is_wanted = |name: &str| config.nodes.iter().any(|it| it.name == name);
        let records = known.values().map(|it| &it.record);
        let gone = records.filter(|it| it.from_file && !is_wanted(&it.name));
        gone.map(|it| it.name.clone()).collect()
    }

    async fn apply_one(&self, handle: &Handle, wanted: &NewNode) -> Result<(), EntryError> {
        let mut record = NodeRecord::new(wanted)?;
        record.from_file = true;
        let node = node_id(handle, &record.name);
        let Some((before, _)) = self.status(&record.name) else {
            if node.is_some() {
                return Err(EntryError::Used);
            }
            info!(node = record.name, "added by the file");
            let (name, labels) = (record.name.clone(), wanted.labels.clone());
            handle.ask(Input::AddNode { by: Actor::Daemon, name, labels }).await?;
            return self.put(handle, record).await;
        };
        if !before.from_file {
            return Err(EntryError::ByCommand);
        }
        // What is learnt, not written.
        record.machine.clone_from(&before.machine);
        if let (NodeRoute::DialIn(new), NodeRoute::DialIn(old)) = (&mut record.route, &before.route)
        {
            new.clone_from(old);
        }
        if let Some(node) = node {
            self.relabel(handle, node, wanted).await?;
        }
        if record != before {
            info!(node = record.name, "changed by the file");
            self.put(handle, record).await?;
        }
        Ok(())
    }

    async fn put(&self, handle: &Handle, record: NodeRecord) -> Result<(), EntryError> {
        handle.keep(vec![put_record(&record)], None).await.map_err(|_| EntryError::NotKept)?;
        if let Some(node) = node_id(handle, &record.name)
            && record.role == NodeRole::Data
        {
            handle.ask(Input::Drain { by: Actor::Daemon, node }).await?;
        }
        let name = record.name.clone();
        let before = self.status(&name).map(|(before, _)| before.address());
        let is_same = before.is_some_and(|before| before == record.address());
        self.add(record);
        if !is_same {
            let dropped = self.0.logins.drop_ssh(handle, &name).await;
            dropped.map_err(|_| EntryError::NotKept)?;
        }
        Ok(())
    }

    async fn relabel(
        &self,
        handle: &Handle,
        node: NodeId,
        wanted: &NewNode,
    ) -> Result<(), EntryError> {
        let same = handle.model().nodes.get(&node).is_some_and(|it| it.labels == wanted.labels);
        if !same {
            let before = handle.model().nodes.get(&node).map(|it| it.labels.clone());
            let gone = before.into_iter().flatten().map(|(name, _)| (name, None));
            let now = wanted.labels.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
            let change = gone.chain(now).collect();
            handle.ask(Input::SetLabels { by: Actor::Daemon, node, change }).await?;
        }
        Ok(())
    }

    /// At once where nothing runs; else it gets nothing new, and goes when it is free.
    async fn take_out(&self, handle: &Handle, name: &str) -> bool {
        if let Some(node) = node_id(handle, name) {
            let removed = handle.ask(Input::RemoveNode { by: Actor::Daemon, node }).await;
            if let Err(AskError::Refused(Refusal::NodeBusy { .. })) = &removed {
                let draining = handle.model().nodes.get(&node).is_some_and(|it| it.draining);
                if !draining {
                    info!(
                        node = name,
                        "taken out of the file; it goes when what runs there has ended"
                    );
                    let _ = handle.ask(Input::Drain { by: Actor::Daemon, node }).await;
                }
                return false;
            }
        }
        info!(node = name, "taken out by the file");
        self.remove(name);
        // The next machine of this name is another one.
        let forgotten = self.0.logins.forget(handle, |login| login.node == name).await;
        handle.keep(vec![remove_record(name)], None).await.is_ok() && forgotten.is_ok()
    }
}

fn node_id(handle: &Handle, name: &str) -> Option<NodeId> {
    handle.model().nodes.values().find(|node| node.name == name).map(|node| node.id)
}

#[derive(Debug, Error)]
enum EntryError {
    #[error("{}", errors::name_of_server_machine())]
    Used,
    #[error("{}", errors::added_by_command())]
    ByCommand,
    #[error("{0}")]
    Bad(#[from] BadNode),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("{}", errors::not_saved())]
    NotKept,
}

/// Of the files in a directory.
struct FileWatch(Option<inotify::EventStream<[u8; 4096]>>);

impl FileWatch {
    fn of(directory: &Path) -> FileWatch {
        let watch = || {
            let inotify = Inotify::init().ok()?;
            let what = WatchMask::CLOSE_WRITE
                | WatchMask::MOVED_TO
                | WatchMask::DELETE
                | WatchMask::MOVED_FROM;
            inotify.watches().add(directory, what).ok()?;
            inotify.into_event_stream([0; 4096]).ok()
        };
        FileWatch(watch())
    }

    /// `false` where nothing can be watched.
    async fn next(&mut self) -> bool {
        let Some(stream) = &mut self.0 else { return false };
        if !one(stream).await {
            return false;
        }
        while tokio::time::timeout(SETTLED, one(stream)).await == Ok(true) {}
        true
    }
}

async fn one(stream: &mut inotify::EventStream<[u8; 4096]>) -> bool {
    use futures_util::StreamExt as _;
    matches!(stream.next().await, Some(Ok(_)))
}

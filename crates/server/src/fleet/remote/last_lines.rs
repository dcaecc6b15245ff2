//! Keeps the last lines of running tasks on other machines, to be shown while the machine is away.

use super::Nodes;
use crate::daemon::clock;
use crate::daemon::handle::Handle;
use crate::fleet::run_logs::{Which, place_of};
use crate::read_model::ReadModel;
use danlu_core::{NodeId, RunId, Time, UserId};
use danlu_node::private;
use danlu_wire::agent::{LogPlace, LogStart};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::warn;

const LINES: u64 = 20;
const BYTES: u64 = 8 << 10;
/// Maximum number of runs per machine.
const RUNS: usize = 256;

/// In memory while the machine is connected, in files while it is away.
#[derive(Debug)]
pub(super) struct LastLines {
    directory: PathBuf,
    kept: Mutex<BTreeMap<RunId, LastOutput>>,
}

/// The lines at the time the machine was last asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastOutput {
    pub(crate) at: Time,
    /// Their offset in the log.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl LastOutput {
    /// At most the last `lines` lines.
    pub(crate) fn tail(self, lines: u64) -> LastOutput {
        let whole = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let breaks = whole.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
        let start = match usize::try_from(lines).unwrap_or(usize::MAX).checked_sub(1) {
            None => self.bytes.len(),
            Some(before) => breaks.map(|(at, _)| at + 1).nth(before).unwrap_or(0),
        };
        let (offset, bytes) = (self.offset + start as u64, self.bytes[start..].to_vec());
        LastOutput { at: self.at, offset, bytes }
    }
}

impl LastLines {
    pub(super) fn below(data: &Path) -> LastLines {
        let directory = data.join("last-lines");
        keep_private(&directory);
        LastLines { directory, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<RunId, LastOutput>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, run: RunId) -> PathBuf {
        self.directory.join(run.to_string())
    }

    /// Logs of ended runs are read from their machine only.
    fn forget_ended(&self, model: &ReadModel) {
        let ended = |run: &RunId| model.runs.get(run).is_none_or(|run| run.is_ended());
        let gone: Vec<RunId> = self.kept().keys().copied().filter(ended).collect();
        for run in gone {
            self.kept().remove(&run);
            // The file exists only if the machine was away.
            let _ = fs::remove_file(self.path(run));
        }
    }

    fn write(&self, runs: &[RunId]) {
        let kept = self.kept().clone();
        if let Err(error) = private::directory(&self.directory, private::PRIVATE) {
            return warn!(%error, "the last lines of what runs elsewhere are not kept");
        }
        for (run, LastOutput { at, offset, bytes }) in kept.iter().filter(|it| runs.contains(it.0))
        {
            let mut content = format!("{} {offset}\n", at.0).into_bytes();
            content.extend(bytes);
            // Best effort: nothing depends on them.
            let _ = private::replace(&self.path(*run), &content);
        }
    }

    fn read(&self, run: RunId) -> Option<LastOutput> {
        if let Some(kept) = self.kept().get(&run) {
            return Some(kept.clone());
        }
        let content = fs::read(self.path(run)).ok()?;
        let end = content.iter().position(|byte| *byte == b'\n')?;
        let (at, offset) = std::str::from_utf8(&content[..end]).ok()?.split_once(' ')?;
        let (at, offset) = (Time(at.parse().ok()?), offset.parse().ok()?);
        Some(LastOutput { at, offset, bytes: content[end + 1..].to_vec() })
    }
}

/// A directory of an older version may be readable by others.
fn keep_private(directory: &Path) {
    if !directory.exists() {
        return;
    }
    if let Err(error) = private::directory(directory, private::PRIVATE) {
        return warn!(%error, directory = %directory.display(), "others may see the last lines");
    }
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    for file in files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_file())) {
        let _ = fs::set_permissions(file.path(), fs::Permissions::from_mode(private::FILE));
    }
}

impl Nodes {
    /// What a run has printed last, as far as that is known while its machine is away.
    pub(crate) fn last_lines(&self, run: RunId) -> Option<LastOutput> {
        self.0.last_lines.read(run)
    }

    /// Asks a machine for the last lines of all that runs there, without waiting for them.
    pub(super) fn ask_for_last_lines(&self, handle: &Handle, node: NodeId) {
        let model = handle.model();
        self.0.last_lines.forget_ended(&model);
        let places: Vec<(LogPlace, UserId)> = running_on(&model, node)
            .filter_map(|run| {
                let task = model.tasks.get(&run.task)?;
                let logins = &self.0.logins;
                let place = place_of(&model, logins, task, run.id, Some(node), Which::Stdout);
                Some((place, task.owner))
            })
            .take(RUNS)
            .collect();
        if places.is_empty() {
            return;
        }
        let nodes = self.clone();
        tokio::spawn(async move {
            for (place, owner) in places {
                let run = place.run;
                let log = nodes.log(node, place, owner);
                let Ok(piece) = log.read(LogStart::Tail(LINES), BYTES).await else {
                    return;
                };
                let kept =
                    LastOutput { at: clock::now(), offset: piece.offset, bytes: piece.bytes };
                nodes.0.last_lines.kept().insert(run, kept);
            }
        });
    }

    /// Also for a server that is started while the machine is away.
    pub(super) fn save_last_lines(&self, handle: &Handle, node: NodeId) {
        let runs: Vec<RunId> = running_on(&handle.model(), node).map(|run| run.id).collect();
        let nodes = self.clone();
        if !runs.is_empty() {
            tokio::task::spawn_blocking(move || nodes.0.last_lines.write(&runs));
        }
    }
}

fn running_on(model: &ReadModel, node: NodeId) -> impl Iterator<Item = &danlu_core::Run> {
    let there = move |run: &&danlu_core::Run| run.part_on(node).is_some_and(|it| !it.is_ended());
    model.active_runs().filter(there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::Epoch;

    #[test]
    fn as_many_lines_as_wanted() {
        let kept = || LastOutput { at: Time(5), offset: 100, bytes: b"one\ntwo\nthree\n".to_vec() };
        let tail = |lines| {
            let LastOutput { offset, bytes, .. } = kept().tail(lines);
            (offset, String::from_utf8(bytes).unwrap())
        };
        assert_eq!(tail(0), (114, String::new()));
        assert_eq!(tail(1), (108, "three\n".to_owned()));
        assert_eq!(tail(2), (104, "two\nthree\n".to_owned()));
        for more in [3, 4, u64::MAX] {
            assert_eq!(kept().tail(more), kept());
        }
        let open = LastOutput { at: Time(5), offset: 0, bytes: b"one\ntwo".to_vec() };
        assert_eq!(open.tail(1).bytes, b"two");
    }

    #[test]
    fn lines_are_found_again_by_another_server() {
        let directory = tempfile::tempdir().unwrap();
        let run = RunId { epoch: Epoch(1), number: 7 };
        let kept = LastOutput { at: Time(5), offset: 100, bytes: b"one\ntwo\n".to_vec() };
        let lines = LastLines::below(directory.path());
        assert_eq!(lines.read(run), None);
        lines.kept().insert(run, kept.clone());
        lines.write(&[run]);
        assert_eq!(LastLines::below(directory.path()).read(run), Some(kept));
    }

    #[test]
    fn nobody_else_sees_lines_also_those_that_an_older_version_kept() {
        let directory = tempfile::tempdir().unwrap();
        let older = directory.path().join("last-lines");
        fs::create_dir(&older).unwrap();
        fs::write(older.join("1-6"), "5 0\nsecret\n").unwrap();
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&older, open).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let lines = LastLines::below(directory.path());
        assert_eq!((mode(&older), mode(&older.join("1-6"))), (0o700, 0o600));
        let run = RunId { epoch: Epoch(1), number: 7 };
        lines.kept().insert(run, LastOutput { at: Time(5), offset: 0, bytes: b"one\n".to_vec() });
        lines.write(&[run]);
        assert_eq!(mode(&lines.path(run)), 0o600);
    }
}

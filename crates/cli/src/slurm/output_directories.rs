//! Directories of output files that are named after the job, such as `logs/%j/out.txt`. Programs make them once they know the
//! id, which is too late here: a job starts within milliseconds.

use std::{fs, path::Path};

use danlu_core::{
    TaskId,
    task::{ArrayElement, Stream},
};
use danlu_spec::{Change, Patch};
use danlu_wire::{
    Placeholders,
    api::{Act, ActName, Document, Submitted},
};

use super::SlurmError;
use crate::client::{Client, read};

/// Submits it; where such directories are needed, it is held until they are there.
pub(super) fn submit(client: &Client, mut patch: Patch) -> Result<String, SlurmError> {
    let directories = named_after_the_job(&patch);
    let is_held = patch.hold.value() == Some(&true) || patch.dry_run.value() == Some(&true);
    if directories.is_empty() || is_held {
        return Ok(client.submit(&patch)?);
    }
    patch.hold = Change::Set(true);
    let document = client.submit(&patch)?;
    let Submitted { id, count, .. } = read::<Document<Submitted>>(&document)?.content;
    let indices = patch.array.value().map(|array| array.indices.clone());
    let ids: Vec<u64> = (id..id + count).collect();
    for (place, task) in ids.iter().enumerate() {
        let index = indices.as_ref().and_then(|indices| indices.get(place)).copied();
        let element = index.map(|index| ArrayElement { first: TaskId(id), index });
        let words = Placeholders::new(TaskId(*task), element, "", &[]);
        for directory in &directories {
            // What cannot be made is told when the job starts.
            let _ = fs::create_dir_all(words.put_into(directory).as_ref());
        }
    }
    client.send("POST", "/tasks/act", &Act::new(ActName::Release, ids))?;
    Ok(document)
}

/// On which machine it runs is not known before it starts.
fn named_after_the_job(patch: &Patch) -> Vec<String> {
    let output = patch.output();
    let path = |stream: Option<Stream>| match stream {
        Some(Stream::Append { path } | Stream::Truncate { path }) => Some(path),
        Some(Stream::Discard) | None => None,
    };
    let files = [path(output.stdout), path(output.stderr)].into_iter().flatten();
    let directories = files.filter_map(|file| {
        let file = Path::new(patch.directory()).join(file);
        file.parent().map(|parent| parent.to_string_lossy().into_owned())
    });
    let mut named: Vec<String> = directories
        .filter(|it| {
            ["{task_id}", "{array_id}", "{array_index}"].iter().any(|word| it.contains(word))
        })
        .filter(|it| !it.contains("{node}"))
        .collect();
    named.dedup();
    named
}

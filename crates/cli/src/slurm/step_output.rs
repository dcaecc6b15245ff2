//! Where the processes of a step write: files by a pattern, lines with labels, or where the step itself writes.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, Read, Write as _},
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
};

use danlu_messages::slurm as msg;
use danlu_slurm::{job::JobOptions, options::Act, pattern::StepNames};

use super::{SlurmError, variable};

/// Where the processes of a step write.
pub(super) struct Outputs<'a> {
    names: &'a StepNames,
    stdout: Option<SharedFile>,
    stderr: Option<SharedFile>,
}

/// A file for all processes, or one for each.
struct SharedFile {
    pattern: String,
    append: bool,
    all: Option<File>,
}

impl<'a> Outputs<'a> {
    pub(super) fn of(
        options: &JobOptions,
        names: &'a StepNames,
    ) -> Result<Outputs<'a>, SlurmError> {
        let mode =
            options.value(Act::OpenMode).map(str::to_owned).or_else(|| variable("SLURM_OPEN_MODE"));
        let append = mode.is_some_and(|mode| mode.starts_with('a'));
        let file = |act| match options.value(act) {
            None | Some("all") => Ok(None),
            Some("none") => SharedFile::new("/dev/null", true, names).map(Some),
            Some(pattern) => SharedFile::new(pattern, append, names).map(Some),
        };
        Ok(Outputs { names, stdout: file(Act::Output)?, stderr: file(Act::Error)? })
    }

    pub(super) fn put_into(
        &self,
        child: &mut Command,
        rank: u32,
        label: bool,
    ) -> Result<(), SlurmError> {
        let stdout = self.stdout.as_ref().map(|file| file.of(rank, self.names)).transpose()?;
        let stderr = match &self.stderr {
            Some(file) => Some(file.of(rank, self.names)?),
            // Without a file of its own it goes where standard output does.
            None => stdout
                .as_ref()
                .map(File::try_clone)
                .transpose()
                .map_err(|cause| unwritable("stderr", &cause))?,
        };
        match stdout {
            Some(file) => child.stdout(file),
            None if label => child.stdout(Stdio::piped()),
            None => child.stdout(Stdio::inherit()),
        };
        match stderr {
            Some(file) => child.stderr(file),
            None if label => child.stderr(Stdio::piped()),
            None => child.stderr(Stdio::inherit()),
        };
        Ok(())
    }
}

impl SharedFile {
    fn new(pattern: &str, append: bool, names: &StepNames) -> Result<SharedFile, SlurmError> {
        let all = match StepNames::is_per_task(pattern) {
            true => None,
            false => Some(open(&names.file_name(pattern, 0), append)?),
        };
        Ok(SharedFile { pattern: pattern.to_owned(), append, all })
    }

    fn of(&self, rank: u32, names: &StepNames) -> Result<File, SlurmError> {
        match &self.all {
            Some(file) => file.try_clone().map_err(|cause| unwritable(&self.pattern, &cause)),
            None => open(&names.file_name(&self.pattern, rank), self.append),
        }
    }
}

fn open(path: &str, append: bool) -> Result<File, SlurmError> {
    let mut how = OpenOptions::new();
    how.create(true).append(true);
    let file = how.open(path).map_err(|cause| unwritable(path, &cause))?;
    // All who write to it append, so that nobody writes over another.
    if !append && file.metadata().is_ok_and(|facts| facts.is_file()) {
        file.set_len(0).map_err(|cause| unwritable(path, &cause))?;
    }
    Ok(file)
}

fn unwritable(path: &str, cause: &std::io::Error) -> SlurmError {
    SlurmError::new(msg::unable_to_open(&path, cause))
}

/// Passes on lines with the rank before them.
pub(super) fn labelled(child: &mut Child, label: &str) -> Vec<JoinHandle<()>> {
    fn pass(from: impl Read + Send + 'static, to_errors: bool, label: String) -> JoinHandle<()> {
        thread::spawn(move || {
            let mut lines = BufReader::new(from);
            let mut line = Vec::new();
            while matches!(lines.read_until(b'\n', &mut line), Ok(count) if count > 0) {
                let mut whole = label.clone().into_bytes();
                whole.append(&mut line);
                if whole.last() != Some(&b'\n') {
                    whole.push(b'\n');
                }
                // Whoever reads it may be gone.
                let _ = match to_errors {
                    true => std::io::stderr().write_all(&whole),
                    false => std::io::stdout().write_all(&whole),
                };
            }
        })
    }
    let stdout = child.stdout.take().map(|from| pass(from, false, label.to_owned()));
    let stderr = child.stderr.take().map(|from| pass(from, true, label.to_owned()));
    stdout.into_iter().chain(stderr).collect()
}

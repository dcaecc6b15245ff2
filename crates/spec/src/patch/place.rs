//! Resolves what depends on the submitter: relative paths, `~` and `@`.

use super::{Change, Patch};
use crate::input_error::InputError;
use crate::parse::task_ids::TaskName;
use danlu_core::task::PythonEnvironment;

/// Working directory and home of the submitter.
#[derive(Debug, Clone)]
pub struct Place {
    /// The error is reported only if a relative path needs it.
    pub directory: Result<String, InputError>,
    pub home: String,
}

impl Place {
    fn absolute(&self, path: &str) -> Result<String, InputError> {
        if path.starts_with('/') {
            return Ok(path.to_owned());
        }
        if path == "~" || path.starts_with("~/") {
            return Ok(path.replacen('~', &self.home, 1));
        }
        let path = std::path::Path::new(self.directory.as_ref().map_err(Clone::clone)?).join(path);
        // `a/..` and `./a` read better without the dots; nothing is looked up.
        let path = std::path::absolute(&path).unwrap_or(path);
        Ok(path.to_string_lossy().into_owned())
    }
}

impl Patch {
    /// Makes its paths absolute. A virtual environment is where the submitter is, which need not be where the task runs.
    pub fn settle(&mut self, place: &Place) -> Result<(), InputError> {
        if let Change::Set(directory) = &mut self.directory {
            *directory = place.absolute(directory)?;
        }
        if let Change::Set(PythonEnvironment::Venv(path)) = &mut self.python {
            *path = place.absolute(path)?;
        }
        Ok(())
    }

    /// Puts the ids of the submitter's own tasks where `@` and `@~1` stand; `own` finds them, 0 is the last one.
    pub fn resolve_own<E>(&mut self, mut own: impl FnMut(u32) -> Result<u64, E>) -> Result<(), E> {
        let Change::Set(wishes) = &mut self.after else { return Ok(()) };
        for wish in wishes {
            if let TaskName::Mine(back) = wish.on {
                wish.on = TaskName::Id(own(back)?);
            }
        }
        Ok(())
    }

    pub fn names_own_tasks(&self) -> bool {
        let mut wishes = self.after.value().into_iter().flatten();
        wishes.any(|wish| matches!(wish.on, TaskName::Mine(_)))
    }
}

//! Errors of the simulator, in the user's language.

use std::{io, path::Path};

use danlu_messages::cli::sim as msg;
use danlu_sim::trace::{ClusterError, PolicyError, ReplayError, TraceError};

use crate::failure::{Exit, Failure};

pub(crate) fn trace(error: &TraceError) -> Failure {
    Failure::new(Exit::Refused, error.to_string()).hint(error.hint())
}

pub(crate) fn policy(error: &PolicyError) -> Failure {
    Failure::new(Exit::Usage, error.to_string()).hint(error.hint())
}

pub(crate) fn cluster(error: &ClusterError) -> Failure {
    Failure::new(Exit::Usage, error.to_string()).hint(error.hint())
}

pub(crate) fn replay(error: &ReplayError) -> Failure {
    let hint = match error {
        ReplayError::Refused { .. } | ReplayError::Setup(_) => msg::larger_cluster(),
        ReplayError::NoEstimate { .. } => msg::fill_in_column(),
    };
    Failure::new(Exit::Refused, error.to_string()).hint(hint)
}

pub(crate) fn unwritable(path: &Path, cause: &io::Error) -> Failure {
    let sentence = msg::could_not_write();
    Failure::new(Exit::Refused, format!("{sentence} `{}`: {cause}", path.display()))
        .hint(msg::choose_directory())
}

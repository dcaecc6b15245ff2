//! Makes the records of how runs ended (`exit.json`), for shims and agents.

use crate::boot::{boot_id, booted_at};
use crate::clock;
use crate::shim::refusal::Refusal;
use danlu_core::run::Exit;
use danlu_core::run::RunUsage;
use danlu_core::{Failure, FailureClass, Time, Trouble};
use danlu_wire::rundir::{ExitRecord, LaunchFailure, LaunchStage, ShimState, V1};

/// Ended right now.
pub(crate) fn ended(exit: Exit, started_at: Option<Time>) -> ExitRecord {
    ExitRecord {
        v: V1,
        boot_id: boot_id().to_owned(),
        exit,
        launch_failure: None,
        failure: None,
        stopped: false,
        interrupted: false,
        started_at,
        ended_at: clock::now(),
        used: RunUsage::default(),
    }
}

pub(crate) fn refused(refusal: &Refusal) -> ExitRecord {
    let exit = match refusal.trouble {
        Some(kind) => Exit::Trouble(Trouble::new(kind, &refusal.message)),
        None => Exit::Launch { message: refusal.message.clone() },
    };
    let LaunchFailure { stage, errno } = refusal.failure;
    let missing = stage == LaunchStage::Environment && errno == 0;
    let failure = missing.then(|| Failure::new(FailureClass::EnvMissing, &refusal.message));
    ExitRecord { launch_failure: Some(refusal.failure.clone()), failure, ..ended(exit, None) }
}

/// Its shim has left no result; `None` when not even its beginning is known.
pub(crate) fn vanished(state: Option<&ShimState>) -> ExitRecord {
    let rebooted = state.is_some_and(|state| state.boot_id != boot_id());
    let mut record = ended(Exit::Vanished { rebooted }, state.map(|state| state.started_at));
    if rebooted {
        // It was over when this boot began.
        record.ended_at = booted_at().unwrap_or(record.ended_at).min(record.ended_at);
    }
    record
}

/// Its directory was deleted, and with it the record of its end.
pub(crate) fn unknown() -> ExitRecord {
    ended(Exit::NoRecord, None)
}

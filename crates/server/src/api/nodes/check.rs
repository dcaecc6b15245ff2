//! `danlu node check`: the steps of connecting to a machine, and which of them fails.

use super::{id_of, unknown};
use crate::api::{Api, ApiError, Caller};
use crate::fleet::remote::{LinkState, NodeRoute, Status, Step};
use danlu_messages::machines::CheckOutcome;
use danlu_wire::api::{CheckStep, CheckedStep, NodeCheck};
use std::time::Duration;

/// A clock that is this far off makes times of tasks hard to read.
const CLOCK_OFF: u64 = 2_000;
/// Timeout of a check.
const CHECK: Duration = Duration::from_secs(130);

/// The steps in order, up to the first that fails.
pub(crate) async fn check(api: &Api, caller: &Caller, name: &str) -> Result<NodeCheck, ApiError> {
    caller.require_admin()?;
    id_of(api, name)?;
    let mut steps = Vec::new();
    let Some((record, before)) = api.nodes.status(name) else {
        steps.push(passed(CheckStep::Reach, &CheckOutcome::Server));
        return Ok(NodeCheck { name: name.to_owned(), steps });
    };
    if before.link != LinkState::Connected && matches!(record.route, NodeRoute::Ssh(_)) {
        if before.link == LinkState::Away {
            api.nodes.poke(name);
        }
        let _ = tokio::time::timeout(CHECK, api.nodes.tried(name, before.tries)).await;
    }
    let Some((record, status)) = api.nodes.status(name) else { return Err(unknown(name)) };
    let version = status.version.clone().unwrap_or_default();
    let expected = [
        (Step::LogIn, CheckStep::Reach, CheckOutcome::Reached { route: record.route.to_string() }),
        (Step::Upload, CheckStep::Upload, CheckOutcome::HasProgram),
        (Step::Start, CheckStep::Start, CheckOutcome::AgentRuns),
        (Step::Greet, CheckStep::Greet, CheckOutcome::Speaks { version }),
    ];
    for (step, checked, good) in expected {
        match &status.problem {
            Some(reason) if reason.step == step => {
                let failed = CheckOutcome::Failed(reason.problem.clone());
                steps.push(worded(checked, false, &failed));
                return Ok(NodeCheck { name: name.to_owned(), steps });
            }
            Some(_) | None => steps.push(passed(checked, &good)),
        }
    }
    steps.extend(further(&status));
    let others = api.nodes.same_as(name, &api.config.node_name);
    if !others.is_empty() {
        // Only a warning: containers and cloned disks look the same.
        steps.push(passed(CheckStep::Machine, &CheckOutcome::SameMachine { others }));
    }
    Ok(NodeCheck { name: name.to_owned(), steps })
}

fn further(status: &Status) -> Vec<CheckedStep> {
    let mut steps = Vec::new();
    if let Some(machine) = &status.machine {
        let (login, is_root) = (machine.login.clone(), machine.is_root);
        steps.push(passed(CheckStep::Login, &CheckOutcome::Login { login, is_root }));
    }
    if let Some(ahead) = status.clock_ahead {
        let off_ms = ahead.unsigned_abs();
        steps.push(worded(CheckStep::Clock, off_ms < CLOCK_OFF, &CheckOutcome::Clock { off_ms }));
    }
    if let Some(facts) = &status.facts {
        let free_gb = facts.disk_free.unwrap_or(0) >> 30;
        let (directory, file_system) = (facts.directory.clone(), facts.file_system.clone());
        let disk = CheckOutcome::Disk { free_gb, directory, file_system };
        steps.push(worded(CheckStep::Disk, free_gb > 0, &disk));
        let driver = match facts.driver.clone() {
            Some(version) => CheckOutcome::Driver { version },
            None => CheckOutcome::NoDriver,
        };
        steps.push(passed(CheckStep::Driver, &driver));
        let gpus = CheckOutcome::Gpus { probe: facts.probe.clone() };
        steps.push(passed(CheckStep::Gpus, &gpus));
    }
    steps
}

fn passed(step: CheckStep, outcome: &CheckOutcome) -> CheckedStep {
    worded(step, true, outcome)
}

/// In the language of the reader.
fn worded(step: CheckStep, ok: bool, outcome: &CheckOutcome) -> CheckedStep {
    let hint = if ok { String::new() } else { outcome.hint() };
    CheckedStep { step, ok, message: outcome.message(), hint }
}

//! `danlu node check`: the steps of connecting to a machine, and which of them fails.

use super::{id_of, unknown};
use crate::api::{Api, ApiError, Caller};
use crate::fleet::remote::{LinkState, NodeRoute, Status, Step};
use danlu_wire::api::{CheckedStep, NodeCheck};
use std::time::Duration;

/// A clock that is this far off makes times of tasks hard to read.
const CLOCK_OFF: i64 = 2_000;
/// Timeout of a check.
const CHECK: Duration = Duration::from_secs(130);

/// The steps in order, up to the first that fails.
pub(crate) async fn check(api: &Api, caller: &Caller, name: &str) -> Result<NodeCheck, ApiError> {
    caller.require_admin()?;
    id_of(api, name)?;
    let mut steps = Vec::new();
    let ok = |step: &str, message: String| CheckedStep {
        step: step.to_owned(),
        ok: true,
        message,
        hint: String::new(),
    };
    let Some((record, before)) = api.nodes.status(name) else {
        steps.push(ok("reach", "it is the machine that the server runs on".to_owned()));
        return Ok(NodeCheck { name: name.to_owned(), steps });
    };
    if before.link != LinkState::Connected && matches!(record.route, NodeRoute::Ssh(_)) {
        if before.link == LinkState::Away {
            api.nodes.poke(name);
        }
        let _ = tokio::time::timeout(CHECK, api.nodes.tried(name, before.tries)).await;
    }
    let Some((record, status)) = api.nodes.status(name) else { return Err(unknown(name)) };
    let words = [
        (Step::LogIn, "reach", format!("reached: {}", record.route)),
        (Step::Upload, "upload", "has the program".to_owned()),
        (Step::Start, "start", "its agent runs".to_owned()),
        (
            Step::Greet,
            "greet",
            format!("speaks version {}", status.version.clone().unwrap_or_default()),
        ),
    ];
    for (step, word, good) in words {
        match &status.problem {
            Some(reason) if reason.step == step => {
                steps.push(CheckedStep {
                    step: word.to_owned(),
                    ok: false,
                    message: reason.message.clone(),
                    hint: reason.hint.clone(),
                });
                return Ok(NodeCheck { name: name.to_owned(), steps });
            }
            _ => steps.push(ok(word, good)),
        }
    }
    steps.extend(further(&status));
    let same_as = api.nodes.same_as(name, &api.config.node_name);
    if !same_as.is_empty() {
        // Only a warning: containers and cloned disks look the same.
        steps.push(ok("machine", format!("looks like the same machine as {}", same_as.join(", "))));
    }
    Ok(NodeCheck { name: name.to_owned(), steps })
}

fn further(status: &Status) -> Vec<CheckedStep> {
    let step = |step: &str, ok: bool, message: String, hint: &str| CheckedStep {
        step: step.to_owned(),
        ok,
        message,
        hint: if ok { String::new() } else { hint.to_owned() },
    };
    let mut steps = Vec::new();
    if let Some(machine) = &status.machine {
        let who = match machine.is_root {
            true => "as anybody",
            false => "as the login itself, and as those who have given a key of their own",
        };
        let login = format!("the agent is {}: tasks can run {who}", machine.login);
        steps.push(step("login", true, login, ""));
    }
    if let Some(ahead) = status.clock_ahead {
        let message = format!("its clock is {} ms off", ahead.abs());
        steps.push(step(
            "clock",
            ahead.abs() < CLOCK_OFF,
            message,
            "let it use NTP, as chrony does",
        ));
    }
    if let Some(facts) = &status.facts {
        let free = facts.disk_free.unwrap_or(0) >> 30;
        let (place, kind) = (&facts.directory, &facts.file_system);
        let message = format!("{free} GB free in {place} ({kind}), where runs are kept");
        steps.push(step("disk", free > 0, message, "make room there"));
        let driver = facts.driver.as_deref().unwrap_or("no driver of GPUs is loaded");
        steps.push(step("driver", true, driver.to_owned(), ""));
        steps.push(step("gpus", true, format!("GPUs are asked by: {}", facts.probe), ""));
    }
    steps
}

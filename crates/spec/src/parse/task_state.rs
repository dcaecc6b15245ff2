//! Parses `--state running,failed`: states and groups of states.

use danlu_messages::spec as msg;
use danlu_wire::api::TaskStateName;

/// One word can stand for several states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct States(pub Vec<TaskStateName>);

pub const OPEN: [TaskStateName; 8] = [
    TaskStateName::Held,
    TaskStateName::Blocked,
    TaskStateName::Queued,
    TaskStateName::Starting,
    TaskStateName::Running,
    TaskStateName::Paused,
    TaskStateName::Stopping,
    TaskStateName::Lost,
];
pub const WAITING: [TaskStateName; 3] =
    [TaskStateName::Held, TaskStateName::Blocked, TaskStateName::Queued];
pub const ACTIVE: [TaskStateName; 5] = [
    TaskStateName::Starting,
    TaskStateName::Running,
    TaskStateName::Paused,
    TaskStateName::Stopping,
    TaskStateName::Lost,
];
pub const ENDED: [TaskStateName; 4] = [
    TaskStateName::Succeeded,
    TaskStateName::Failed,
    TaskStateName::Cancelled,
    TaskStateName::TimedOut,
];

pub fn parse_state(given: &str) -> Result<States, String> {
    let word = given.to_ascii_lowercase().replace('-', "_");
    let states = match word.as_str() {
        "open" => OPEN.to_vec(),
        "waiting" | "pending" => WAITING.to_vec(),
        "active" => ACTIVE.to_vec(),
        "ended" | "done" | "finished" => ENDED.to_vec(),
        "all" => TaskStateName::ALL.to_vec(),
        "completed" => vec![TaskStateName::Succeeded],
        "timeout" => vec![TaskStateName::TimedOut],
        "canceled" => vec![TaskStateName::Cancelled],
        name => {
            let found = TaskStateName::ALL.into_iter().find(|state| state.as_str() == name);
            vec![found.ok_or_else(complaint)?]
        }
    };
    Ok(States(states))
}

fn complaint() -> String {
    let names: Vec<&str> = TaskStateName::ALL.into_iter().map(TaskStateName::as_str).collect();
    let names = names.join(", ");
    msg::expected_state(&names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_open_or_ended_and_every_open_one_waits_or_is_active() {
        for state in TaskStateName::ALL {
            assert_eq!(ENDED.contains(&state), state.is_over());
            assert_ne!(ENDED.contains(&state), OPEN.contains(&state));
            let kinds =
                usize::from(WAITING.contains(&state)) + usize::from(ACTIVE.contains(&state));
            assert_eq!(kinds, usize::from(OPEN.contains(&state)));
        }
    }

    #[test]
    fn names_and_groups() {
        assert_eq!(parse_state("running"), Ok(States(vec![TaskStateName::Running])));
        assert_eq!(parse_state("timed-out"), Ok(States(vec![TaskStateName::TimedOut])));
        assert_eq!(parse_state("Waiting"), Ok(States(WAITING.to_vec())));
        assert!(parse_state("runing").is_err_and(|complaint| complaint.contains("running")));
    }
}

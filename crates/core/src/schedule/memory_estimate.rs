//! How much GPU memory a command needs, from its earlier runs.

use crate::model::ids::UserId;
use crate::state::State;

/// The most bytes of a GPU that runs of this command were seen to use, among those of this user.
pub fn learnt_gpu_memory(state: &State, user: UserId, command: &[String]) -> Option<u64> {
    let wanted = program(command);
    let alike = state
        .tasks
        .values()
        .filter(|task| task.owner == user && program(&task.spec.command) == wanted);
    let runs = alike.flat_map(|task| state.runs_of(task.id));
    runs.filter_map(|run| run.peak_gpu_memory).filter(|bytes| *bytes > 0).max()
}

/// `python train.py --lr 0.1` and `python train.py --lr 0.2` are the same program.
fn program(command: &[String]) -> (Option<&String>, Option<&String>) {
    (command.first(), command.get(1).filter(|word| !word.starts_with('-')))
}

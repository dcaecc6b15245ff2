//! How much GPU memory a command needs, from its earlier runs.

use crate::model::ids::UserId;
use crate::model::past_work::program;
use crate::state::State;

/// The most bytes of a GPU that runs of this command were seen to use, among those of this user.
pub fn learnt_gpu_memory(state: &State, user: UserId, command: &[String]) -> Option<u64> {
    let wanted = program(command);
    let alike = state
        .tasks
        .values()
        .filter(|task| task.owner == user && program(&task.spec.command) == wanted);
    let runs = alike.flat_map(|task| state.runs_of(task.id));
    let here = runs.filter_map(|run| run.peak_gpu_memory).filter(|bytes| *bytes > 0).max();
    let before = state.past_work.get(&user).and_then(|past| past.peak_of(command));
    here.max(before)
}

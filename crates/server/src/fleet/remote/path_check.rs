//! Asks an agent whether the paths that a task names exist on its machine.

use super::Nodes;
use danlu_core::{NodeId, UserId};
use danlu_wire::ToAgent;
use danlu_wire::agent::{CHECKS_PATHS, CheckPaths, PathsSeen, TaskPaths};
use tokio::sync::oneshot;

impl Nodes {
    /// Asks the agent there, which looks as the OS user `owner`. `None` where nobody can be asked: the machine is away, its
    /// agent too old, or the person has one of their own there, which finds out when it starts the task.
    pub(crate) fn check_paths(
        &self,
        node: NodeId,
        user: UserId,
        owner: String,
        paths: TaskPaths,
    ) -> Option<oneshot::Receiver<PathsSeen>> {
        let connection = self.connection(node)?;
        if connection.protocol < CHECKS_PATHS || connection.user_agents.of(user).is_some() {
            return None;
        }
        let (ask, seen) = connection.asks.open_check();
        let order = ToAgent::CheckPaths(CheckPaths { ask, owner, paths });
        connection.orders.send(order).ok().map(|()| seen)
    }
}

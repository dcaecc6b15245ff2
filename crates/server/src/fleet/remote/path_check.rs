//! Asks an agent whether the paths that a task names exist on its machine.

use super::Nodes;
use danlu_core::{NodeId, UserId};
use danlu_wire::ToAgent;
use danlu_wire::agent::{CHECKS_PATHS, CheckPaths, PathsSeen, TaskPaths};
use tokio::sync::oneshot;

impl Nodes {
    /// Asks the agent there, which checks as the OS user `owner`. `None` if it cannot: the machine is away, its agent is too
    /// old, or the user has an agent of their own, which finds out when it starts the task.
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

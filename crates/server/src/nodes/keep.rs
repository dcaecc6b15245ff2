//! One task for each machine: connects, speaks until the connection is gone, and connects again.

use super::session::{self, Far};
use super::ssh::{self, Step, Unreachable};
use super::{LinkState, Nodes};
use crate::clock;
use danlu_core::{Input, NodeId, NodeMessage};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tracing::{info, warn};

/// Between two tries: little at first, more for a machine that stays away.
const LEAST_WAIT: Duration = Duration::from_millis(500);
const MOST_WAIT: Duration = Duration::from_secs(30);
/// From the first word of `ssh` to the agent's.
const LONGEST_TRY: Duration = Duration::from_secs(120);

impl Nodes {
    pub(super) fn keep_connected(&self, name: &str) {
        let mut known = self.known();
        let Some(one) = known.get_mut(name) else { return };
        let poke = Arc::clone(&one.poke);
        one.task = Some(tokio::spawn(keep(self.clone(), name.to_owned(), poke)));
    }
}

async fn keep(nodes: Nodes, name: String, poke: Arc<Notify>) {
    let mut wait = LEAST_WAIT;
    loop {
        nodes.note(&name, |status| status.link = LinkState::Connecting);
        let Some(ended) = once(&nodes, &name).await else { return };
        let was_there = matches!(ended, Ended::Lost(_));
        let (Ended::Lost(reason) | Ended::Never(reason)) = ended;
        warn!(node = name, step = ?reason.step, %reason, "the machine cannot be reached");
        nodes.note(&name, |status| {
            status.link = LinkState::Away;
            status.problem = Some(reason);
            status.tries += 1;
        });
        wait = if was_there { LEAST_WAIT } else { (wait * 2).min(MOST_WAIT) };
        // Not all at once after the network was down.
        let jitter = f64::from(u16::from_le_bytes(random())) / f64::from(u16::MAX);
        tokio::select! {
            () = tokio::time::sleep(wait.mul_f64(0.5 + jitter)) => {}
            () = poke.notified() => wait = LEAST_WAIT,
        }
    }
}

fn random() -> [u8; 2] {
    let mut bytes = [0; 2];
    // Without randomness all wait equally long.
    let _ = getrandom::fill(&mut bytes);
    bytes
}

enum Ended {
    /// It was connected.
    Lost(Unreachable),
    Never(Unreachable),
}

/// `None` when there is no such node any more.
async fn once(nodes: &Nodes, name: &str) -> Option<Ended> {
    let (record, _) = nodes.status(name)?;
    let handle = nodes.0.handle.get()?.clone();
    let node: NodeId = handle.model().nodes.values().find(|node| node.name == name)?.id;
    let program = match nodes.program().await {
        Ok(program) => program,
        Err(error) => {
            let hint = "see that /proc is there";
            let message = format!("this program cannot be read: {error}");
            return Some(Ended::Never(Unreachable::new(Step::Upload, message, hint)));
        }
    };
    let known_hosts = ssh::known_hosts(&nodes.0.data);
    let connecting = ssh::connect(&record.ssh, record.sudo, &known_hosts, program);
    let too_long = |step| {
        Unreachable::new(step, "the machine does not answer", "see whether it is overloaded")
    };
    let mut channel = match tokio::time::timeout(LONGEST_TRY, connecting).await {
        Ok(Ok(channel)) => channel,
        Ok(Err(reason)) => return Some(Ended::Never(reason)),
        Err(_) => return Some(Ended::Never(too_long(Step::LogIn))),
    };
    let far = Far { nodes, handle: &handle, node, record: &record };
    let greeted = match far.greet(&mut channel.from, &mut channel.to).await {
        Ok(greeted) => greeted,
        Err(session::NotGreeted::Silent) => {
            return Some(Ended::Never(channel.reason(Step::Start).await));
        }
        Err(session::NotGreeted::Wrong(reason)) => return Some(Ended::Never(reason)),
    };
    info!(node = name, session = greeted.session.0, "connected");
    nodes.note(name, |status| {
        status.link = LinkState::Connected;
        status.problem = None;
        status.tries += 1;
        status.version = Some(greeted.version.clone());
        status.machine = Some(greeted.machine.clone());
        status.clock_ahead = Some(greeted.clock_ahead);
        status.last_contact_at = Some(clock::now());
    });
    let session = greeted.session;
    let why = far.speak(greeted, &mut channel.from, &mut channel.to).await;
    nodes.connections().remove(&node);
    nodes.0.live.forget(node);
    handle.tell(Input::Node { node, session, message: NodeMessage::Lost });
    Some(Ended::Lost(match why {
        Some(why) => why,
        None => channel.reason(Step::Greet).await,
    }))
}

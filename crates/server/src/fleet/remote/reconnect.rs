//! One task for each machine that is reached by SSH: connects, serves the connection until it ends, and reconnects.

use super::session::{ConnectedNode, NotGreeted, RemoteNode};
use super::ssh::{self, Step, Unreachable};
use super::ssh_error::HostKeyPlace;
use super::{LinkState, NodeRoute, Nodes};
use crate::daemon::clock;
use danlu_core::NodeId;
use danlu_messages::machines::MachineProblem;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tracing::{info, warn};

/// Wait between attempts: short at first, longer for a machine that stays away.
const LEAST_WAIT: Duration = Duration::from_millis(500);
const MOST_WAIT: Duration = Duration::from_secs(30);
/// Timeout from the start of `ssh` to the agent's greeting.
pub(super) const LONGEST_TRY: Duration = Duration::from_secs(120);
/// A connection that lasted this long was stable.
const STEADY: Duration = Duration::from_secs(20);
/// An unstable connection counts as at most this many failed attempts, so that it is tried again after some seconds.
const OFTEN: u32 = 3;

impl Nodes {
    pub(super) fn keep_connected(&self, name: &str) {
        let mut known = self.known();
        let Some(one) = known.get_mut(name) else { return };
        match one.record.route {
            NodeRoute::Ssh(_) => {
                let poke = Arc::clone(&one.poke);
                let task = tokio::spawn(keep(self.clone(), name.to_owned(), poke));
                one.task = Some(task.abort_handle());
            }
            NodeRoute::DialIn(_) => {
                one.status.link = LinkState::Away;
                one.status.problem =
                    Some(Unreachable::new(Step::LogIn, MachineProblem::NotDialledIn));
            }
        }
    }

    /// Serves a connection to its end. `began` is called once the machine is identified.
    pub(super) async fn speak_with(
        &self,
        name: &str,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
        began: impl FnOnce(),
    ) -> Option<Ended> {
        let (record, _) = self.status(name)?;
        let handle = self.0.handle.get()?.clone();
        let node: NodeId = handle.model().nodes.values().find(|node| node.name == name)?.id;
        let far = RemoteNode { nodes: self, handle: &handle, node, record: &record };
        let greeted = match far.greet(far.next_session(), from, to).await {
            Ok(greeted) => far.recognise(&greeted.machine).await.map(|()| greeted),
            Err(not) => Err(not),
        };
        let greeted = match greeted {
            Ok(greeted) => greeted,
            Err(NotGreeted::Silent) => return Some(Ended::Never(None)),
            Err(NotGreeted::Wrong(reason)) => return Some(Ended::Never(Some(reason))),
        };
        if greeted.machine.is_root {
            // Only administrators assign the OS users of an agent with root: users' own keys do not count there.
            let dropped = self.0.logins.drop_ssh(&handle, name).await;
            if dropped.is_err() {
                warn!(node = name, "people's own keys could not be removed; they are not used");
            }
        }
        began();
        info!(node = name, session = greeted.session.0, "connected");
        self.note(name, |status| {
            status.link = LinkState::Connected;
            status.problem = None;
            status.boot_id.clone_from(&greeted.boot_id);
            status.tries += 1;
            status.version = Some(greeted.version.clone());
            status.machine = Some(greeted.machine.clone());
            status.clock_ahead = Some(greeted.clock_ahead);
            status.last_contact_at = Some(clock::now());
        });
        let _present =
            ConnectedNode { nodes: self, handle: &handle, node, session: greeted.session };
        Some(Ended::Lost(far.speak(greeted, from, to).await))
    }

    pub(super) fn note_end(&self, name: &str, reason: Unreachable) {
        warn!(node = name, step = ?reason.step, %reason, "the machine cannot be reached");
        self.note(name, |status| {
            status.link = LinkState::Away;
            status.problem = Some(reason);
            status.tries += 1;
        });
    }
}

/// Why a connection ended, if the transport itself did not fail.
pub(super) enum Ended {
    /// It had been connected.
    Lost(Option<Unreachable>),
    Never(Option<Unreachable>),
}

async fn keep(nodes: Nodes, name: String, poke: Arc<Notify>) {
    let mut tries = 0;
    loop {
        nodes.note(&name, |status| status.link = LinkState::Connecting);
        let began = Instant::now();
        let Some((was_there, reason)) = once(&nodes, &name).await else { return };
        nodes.note_end(&name, reason);
        tries = next_try(tries, was_there, began);
        tokio::select! {
            () = pause(tries) => {}
            () = poke.notified() => tries = 0,
        }
    }
}

/// A connection that is lost at once counts as a failed attempt: otherwise it would reconnect all the time.
pub(super) fn next_try(tries: u32, was_there: bool, began: Instant) -> u32 {
    let next = tries.saturating_add(1);
    match was_there {
        true if began.elapsed() >= STEADY => 0,
        true => next.min(OFTEN),
        false => next,
    }
}

/// Waits before the next attempt, with jitter, so that machines do not all reconnect at once after a network failure.
pub(super) async fn pause(tries: u32) {
    let wait = LEAST_WAIT.saturating_mul(1 << tries.min(10)).min(MOST_WAIT);
    let jitter = f64::from(u16::from_le_bytes(random())) / f64::from(u16::MAX);
    tokio::time::sleep(wait.mul_f64(0.5 + jitter)).await;
}

fn random() -> [u8; 2] {
    let mut bytes = [0; 2];
    // Without randomness all wait the same time.
    let _ = getrandom::fill(&mut bytes);
    bytes
}

/// Whether it was connected, and why it no longer is. `None` if the node was removed.
async fn once(nodes: &Nodes, name: &str) -> Option<(bool, Unreachable)> {
    let (record, _) = nodes.status(name)?;
    let NodeRoute::Ssh(target) = &record.route else { return None };
    if let Some(other) = nodes.in_its_place(&record) {
        let problem = MachineProblem::SameRunDirectory { other, node: name.to_owned() };
        return Some((false, Unreachable::new(Step::Greet, problem)));
    }
    let program = match nodes.program().await {
        Ok(program) => program,
        Err(error) => {
            let problem = MachineProblem::ProgramUnreadable { error: error.to_string() };
            return Some((false, Unreachable::new(Step::Upload, problem)));
        }
    };
    let known_hosts = ssh::known_hosts(&nodes.0.data);
    let place = HostKeyPlace::of(target, &known_hosts);
    let command = ssh::command(target, &known_hosts);
    let connecting = ssh::connect(command, &place, record.sudo, program);
    let mut channel = match tokio::time::timeout(LONGEST_TRY, connecting).await {
        Ok(Ok((channel, _))) => channel,
        Ok(Err(reason)) => return Some((false, reason)),
        Err(_) => {
            let problem = MachineProblem::MachineSilent;
            return Some((false, Unreachable::new(Step::LogIn, problem)));
        }
    };
    let ended = nodes.speak_with(name, &mut channel.from, &mut channel.to, || ()).await?;
    Some(match ended {
        Ended::Lost(Some(reason)) => (true, reason),
        Ended::Lost(None) => (true, channel.reason(Step::Greet).await),
        Ended::Never(Some(reason)) => (false, reason),
        Ended::Never(None) => (false, channel.reason(Step::Start).await),
    })
}

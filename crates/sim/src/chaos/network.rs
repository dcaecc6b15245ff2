//! Connections between the daemon and the agents: ordered pipes that can be cut at any time.
//!
//! A cut loses what is in flight, or stalls it so that it arrives late; each side notices the
//! cut in its own time, so for a while one of them talks into the void.

use super::agenda::Happening;
use super::connection::{Connection, End, Pipe};
use super::faults::Fault;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::{Effect, NodeId, NodeMessage, Row, SessionId, Span};

impl World {
    pub(super) fn dial_later(&mut self, machine: usize, span: Span) {
        if !self.machines[machine].dialing {
            self.machines[machine].dialing = true;
            self.agenda.at(self.now + span, Happening::Dial { machine });
        }
    }

    /// A machine and the daemon find each other, if both are there.
    pub(super) fn dial(&mut self, machine: usize) {
        let it = &mut self.machines[machine];
        it.dialing = false;
        if !it.agent_up || it.link.is_some_and(|session| self.network.is_live(session)) {
            return;
        }
        let known = self.daemon.readers.rows();
        let node = known.filter_map(|row| match row {
            Row::Node(node) if node.name == it.name => Some((node.id, node.session)),
            _ => None,
        });
        match node.last() {
            Some((node, last)) if !it.partitioned => self.connect(machine, node, last),
            _ => {
                let span = self.dice.span(200, 3000);
                self.dial_later(machine, span);
            }
        }
    }

    /// On a connection with a higher number than any before.
    fn connect(&mut self, machine: usize, node: NodeId, last: SessionId) {
        let session = SessionId(self.network.last_session.max(last).0 + 1);
        self.network.last_session = session;
        self.tally.connections += 1;
        if let Some(old) = self.daemon.lines.insert(node, session) {
            // The backend may hang up on the old one, or go on reading what still comes from it.
            let hang_up = self.dice.chance(500);
            self.cut(old, hang_up.then_some(End::Daemon));
            if hang_up {
                self.post_from_node(node, old, NodeMessage::Lost);
            }
        }
        let it = &mut self.machines[machine];
        // From here on the agent obeys this connection only.
        it.newest = session;
        let connection = Connection {
            machine,
            node,
            daemon_life: self.daemon.life,
            agent_life: it.agent_life,
            to_daemon: Pipe::new(),
            to_agent: Pipe::new(),
            cut: false,
            stall: None,
            daemon_open: true,
            agent_open: true,
        };
        if let Some(old) = it.link.replace(session) {
            self.cut(old, Some(End::Agent));
        }
        self.network.connections.insert(session, connection);
        self.note_machine(machine, format_args!("connects, session {session}"));
        self.send_to_daemon(machine, NodeMessage::Connected);
        self.send_report(machine);
    }

    /// From the agent, over the connection it believes in.
    pub(super) fn send_to_daemon(&mut self, machine: usize, message: NodeMessage) {
        let Some(session) = self.machines[machine].link else {
            return;
        };
        let span = self.dice.span(0, self.network.latency);
        let Some(connection) = self.network.connections.get_mut(&session) else {
            return;
        };
        let Some(at) = connection.arrival(self.now + span) else {
            self.tally.lost_frames += 1;
            return;
        };
        let at = connection.to_daemon.put(at, message);
        self.agenda.at(at, Happening::Deliver { session, to: End::Daemon });
    }

    /// The backend: an effect goes out on the connection it was decided for, or not at all.
    pub(super) fn send_to_agent(&mut self, effect: Effect) {
        let (node, session) = (effect.node(), effect.session());
        if self.daemon.lines.get(&node) != Some(&session) {
            self.tally.dropped_effects += 1;
            self.note(
                "daemon",
                format_args!("drops an effect for session {session} of node {node}"),
            );
            return;
        }
        let mut span = self.dice.span(0, self.network.latency);
        if matches!(effect, Effect::Launch(_)) && self.strikes(Fault::LateOrder) {
            self.tally.late_orders += 1;
            span += Span(self.dice.scale(100, 20_000));
        }
        let Some(connection) = self.network.connections.get_mut(&session) else {
            return;
        };
        let Some(at) = connection.arrival(self.now + span) else {
            self.tally.lost_frames += 1;
            return;
        };
        let at = connection.to_agent.put(at, effect);
        self.agenda.at(at, Happening::Deliver { session, to: End::Agent });
    }

    pub(super) fn deliver(&mut self, session: SessionId, to: End) -> Verdict {
        let Some(connection) = self.network.connections.get_mut(&session) else {
            return Ok(());
        };
        let (machine, node) = (connection.machine, connection.node);
        match to {
            End::Daemon => {
                let Some(message) = connection.to_daemon.take(self.now) else {
                    return Ok(());
                };
                // The loss of a connection is the last thing that is heard of it.
                if connection.daemon_life != self.daemon.life || !connection.daemon_open {
                    self.tally.lost_frames += 1;
                    return Ok(());
                }
                let late = self.daemon.lines.get(&node) != Some(&session);
                self.tally.late_messages += u64::from(late);
                self.post_from_node(node, session, message);
            }
            End::Agent => {
                let Some(command) = connection.to_agent.take(self.now) else {
                    return Ok(());
                };
                let it = &self.machines[machine];
                if connection.agent_life != it.agent_life || !it.agent_up {
                    self.tally.lost_frames += 1;
                } else if it.newest != session {
                    self.tally.fenced_commands += 1;
                    self.note_machine(
                        machine,
                        format_args!("ignores a command of session {session}"),
                    );
                } else {
                    self.obey(machine, command)?;
                }
            }
        }
        Ok(())
    }

    /// The connection is gone. `closed_by` knows at once; who else there is notices later.
    pub(super) fn cut(&mut self, session: SessionId, closed_by: Option<End>) {
        let late = self.strikes(Fault::LateFrames);
        let half_open = self.strikes(Fault::HalfOpen);
        let Some(connection) = self.network.connections.get_mut(&session) else {
            return;
        };
        match closed_by {
            Some(End::Daemon) => connection.daemon_open = false,
            Some(End::Agent) => connection.agent_open = false,
            None => {}
        }
        if connection.cut {
            return;
        }
        connection.cut = true;
        let delay = Span(self.dice.scale(50, 15_000));
        connection.stall = late.then_some(delay);
        let in_flight = connection.to_daemon.flight.len() + connection.to_agent.flight.len();
        let mut kept = |len| if late { self.dice.index(len + 1) } else { 0 };
        let (to_daemon, to_agent) =
            (kept(connection.to_daemon.flight.len()), kept(connection.to_agent.flight.len()));
        self.tally.lost_frames += (in_flight - to_daemon - to_agent) as u64;
        let mut heard_until = self.now;
        for at in connection.to_daemon.cut(to_daemon, delay) {
            heard_until = at;
            self.agenda.at(at, Happening::Deliver { session, to: End::Daemon });
        }
        for at in connection.to_agent.cut(to_agent, delay) {
            self.agenda.at(at, Happening::Deliver { session, to: End::Agent });
        }
        let slow = half_open.then(|| self.dice.pick(&[End::Daemon, End::Agent])).flatten();
        self.tally.half_open += u64::from(half_open);
        for by in [End::Daemon, End::Agent] {
            let span = if slow == Some(by) {
                self.dice.span(1000, 20_000)
            } else {
                self.dice.span(0, 500)
            };
            let heard_until = if by == End::Daemon { heard_until } else { self.now };
            self.agenda.at(heard_until + span, Happening::CutNoticed { session, by });
        }
        self.note("network", format_args!("session {session} is cut"));
    }

    pub(super) fn cut_noticed(&mut self, session: SessionId, by: End) {
        let Some(connection) = self.network.connections.get_mut(&session) else {
            return;
        };
        let (machine, node) = (connection.machine, connection.node);
        match by {
            End::Daemon => {
                let news = std::mem::replace(&mut connection.daemon_open, false);
                if news && connection.daemon_life == self.daemon.life {
                    if self.daemon.lines.get(&node) == Some(&session) {
                        self.daemon.lines.remove(&node);
                    }
                    self.post_from_node(node, session, NodeMessage::Lost);
                }
            }
            End::Agent => {
                connection.agent_open = false;
                if self.machines[machine].link == Some(session) {
                    self.machines[machine].link = None;
                }
            }
        }
        let span = Span(self.dice.scale(10, 3000));
        self.dial_later(machine, span);
        self.forget_dead_connection(session);
    }

    fn forget_dead_connection(&mut self, session: SessionId) {
        let dead = self.network.connections.get(&session).is_some_and(|it| {
            let empty = it.to_daemon.flight.is_empty() && it.to_agent.flight.is_empty();
            it.cut && !it.daemon_open && !it.agent_open && empty
        });
        if dead {
            self.network.connections.remove(&session);
        }
    }
}

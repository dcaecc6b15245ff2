//! Clients: users who send requests, wait for an answer, and repeat the request when none comes.

use super::agenda::Happening;
use super::engine_actions::Answer;
use super::faults::Fault;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::{Actor, Input, Refusal, Reply, Span, TaskId, UserId};

#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) admin: bool,
    pub(super) user: Option<UserId>,
    /// Its only open question.
    pending: Option<Pending>,
    asked: u64,
    /// Tasks that it knows from answers.
    pub(super) known: Vec<TaskId>,
    /// Its submits with a key that were answered.
    pub(super) submits: Vec<Input>,
}

#[derive(Debug)]
struct Pending {
    ticket: Ticket,
    input: Input,
}

/// Which answer belongs to which question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket {
    client: usize,
    number: u64,
}

impl Client {
    pub(super) fn new(name: String, admin: bool) -> Client {
        let (known, submits) = (Vec::new(), Vec::new());
        Client { name, admin, user: None, pending: None, asked: 0, known, submits }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn actor(&self) -> Actor {
        self.user.map_or(Actor::Daemon, Actor::User)
    }
}

impl World {
    pub(super) fn client_acts(&mut self, client: usize) -> Verdict {
        self.readers_see_what_is_durable()?;
        if !self.faults_on || self.clients[client].is_waiting() {
            return Ok(());
        }
        match self.draw_input(client) {
            Some(input) => self.ask(client, input),
            None => self.think(client),
        }
        Ok(())
    }

    fn think(&mut self, client: usize) {
        let at = self.now + Span(self.dice.scale(20, self.workload.think));
        self.agenda.at(at, Happening::ClientActs { client });
    }

    pub(super) fn ask(&mut self, client: usize, input: Input) {
        let it = &mut self.clients[client];
        it.asked += 1;
        let ticket = Ticket { client, number: it.asked };
        it.pending = Some(Pending { ticket, input: input.clone() });
        self.send_request(ticket, input);
    }

    fn send_request(&mut self, ticket: Ticket, input: Input) {
        let at = self.now + Span(self.dice.scale(1, 300));
        self.agenda.at(at, Happening::RequestArrives { ticket, input: Box::new(input) });
        if self.faults_on || self.clients[ticket.client].user.is_some() {
            let at = self.now + self.dice.span(500, 6000);
            self.agenda.at(at, Happening::ClientTimesOut { ticket });
        }
    }

    pub(super) fn request_arrives(&mut self, ticket: Ticket, input: Input) {
        // Now and then somebody else wants the task at the same moment.
        let wanted = match input {
            Input::Remove { task, .. } if self.faults_on && self.dice.chance(200) => Some(task),
            _ => None,
        };
        self.post(input, Some(ticket));
        if let Some(task) = wanted {
            self.post(Input::Retry { by: Actor::Daemon, task }, None);
        }
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: Answer) {
        if self.strikes(Fault::LostAnswer) {
            return;
        }
        let at = self.now + Span(self.dice.scale(1, 300));
        self.agenda.at(at, Happening::AnswerArrives { ticket, answer });
    }

    pub(super) fn answer_arrives(&mut self, ticket: Ticket, answer: &Answer) {
        let it = &mut self.clients[ticket.client];
        if it.pending.as_ref().is_none_or(|pending| pending.ticket != ticket) {
            return;
        }
        let Answer::Decided(decision) = answer else {
            // A client without an answer asks again, as does one that is told that nothing was done.
            return;
        };
        let asked = it.pending.take().map(|pending| pending.input);
        match decision {
            Ok(Reply::Task(task)) => {
                let again = it.known.contains(task);
                if let Some(submit @ Input::Submit { key: Some(_), .. }) = asked
                    && !again
                {
                    it.submits.push(submit);
                }
                if !again {
                    it.known.push(*task);
                    self.everybodys.push(*task);
                }
            }
            Ok(Reply::User(user)) => it.user = Some(*user),
            Err(Refusal::NoSuchTask(gone)) => {
                it.known.retain(|task| task != gone);
                self.everybodys.retain(|task| task != gone);
            }
            Ok(Reply::Node(_) | Reply::Done) | Err(_) => {}
        }
        self.think(ticket.client);
    }

    /// A submit with a key is repeated until it is answered; anything else may be given up.
    pub(super) fn client_times_out(&mut self, ticket: Ticket) {
        let it = &mut self.clients[ticket.client];
        let Some(pending) = it.pending.take_if(|pending| pending.ticket == ticket) else {
            return;
        };
        let again = match &pending.input {
            Input::Submit { key, .. } => key.is_some(),
            _ => self.faults_on && self.dice.chance(500),
        };
        if again {
            let submit = matches!(pending.input, Input::Submit { .. });
            self.tally.repeated_submits += u64::from(submit);
            self.send_request(ticket, pending.input.clone());
            self.clients[ticket.client].pending = Some(pending);
        } else {
            self.think(ticket.client);
        }
    }
}

//! NVIDIA GPUs through the program `nvidia-smi`, where NVML cannot be loaded.
//!
//! The program takes between a tenth of a second and several seconds, so it runs in the background: one sample starts it, a later one
//! reads its output. Each round makes two queries: the GPUs, then their processes.

mod answer;
mod query;

use self::answer::{FORMAT, Fields, Line, PROCESSES};
use self::query::Query;
use super::Reading;
use super::error::ProbeError;
use super::lost::attribute;
use super::sample::{GpuFacts, GpuSample};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Smi {
    command: PathBuf,
    limit: Duration,
    fields: Fields,
    turn: Turn,
    /// An answer that arrived between two samples.
    ready: Option<Reading>,
    last: Vec<Arc<GpuFacts>>,
}

#[derive(Debug)]
enum Turn {
    Idle,
    Gpus(Query),
    Processes(Query, Vec<Line>, Vec<(String, ProbeError)>),
    /// It was ended but has not gone: another one would hang beside it.
    Stuck(Query),
}

impl Smi {
    pub fn new(command: PathBuf, limit: Duration) -> Self {
        let (turn, ready, last) = (Turn::Idle, None, Vec::new());
        Smi { command, limit, fields: Fields::All, turn, ready, last }
    }

    /// Waits for the first answer, which the first sample then gives.
    pub fn wait_for_answer(&mut self) -> Result<(), ProbeError> {
        let until = Instant::now() + 3 * self.limit;
        while self.ready.is_none() {
            self.ready = self.sample()?;
            if let (None, Some(fd)) = (&self.ready, self.fd()) {
                let left = until.saturating_duration_since(Instant::now()).min(self.limit);
                let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
                // The next round reads it.
                let _ = poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], timeout);
            }
        }
        Ok(())
    }

    /// Never waits. `None`: no new answer yet.
    pub fn sample(&mut self) -> Result<Option<Reading>, ProbeError> {
        if let Some(reading) = self.ready.take() {
            return Ok(Some(reading));
        }
        match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Idle => {
                self.turn = Turn::Gpus(self.ask(self.fields.argument())?);
                Ok(None)
            }
            Turn::Gpus(query) => self.after_gpus(query),
            Turn::Processes(query, gpus, strange) => self.after_processes(query, gpus, strange),
            Turn::Stuck(mut query) => {
                if query.is_gone() {
                    return self.sample();
                }
                let error = query.no_answer();
                self.turn = Turn::Stuck(query);
                Err(error)
            }
        }
    }

    /// Readable when a sample has something to read.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.turn {
            Turn::Gpus(query) | Turn::Processes(query, ..) => Some(query.fd()),
            Turn::Idle | Turn::Stuck(_) => None,
        }
    }

    fn ask(&self, question: &str) -> Result<Query, ProbeError> {
        Query::start(&self.command, &[question, FORMAT], self.limit)
    }

    fn after_gpus(&mut self, mut query: Query) -> Result<Option<Reading>, ProbeError> {
        let command = self.command.display().to_string();
        let text = match query.advance() {
            Ok(Some(text)) => text,
            Ok(None) => {
                self.turn = Turn::Gpus(query);
                return Ok(None);
            }
            Err(error) if self.fields == Fields::All && answer::is_unknown_field(&error) => {
                self.fields = Fields::Old;
                return self.sample();
            }
            Err(error) => return self.give_up(query, error),
        };
        let (gpus, strange) = answer::read_gpus(&text, self.fields, &command);
        if let (true, Some((_, error))) = (gpus.is_empty(), strange.first()) {
            if self.fields == Fields::All && answer::is_unknown_field(error) {
                self.fields = Fields::Old;
                return self.sample();
            }
            return Err(error.clone());
        }
        self.turn = Turn::Processes(self.ask(PROCESSES)?, gpus, strange);
        Ok(None)
    }

    fn after_processes(
        &mut self,
        mut query: Query,
        mut gpus: Vec<Line>,
        strange: Vec<(String, ProbeError)>,
    ) -> Result<Option<Reading>, ProbeError> {
        let text = match query.advance() {
            Ok(Some(text)) => text,
            Ok(None) => {
                self.turn = Turn::Processes(query, gpus, strange);
                return Ok(None);
            }
            Err(error) => return self.give_up(query, error),
        };
        answer::add_processes(&mut gpus, &text, &self.command.display().to_string());
        Ok(Some(self.reading(gpus, &strange)))
    }

    fn give_up<T>(&mut self, mut query: Query, error: ProbeError) -> Result<T, ProbeError> {
        if !query.end() {
            self.turn = Turn::Stuck(query);
        }
        Err(error)
    }

    fn reading(&mut self, gpus: Vec<Line>, strange: &[(String, ProbeError)]) -> Reading {
        let mut found: Vec<_> =
            gpus.into_iter().map(|gpu| (self.remember(gpu.facts), gpu.live)).collect();
        let is_there = |facts: &GpuFacts| found.iter().any(|(there, _)| there.id == facts.id);
        let (missing, problems) = attribute(strange, &self.last, is_there);
        found.extend(missing.into_iter().map(|(facts, error)| (facts, Err(error))));
        found.sort_by_key(|(facts, _)| facts.pci);
        self.last = found.iter().map(|(facts, _)| Arc::clone(facts)).collect();
        let numbered = (0..).zip(found);
        let gpus = numbered.map(|(index, (facts, live))| GpuSample { facts, index, live });
        Reading { gpus: gpus.collect(), problems }
    }

    /// The known facts, if they have not changed.
    fn remember(&self, facts: GpuFacts) -> Arc<GpuFacts> {
        match self.last.iter().find(|known| known.id == facts.id) {
            Some(known) if **known == facts || facts.memory_total == 0 => Arc::clone(known),
            _ => Arc::new(facts),
        }
    }
}

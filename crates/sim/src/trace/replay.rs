//! The world around `step` when a trace is replayed: time, machines that never fail, jobs that end on time.
//!
//! At each instant runs end first, then jobs are submitted in the order of the file, then the scheduler decides.

mod job_progress;
mod setup;

use super::cluster::Cluster;
use super::policy_list::{Estimates, Policy};
use super::read::Job;
use danlu_core::run::{Ending, Exit};
use danlu_core::settings::{Order, RestartCost};
use danlu_core::task::TaskSpec;
use danlu_core::{
    Effect, Input, NodeId, NodeMessage, Refusal, Reply, Request, RunId, SessionId, Span, State,
    TaskId, Time, UserId, step,
};
use danlu_messages::refusals::refusal as sentence;
use danlu_messages::sim as msg;
use job_progress::JobProgress;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use thiserror::Error;

/// What became of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobResult {
    pub first_start_at: Time,
    pub end_at: Time,
    /// All the time it held GPUs, the cost of its preemptions included.
    pub ran: Span,
    pub preemptions: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplayError {
    #[error("{}", msg::job_refused(job, line, &sentence(refusal).0))]
    Refused { job: String, line: u64, refusal: Box<Refusal> },
    #[error("{}", msg::no_estimate(job, line))]
    NoEstimate { job: String, line: u64 },
    #[error("{}", msg::no_cluster(&sentence(.0).0))]
    Setup(Refusal),
}

/// Replay the jobs of one VC, ordered by time of submission. `watch` sees the state after each
/// instant and the number of jobs that have ended.
pub fn replay(
    jobs: &[&Job],
    cluster: &Cluster,
    policy: Policy,
    watch: &mut dyn FnMut(&State, usize),
) -> Result<Vec<JobResult>, ReplayError> {
    let mut world = Replay::new(jobs, cluster, policy).map_err(ReplayError::Setup)?;
    while let Some(instant) = world.next_instant() {
        world.now = instant;
        world.live_through_instant()?;
        world.notice_stall();
        watch(&world.state, world.ended);
    }
    assert_eq!(world.ended, jobs.len(), "nothing is left to happen, but jobs wait");
    Ok(world.progress.iter().map(JobProgress::result).collect())
}

struct Replay<'a> {
    state: State,
    now: Time,
    policy: Policy,
    restart_cost: RestartCost,
    users: BTreeMap<usize, UserId>,
    jobs: &'a [&'a Job],
    /// The tasks of the jobs submitted so far, in the same order, which is also that of their ids.
    tasks: Vec<TaskId>,
    progress: Vec<JobProgress>,
    ended: usize,
    running: BTreeMap<RunId, Running>,
    /// When runs end. One that was stopped before is no longer in `running`.
    ends: BinaryHeap<Reverse<(Time, RunId)>>,
    /// Instants in a row at which nothing ran and somebody waited.
    stalled: u32,
}

struct Running {
    job: usize,
    since: Time,
    nodes: Vec<NodeId>,
}

/// The reference looks at `las` once a minute; in production it decides whenever something happens.
const LAS_ROUND: Span = Span::from_secs(60);
/// Every node has one connection, for ever.
const SESSION: SessionId = SessionId(1);
/// `las` lets everybody wait for a full minute; a scheduler that starts nothing for longer never will.
const MOST_STALLED: u32 = 1_000;

impl Replay<'_> {
    /// When something happens next; `None` when every job has ended.
    fn next_instant(&mut self) -> Option<Time> {
        if self.ended == self.jobs.len() {
            return None;
        }
        while let Some(Reverse((_, run))) = self.ends.peek() {
            if self.running.contains_key(run) {
                break;
            }
            self.ends.pop();
        }
        let submit = self.jobs.get(self.tasks.len()).map(|job| job.submit_at);
        let wake = match self.policy.order {
            Order::Las => {
                (!self.state.queue().is_empty()).then(|| self.now.next_multiple(LAS_ROUND))
            }
            _ => self.state.wake_at(self.now),
        };
        [self.next_end(), submit, wake].into_iter().flatten().min()
    }

    /// A pass that stops runs, and a job that ends as soon as it starts, need another pass at the
    /// same instant.
    fn live_through_instant(&mut self) -> Result<(), ReplayError> {
        // Every further round follows the end of a run, and no job ends or is stopped often at an instant.
        for _ in 0..self.jobs.len() * 4 + 4 {
            self.end_due_runs();
            self.submit_due_jobs()?;
            let stopped = self.decides_now() && self.schedule();
            if !stopped && self.next_end() != Some(self.now) {
                return Ok(());
            }
        }
        panic!("the scheduler does not come to rest at {:?}", self.now);
    }

    fn decides_now(&self) -> bool {
        self.policy.order != Order::Las || self.now == (self.now - Span(1)).next_multiple(LAS_ROUND)
    }

    fn notice_stall(&mut self) {
        let stalls = self.running.is_empty() && self.ended < self.tasks.len();
        self.stalled = if stalls { self.stalled + 1 } else { 0 };
        assert!(self.stalled < MOST_STALLED, "nothing runs, and nobody who waits is started");
    }

    fn next_end(&self) -> Option<Time> {
        self.ends.peek().map(|Reverse((at, _))| *at)
    }

    fn end_due_runs(&mut self) {
        while self.next_end() == Some(self.now) {
            let Some(Reverse((_, run))) = self.ends.pop() else { break };
            if let Some(running) = self.running.remove(&run) {
                let progress = &mut self.progress[running.job];
                progress.ran_for(self.now.since(running.since));
                progress.end_at = self.now;
                self.ended += 1;
                self.tell_ended(run, &running, &Exit::Code(0), false);
            }
        }
    }

    fn submit_due_jobs(&mut self) -> Result<(), ReplayError> {
        while let Some(job) = self.jobs.get(self.tasks.len()) {
            if job.submit_at > self.now {
                break;
            }
            let named = || (job.id.clone(), job.line);
            let expected = match self.policy.estimates {
                Estimates::True => Some(job.duration),
                Estimates::Column => job.estimate,
                Estimates::History => None,
            };
            if expected.is_none() && self.policy.estimates != Estimates::History {
                let (job, line) = named();
                return Err(ReplayError::NoEstimate { job, line });
            }
            let task = self.submit(job, expected).map_err(|refusal| {
                let (job, line) = named();
                ReplayError::Refused { job, line, refusal: Box::new(refusal) }
            })?;
            self.tasks.push(task);
        }
        Ok(())
    }

    fn submit(&mut self, job: &Job, expected: Option<Span>) -> Result<TaskId, Refusal> {
        let by = match self.users.get(&job.user) {
            Some(user) => *user,
            None => self.add_user(job.user)?,
        };
        let spec = TaskSpec {
            command: vec![String::from("job")],
            request: Request { span_nodes: true, ..Request::gpus(job.gpus) }.into(),
            expected,
            preemptible: true,
            ..TaskSpec::default()
        };
        match self.ask(Input::Submit { by, spec, key: None })? {
            Reply::Task(task) => Ok(task),
            other => unreachable!("a submit is answered by {other:?}"),
        }
    }

    /// One pass; answers whether it has stopped anything.
    fn schedule(&mut self) -> bool {
        let mut stopped = false;
        for effect in step(&mut self.state, Input::Schedule, self.now).effects {
            match effect {
                Effect::Launch(launch) => self.launch(launch.run, launch.task, launch.nodes),
                Effect::Stop { run, .. } => {
                    self.stop(run);
                    stopped = true;
                }
                // Nothing to forget, and nothing to report that is not known.
                Effect::Forget { .. }
                | Effect::DropLog { .. }
                | Effect::AskReport { .. }
                | Effect::Pause { .. }
                | Effect::SetLimit { .. } => {}
            }
        }
        stopped
    }

    /// The first part of a run starts the whole: parts on other nodes start at the same instant.
    fn launch(&mut self, run: RunId, task: TaskId, nodes: Vec<NodeId>) {
        if self.running.contains_key(&run) {
            return;
        }
        let job = self.tasks.binary_search(&task).expect("only submitted tasks are launched");
        let progress = &mut self.progress[job];
        progress.first_start_at.get_or_insert(self.now);
        self.ends.push(Reverse((self.now + progress.remaining, run)));
        self.running.insert(run, Running { job, since: self.now, nodes });
    }

    /// A stopped run ends at once, and its job has more to do than before.
    fn stop(&mut self, run: RunId) {
        let Some(running) = self.running.remove(&run) else { return };
        let cost = match self.jobs[running.job].gpus {
            ..=8 => self.restart_cost.up_to_8_gpus,
            _ => self.restart_cost.above,
        };
        let progress = &mut self.progress[running.job];
        progress.ran_for(self.now.since(running.since));
        progress.remaining += cost;
        progress.preemptions += 1;
        self.tell_ended(run, &running, &Exit::Signal(15), true);
    }

    fn tell_ended(&mut self, run: RunId, running: &Running, exit: &Exit, stopped: bool) {
        for node in &running.nodes {
            let ended = Ending::new(exit.clone(), self.now);
            let ending = Ending { stopped, started_at: Some(running.since), ..ended };
            let message = NodeMessage::Ended { run, ending };
            let input = Input::Node { node: *node, session: SESSION, message };
            step(&mut self.state, input, self.now);
        }
    }

    fn ask(&mut self, input: Input) -> Result<Reply, Refusal> {
        step(&mut self.state, input, self.now).reply
    }
}

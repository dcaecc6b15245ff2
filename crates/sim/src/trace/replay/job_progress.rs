//! How far one job has come.

use super::JobResult;
use crate::trace::read::Job;
use danlu_core::{Span, Time};

#[derive(Clone, Copy)]
pub(super) struct JobProgress {
    pub(super) remaining: Span,
    ran: Span,
    pub(super) preemptions: u32,
    pub(super) first_start_at: Option<Time>,
    pub(super) end_at: Time,
}

impl JobProgress {
    pub(super) fn new(job: &Job) -> JobProgress {
        JobProgress {
            remaining: job.duration,
            ran: Span::ZERO,
            preemptions: 0,
            first_start_at: None,
            end_at: job.submit_at,
        }
    }

    pub(super) fn ran_for(&mut self, ran: Span) {
        self.ran += ran;
        self.remaining = self.remaining.saturating_sub(ran);
    }

    pub(super) fn result(&self) -> JobResult {
        JobResult {
            first_start_at: self.first_start_at.expect("a job that has ended was started"),
            end_at: self.end_at,
            ran: self.ran,
            preemptions: self.preemptions,
        }
    }
}

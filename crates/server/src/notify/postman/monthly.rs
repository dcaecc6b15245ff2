//! Once a month: what was used in the last one, to whom `[reports] monthly` names.

use super::{Postman, Wake};
use crate::api::Api;
use crate::api::usage_report;
use crate::daemon::clock;
use crate::daemon::config::ADMINS;
use crate::notify::expand::Addressed;
use crate::notify::letter::{Letter, Matter};
use crate::notify::monthly::{MonthlyFacts, facts, month_before};
use crate::notify::outbox::{Outbox, OutboxBatch};
use crate::notify::recipients::{Recipient, Target};
use danlu_core::{Span, Time};
use jiff::tz::TimeZone;

/// When the figures are not to be had, or not complete yet.
const TRY_AGAIN: Span = Span::from_secs(600);

impl Postman {
    /// Asks for the report of the last month unless it was told already. The answer comes back as a message.
    pub(super) fn look_at_month(&mut self, api: &Api, now: Time) {
        if self.month_at.is_some_and(|at| at > now) {
            return;
        }
        let zone = TimeZone::system();
        let Some((month, next)) = month_before(now, &zone) else { return };
        self.month_at = Some(next);
        if api.reports.settings().monthly.is_empty() || self.is_told(&month) {
            return;
        }
        let (api, own) = (api.clone(), self.parts.own.clone());
        self.parts.runtime.spawn(async move {
            let report = usage_report::of_month(&api, &month, &zone).await;
            drop(api);
            let answer: Box<dyn FnOnce(&mut Postman) + Send> = match report {
                Ok(report) if report.complete => {
                    let told = facts(&month, &report);
                    Box::new(move |postman| told.into_iter().for_each(|it| postman.tell_month(it)))
                }
                Ok(_) | Err(_) => {
                    Box::new(|postman| postman.month_at = Some(clock::now() + TRY_AGAIN))
                }
            };
            let _ = own.send(Wake::Ask(answer));
        });
    }

    /// The messages, and that it is told, in one transaction.
    fn tell_month(&mut self, facts: MonthlyFacts) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let (month, now) = (facts.month.clone(), clock::now());
        if self.is_told(&month) {
            return;
        }
        let cause = format!("monthly.{month}");
        let mut to: Vec<Recipient> = Vec::new();
        for name in &api.reports.settings().monthly {
            match name == ADMINS {
                true => self.around(&api, |around| to.extend(around.admins())),
                false => {
                    let target = Target::named(name);
                    to.push(Recipient { user: None, target, can_wait: false });
                }
            }
        }
        to.sort();
        to.dedup_by(|one, other| one.target == other.target);
        let letter = Letter { at: now, matter: Matter::Monthly(Box::new(facts)) };
        let mut batch = OutboxBatch { month: Some(month), ..OutboxBatch::default() };
        for recipient in to {
            // Not put together with others in quiet hours: it would be one of many.
            let to = Recipient { can_wait: false, ..recipient };
            let told = Addressed { cause: cause.clone(), to, letter: letter.clone() };
            self.file(&api, told, &mut batch, now);
        }
        self.commit(&batch, now);
    }

    /// What cannot be read counts as told: twice is worse than later.
    fn is_told(&self, month: &str) -> bool {
        let told = self.outbox.as_ref().map(Outbox::month);
        told.is_none_or(|told| told.map_or(true, |last| last.is_some_and(|last| *last >= *month)))
    }
}

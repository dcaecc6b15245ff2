//! Pieces become the lines of a report. Pure: pieces in, sums out.

use super::calendar::{Periods, Unit};
use super::figures::Figures;
use super::names::NameId;
use super::piece::{Piece, TaskCount};
use danlu_core::{Time, UserId};
use jiff::tz::TimeZone;
use std::collections::HashMap;

/// What lines are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    User,
    Project,
    Node,
    Model,
    Period(Unit),
}

impl Grouping {
    pub(crate) const ALL: [Grouping; 7] = [
        Grouping::User,
        Grouping::Project,
        Grouping::Node,
        Grouping::Model,
        Grouping::Period(Unit::Day),
        Grouping::Period(Unit::Week),
        Grouping::Period(Unit::Month),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Grouping::User => "user",
            Grouping::Project => "project",
            Grouping::Node => "node",
            Grouping::Model => "model",
            Grouping::Period(Unit::Day) => "day",
            Grouping::Period(Unit::Week) => "week",
            Grouping::Period(Unit::Month) => "month",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Grouping> {
        Grouping::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// Of which time, by what, and which pieces.
#[derive(Debug, Clone)]
pub(crate) struct ReportQuestion {
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// Until the present: what ends now, by whatever clock, counts.
    pub(crate) open: bool,
    /// The present; what runs then is counted where it lies in that time.
    pub(crate) now: Time,
    pub(crate) zone: TimeZone,
    pub(crate) by: Vec<Grouping>,
    pub(crate) only: Filters,
}

/// Names, each with its number if it is known at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filters {
    pub(crate) user: Option<UserId>,
    pub(crate) project: Option<String>,
    pub(crate) node: Option<String>,
    pub(crate) model: Option<String>,
}

/// A name that nothing has.
pub(crate) const UNKNOWN: NameId = NameId(u32::MAX);

#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterIds {
    pub(crate) user: Option<UserId>,
    pub(crate) project: Option<NameId>,
    pub(crate) node: Option<NameId>,
    pub(crate) model: Option<NameId>,
}

impl FilterIds {
    pub(crate) fn lets_through(&self, piece: &Piece) -> bool {
        self.user.is_none_or(|it| it == piece.user)
            && self.project.is_none_or(|it| it == piece.project)
            && self.node.is_none_or(|it| it == piece.node)
            && self.model.is_none_or(|it| it == piece.model)
    }
}

pub(crate) const MOST_GROUPINGS: usize = 3;
/// More lines are no report.
pub(crate) const MOST_LINES: usize = 20_000;

/// The numbers of user, name or period in the order of the groupings.
pub(crate) type LineKey = [u32; MOST_GROUPINGS];

#[derive(Debug)]
pub(crate) struct Fold {
    by: Vec<Grouping>,
    /// One that covers all, where nothing is grouped by time.
    periods: Periods,
    from: i64,
    to: i64,
    open: bool,
    only: FilterIds,
    pub(crate) lines: HashMap<LineKey, Figures>,
}

/// There would be too many lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuch;

impl Fold {
    pub(crate) fn new(question: &ReportQuestion, only: FilterIds) -> Result<Fold, TooMuch> {
        let unit = question.by.iter().find_map(|it| match it {
            Grouping::Period(unit) => Some(*unit),
            Grouping::User | Grouping::Project | Grouping::Node | Grouping::Model => None,
        });
        let ReportQuestion { from, to, zone, .. } = question;
        let periods = Periods::new(unit.unwrap_or(Unit::Month), zone, *from, *to);
        let one = Periods::whole(*from, *to);
        let periods = if unit.is_some() { periods.ok_or(TooMuch)? } else { one };
        Ok(Fold {
            by: question.by.clone(),
            periods,
            from: from.0,
            to: to.0,
            open: question.open,
            only,
            lines: HashMap::new(),
        })
    }

    pub(crate) fn periods(&self) -> &Periods {
        &self.periods
    }

    pub(crate) fn add(&mut self, piece: &Piece) -> Result<(), TooMuch> {
        if !self.only.lets_through(piece) {
            return Ok(());
        }
        let ends_here = match piece.task {
            Some(TaskCount::Running) => self.open || piece.ended <= self.to,
            Some(
                TaskCount::Succeeded
                | TaskCount::Failed
                | TaskCount::Cancelled
                | TaskCount::TimedOut,
            )
            | None => piece.ended >= self.from && (self.open || piece.ended < self.to),
        };
        let ends_in = (ends_here && (piece.task.is_some() || piece.failure.is_some()))
            .then(|| self.periods.of(piece.ended));
        let mut ended = false;
        if piece.begun < self.to && piece.ended >= self.from {
            // Those that it touches.
            let first = self.periods.of(piece.begun.max(self.from));
            let last = self.periods.of(piece.ended.min(self.to - 1));
            for place in first..=last {
                let (from, to) = self.periods.bounds(place);
                let line = self.line(piece, place)?;
                line.add_time(piece, from, to);
                // Most end where they took time: a line is looked up once.
                if ends_in == Some(place) {
                    line.add_end(piece);
                    ended = true;
                }
            }
        }
        match ends_in.filter(|_| !ended) {
            Some(place) => self.line(piece, place).map(|line| line.add_end(piece)),
            None => Ok(()),
        }
    }

    /// Of all lines together.
    pub(crate) fn total(&self) -> Figures {
        self.lines.values().fold(Figures::default(), |mut total, line| {
            total.plus(line);
            total
        })
    }

    fn line(&mut self, piece: &Piece, period: usize) -> Result<&mut Figures, TooMuch> {
        let mut key = LineKey::default();
        for (number, grouping) in key.iter_mut().zip(&self.by) {
            *number = match grouping {
                Grouping::User => piece.user.0,
                Grouping::Project => piece.project.0,
                Grouping::Node => piece.node.0,
                Grouping::Model => piece.model.0,
                Grouping::Period(_) => u32::try_from(period).unwrap_or(u32::MAX),
            };
        }
        if self.lines.len() >= MOST_LINES && !self.lines.contains_key(&key) {
            return Err(TooMuch);
        }
        Ok(self.lines.entry(key).or_default())
    }
}

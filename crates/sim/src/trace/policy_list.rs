//! Which policies to compare: `NAME[+BACKFILL][@ESTIMATES]`, also by the names of the literature.

use danlu_core::settings::{Backfill, Order};
use danlu_messages::sim as msg;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub order: Order,
    pub backfill: Backfill,
    pub estimates: Estimates,
}

/// What the scheduler is told about how long a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimates {
    /// The truth.
    True,
    /// The column `est_duration`.
    Column,
    /// Nothing: it learns from jobs that have ended.
    History,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PolicyError {
    #[error("{}", msg::unknown_policy(.0))]
    UnknownOrder(String),
    #[error("{}", msg::unknown_backfill(.0))]
    UnknownBackfill(String),
    #[error("{}", msg::unknown_estimates(.0))]
    UnknownEstimates(String),
    #[error("{}", msg::preemptive_backfill(.0))]
    PreemptiveBackfill(String),
    #[error("{}", msg::auto_has_its_own())]
    AutoHasItsOwn,
}

const ORDERS: [(&str, Order); 7] = [
    ("fifo", Order::Fifo),
    ("auto", Order::Auto),
    ("sjf", Order::Sjf),
    ("srtf", Order::Srtf),
    ("las", Order::Las),
    ("balance", Order::Balance),
    ("fair", Order::Fair),
];
const BACKFILLS: [(&str, Backfill); 3] =
    [("none", Backfill::None), ("skip", Backfill::Skip), ("easy", Backfill::Easy)];
const ESTIMATES: [(&str, Estimates); 3] =
    [("true", Estimates::True), ("column", Estimates::Column), ("history", Estimates::History)];

/// It is told nothing, and does not need to be asked how to fill gaps.
const AUTO: (&str, Policy) = (
    "auto",
    Policy { order: Order::Auto, backfill: Backfill::None, estimates: Estimates::History },
);

/// What papers and other simulators call them.
const ALIASES: [(&str, &str); 8] = [
    ("fifo-skip", "fifo+skip"),
    ("easy", "fifo+easy"),
    ("easy-est", "fifo+easy@column"),
    ("sjf-est", "sjf@column"),
    ("sjf-skip", "sjf+skip"),
    ("sjf-skip-est", "sjf+skip@column"),
    ("las2", "las"),
    ("tiresias", "las"),
];

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Policy, PolicyError> {
        let text = text.trim();
        let text = find(&ALIASES, text).unwrap_or(text);
        if text == AUTO.0 {
            return Ok(AUTO.1);
        }
        let (rest, estimates) = text.split_once('@').unwrap_or((text, "true"));
        let (order, backfill) = rest.split_once('+').unwrap_or((rest, "none"));
        let policy = Policy {
            order: find(&ORDERS, order).ok_or(PolicyError::UnknownOrder(order.to_owned()))?,
            backfill: find(&BACKFILLS, backfill)
                .ok_or(PolicyError::UnknownBackfill(backfill.to_owned()))?,
            estimates: find(&ESTIMATES, estimates)
                .ok_or(PolicyError::UnknownEstimates(estimates.to_owned()))?,
        };
        if policy.order == Order::Auto {
            return Err(PolicyError::AutoHasItsOwn);
        }
        if policy.order.is_preemptive() && policy.backfill != Backfill::None {
            return Err(PolicyError::PreemptiveBackfill(order.to_owned()));
        }
        Ok(policy)
    }
}

/// The one name under which results are reported.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == AUTO.1 {
            return f.pad(AUTO.0);
        }
        let mut name = name_of(&ORDERS, self.order).to_owned();
        if self.backfill != Backfill::None {
            name = name + "+" + name_of(&BACKFILLS, self.backfill);
        }
        if self.estimates != Estimates::True {
            name = name + "@" + name_of(&ESTIMATES, self.estimates);
        }
        f.pad(&name)
    }
}

impl PolicyError {
    /// What to type instead.
    pub fn hint(&self) -> String {
        match self {
            PolicyError::UnknownOrder(_) => msg::known_policies(
                &names(ORDERS.iter().map(|known| known.0)),
                &names(ALIASES.iter().map(|known| known.0)),
            ),
            PolicyError::UnknownBackfill(_) => {
                msg::known_backfills(&names(BACKFILLS.iter().map(|known| known.0)))
            }
            PolicyError::UnknownEstimates(_) => {
                msg::known_estimates(&names(ESTIMATES.iter().map(|known| known.0)))
            }
            PolicyError::PreemptiveBackfill(order) => msg::write_alone(order),
            PolicyError::AutoHasItsOwn => msg::write_alone(&"auto"),
        }
    }
}

fn find<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|known| known.0 == name).map(|known| known.1)
}

fn name_of<T: Copy + PartialEq>(list: &[(&'static str, T)], value: T) -> &'static str {
    list.iter().find(|known| known.1 == value).map_or("", |known| known.0)
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&str, &str>) {
        let found = text.parse::<Policy>().map(|policy| policy.to_string());
        let found = found.map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expect, "{text}");
    }

    #[test]
    fn every_spelling_has_one_name() {
        check("fifo", Ok("fifo"));
        check(" fifo+none@true ", Ok("fifo"));
        check("fifo+easy@column", Ok("fifo+easy@column"));
        check("easy-est", Ok("fifo+easy@column"));
        check("easy", Ok("fifo+easy"));
        check("fifo-skip", Ok("fifo+skip"));
        check("sjf-skip", Ok("sjf+skip"));
        check("sjf-skip-est", Ok("sjf+skip@column"));
        check("sjf-est", Ok("sjf@column"));
        check("srtf", Ok("srtf"));
        check("srtf@column", Ok("srtf@column"));
        check("las2", Ok("las"));
        check("balance+easy", Ok("balance+easy"));
        check("auto", Ok("auto"));
        check("fifo+easy@history", Ok("fifo+easy@history"));
    }

    #[test]
    fn unknown_names_are_refused() {
        check("unfair", Err("there is no policy `unfair`"));
        check("", Err("there is no policy ``"));
        check("fifo+hard", Err("there is no backfill `hard`"));
        check("fifo@guess", Err("there are no estimates `guess`"));
        check("las+skip", Err("`las` takes no backfill: it preempts instead"));
        let own = "`auto` takes no backfill and no estimates: it has its own";
        check("auto+easy", Err(own));
        check("auto@true", Err(own));
        let hint = PolicyError::UnknownOrder(String::new()).hint();
        assert!(
            hint.starts_with("policies: fifo, auto, sjf, srtf, las, balance, fair; also fifo-skip"),
            "{hint}"
        );
    }

    #[test]
    fn every_alias_is_a_policy_under_its_own_name() {
        for (alias, name) in ALIASES {
            check(alias, Ok(name));
        }
    }
}

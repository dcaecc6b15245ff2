//! Filters of task lists, as they stand in the address.

use super::ApiError;
use super::caller::Caller;
use crate::parse::duration::parse_span;
use crate::read_model::ReadModel;
use crate::store::history::needles;
use danlu_core::settings::Visibility;
use danlu_core::{TaskId, Time, UserId};
use danlu_messages::errors;
use danlu_wire::api::{ME, MOST_ROWS, TaskSort, TaskStateName};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Ids in one filter.
const MOST_NAMED: u64 = 10_000;
/// Words of a search.
const MOST_WORDS: usize = 8;
/// Letters of a search.
pub(crate) const LONGEST_TEXT: usize = 200;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Filter {
    /// Names of states, separated by commas.
    #[schemars(regex(
        pattern = r"^(held|blocked|queued|starting|running|paused|stopping|lost|succeeded|failed|cancelled|timed_out)(,(held|blocked|queued|starting|running|paused|stopping|lost|succeeded|failed|cancelled|timed_out))*$"
    ))]
    pub(crate) state: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) node: Option<String>,
    /// `key=value`, or a key.
    pub(crate) label: Option<String>,
    pub(crate) project: Option<String>,
    /// The first id of an array: its elements.
    pub(crate) array: Option<u64>,
    /// Words that all occur in the name, the command or the description, in any case; in double quotes as they stand there.
    #[schemars(length(max = 200))]
    pub(crate) text: Option<String>,
    /// Ids and ranges of ids, separated by commas.
    #[schemars(regex(pattern = r"^[0-9]{1,18}(-[0-9]{1,18})?(,[0-9]{1,18}(-[0-9]{1,18})?)*$"))]
    pub(crate) ids: Option<String>,
    /// Ended at this time (RFC 3339) or so long ago (`7d`) at the earliest; a task that has not ended ends now.
    #[schemars(regex(pattern = r"^[0-9]{1,5}[smhd]$"))]
    pub(crate) since: Option<String>,
    /// Ended before this time, or longer ago.
    #[schemars(regex(pattern = r"^[0-9]{1,5}[smhd]$"))]
    pub(crate) until: Option<String>,
    pub(crate) sort: TaskSort,
    /// The other way round: the oldest, earliest or shortest first.
    pub(crate) oldest_first: bool,
    /// From this row on: `next_cursor` of another answer.
    #[schemars(regex(pattern = r"^[0-9]{1,18}(-[0-9]{1,18})?$"))]
    pub(crate) cursor: Option<String>,
    /// The rows before this one.
    #[schemars(regex(pattern = r"^[0-9]{1,18}(-[0-9]{1,18})?$"))]
    pub(crate) before: Option<String>,
    pub(crate) limit: usize,
    /// Limits the list to the tasks of this user.
    #[serde(skip)]
    pub(crate) only: Option<UserId>,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            state: None,
            user: None,
            node: None,
            label: None,
            project: None,
            array: None,
            text: None,
            ids: None,
            since: None,
            until: None,
            sort: TaskSort::Id,
            oldest_first: false,
            cursor: None,
            before: None,
            limit: MOST_ROWS,
            only: None,
        }
    }
}

impl Filter {
    /// Replaces `me` with the caller's name, and limits the filter to what the caller may see.
    pub(super) fn of(mut self, caller: &Caller, model: &ReadModel) -> Filter {
        let own = model.ledger.settings.visibility == Visibility::Own;
        self.only = (own && !caller.admin).then_some(caller.id);
        if self.user.as_deref() == Some(ME) {
            self.user = Some(caller.name.clone());
        }
        self
    }

    pub(super) fn states(&self) -> Result<Option<Vec<TaskStateName>>, ApiError> {
        let Some(names) = &self.state else { return Ok(None) };
        let one = |name: &str| {
            TaskStateName::ALL.into_iter().find(|state| state.as_str() == name).ok_or_else(|| {
                let known = TaskStateName::ALL.map(TaskStateName::as_str).join(", ");
                ApiError::bad_request(
                    errors::name_is_not_a_state(&name),
                    &errors::one_of_known(&known),
                )
            })
        };
        names.split(',').map(one).collect::<Result<_, _>>().map(Some)
    }

    /// In lower case.
    pub(super) fn words(&self) -> Result<Vec<String>, ApiError> {
        let text = self.text.as_deref().unwrap_or_default();
        if text.chars().count() > LONGEST_TEXT {
            return Err(ApiError::bad_request(
                errors::search_too_long(&LONGEST_TEXT),
                errors::search_fewer_words(),
            ));
        }
        let words = needles(text);
        if words.len() > MOST_WORDS {
            return Err(ApiError::refused(
                errors::too_many_words(&MOST_WORDS),
                errors::search_fewer_words(),
            ));
        }
        Ok(words)
    }

    /// The ids that are named, if any are.
    pub(super) fn named(&self) -> Result<Option<BTreeSet<TaskId>>, ApiError> {
        let Some(given) = &self.ids else { return Ok(None) };
        let mut named = BTreeSet::new();
        for part in given.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.parse::<u64>(), last.parse::<u64>()) else {
                return Err(ApiError::bad_request(
                    errors::ids_is_a_list_of_numbers(),
                    "ids=3-9,12",
                ));
            };
            if last.saturating_sub(first) >= MOST_NAMED || named.len() as u64 >= MOST_NAMED {
                return Err(ApiError::refused(
                    errors::more_than_most_ids(&MOST_NAMED),
                    errors::ask_for_fewer_at_once(),
                ));
            }
            named.extend((first..=last).map(TaskId));
        }
        Ok(Some(named))
    }

    /// The times between which it must have ended.
    pub(super) fn ended(&self, now: Time) -> Result<EndedBetween, ApiError> {
        Ok(EndedBetween {
            from: self.since.as_deref().map(|it| moment(it, now)).transpose()?,
            before: self.until.as_deref().map(|it| moment(it, now)).transpose()?,
        })
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EndedBetween {
    pub(super) from: Option<Time>,
    pub(super) before: Option<Time>,
}

impl EndedBetween {
    pub(super) fn has(&self, at: Time) -> bool {
        self.from.is_none_or(|from| at >= from) && self.before.is_none_or(|before| at < before)
    }

    pub(super) fn is_any_time(&self) -> bool {
        self.from.is_none() && self.before.is_none()
    }
}

/// `7d` is a week ago.
pub(super) fn moment(given: &str, now: Time) -> Result<Time, ApiError> {
    let ago = || {
        let span = parse_span(given).filter(|_| !given.bytes().all(|it| it.is_ascii_digit()))?;
        Some(Time(now.0.saturating_sub(i64::try_from(span.0).ok()?)))
    };
    let at = || given.parse::<jiff::Timestamp>().ok().map(|it| Time(it.as_millisecond()));
    at().or_else(ago).ok_or_else(|| {
        ApiError::bad_request(errors::not_a_moment(&given), errors::moment_examples())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_moments_or_as_so_long_ago() {
        let now = Time(10 * 86_400_000);
        let check = |given, expect: Option<i64>| {
            assert_eq!(moment(given, now).ok().map(|time| time.0), expect, "{given}");
        };
        check("7d", Some(3 * 86_400_000));
        check("1h30m", Some(now.0 - 5_400_000));
        check("1970-01-02T00:00:00Z", Some(86_400_000));
        // Seconds, days or a year: nobody knows.
        check("2026", None);
        check("yesterday", None);
    }

    #[test]
    fn ids_are_single_ones_and_ranges() {
        let check = |given: &str, expect: &[u64]| {
            let filter = Filter { ids: Some(given.to_owned()), ..Filter::default() };
            let named = filter.named().expect("it is read").expect("some are named");
            assert_eq!(named.into_iter().map(|id| id.0).collect::<Vec<_>>(), expect, "{given}");
        };
        check("12,3-5", &[3, 4, 5, 12]);
        check("5-3", &[]);
        for bad in ["", "x", "3-", "1-99999999", "1-2-3"] {
            let filter = Filter { ids: Some(bad.to_owned()), ..Filter::default() };
            assert!(filter.named().is_err(), "{bad}");
        }
    }
}

//! `--notify`: `end`, `start,fail:ops`, `end:me@example.org`, or `none`.

use danlu_core::notify_rule::{NotifyMoment, NotifyRule};
use danlu_messages::spec as msg;

/// Tells of nothing, whatever the account says.
const NONE: &str = "none";

pub fn parse_notify(given: &str) -> Result<NotifyRule, String> {
    let (moments, to) = match given.split_once(':') {
        Some((moments, to)) => (moments, Some(to.trim())),
        // Most people who write no moment mean the end.
        None if given.contains('@') => return Err(msg::notify_needs_moments(&given)),
        None => (given, None),
    };
    if to == Some("") {
        return Err(msg::notify_target_missing().to_owned());
    }
    let named = moments.split(',').map(str::trim).filter(|name| !name.is_empty());
    let named: Vec<&str> = named.collect();
    if named.is_empty() {
        return Err(msg::expected_notify().to_owned());
    }
    let moment = |name: &&&str| {
        let found = NotifyMoment::from_name(name).map(Some);
        let found = found.or_else(|| (**name == NONE && named.len() == 1).then_some(None));
        found.ok_or_else(|| msg::unknown_moment(name))
    };
    let on: Result<Vec<Option<NotifyMoment>>, String> =
        named.iter().map(|name| moment(&name)).collect();
    Ok(NotifyRule { on: on?.into_iter().flatten().collect(), to: to.map(str::to_owned) })
}

/// As it could be typed.
pub fn notify_text(rule: &NotifyRule) -> String {
    let moments: Vec<&str> = rule.on.iter().map(|moment| moment.as_str()).collect();
    let moments = if moments.is_empty() { NONE.to_owned() } else { moments.join(",") };
    match &rule.to {
        Some(to) => format!("{moments}:{to}"),
        None => moments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_where_to() {
        for text in ["start,end", "fail:ops", "start,end,fail:a.b@example.org", "none", "expiring"]
        {
            assert_eq!(parse_notify(text).map(|rule| notify_text(&rule)).as_deref(), Ok(text));
        }
        assert_eq!(parse_notify("end, start").map(|rule| rule.on.len()), Ok(2));
        for wrong in ["", ":ops", "end:", "ended", "me@example.org", "none,end", "ops"] {
            assert!(parse_notify(wrong).is_err(), "{wrong} is accepted");
        }
    }
}

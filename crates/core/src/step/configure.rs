//! `Configure`: new settings. Also the check of names.

use crate::model::limits;
use crate::model::number::thousandths::Thousandths;
use crate::model::settings::Settings;
use crate::schedule::quota::QuotaSettings;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::permission::require_admin;
use crate::step::refusal::Refusal;
use crate::step::validate::{at_most, check_text, short, within};
use crate::step::{Answer, Reply, Turn};

pub(crate) fn configure(turn: &mut Turn<'_>, by: Actor, settings: Settings) -> Answer {
    require_admin(turn.state, by)?;
    check_settings(&settings)?;
    turn.state.set_settings(settings);
    turn.event(Event::SettingsChanged);
    Ok(Reply::Done)
}

fn check_settings(settings: &Settings) -> Result<(), Refusal> {
    short("announcement", settings.announcement.len(), limits::DESCRIPTION_BYTES)?;
    let groups = &settings.fair.groups;
    at_most("groups", groups.len(), limits::GROUPS)?;
    groups.iter().try_for_each(|(group, weight)| {
        check_text("group", group)?;
        within("weight", Some(*weight), Thousandths(1))
    })?;
    let QuotaSettings { users, project, .. } = &settings.quota;
    at_most("quotas of users", users.len(), limits::USERS)?;
    at_most("quotas of projects", project.len(), limits::GROUPS)?;
    users.keys().try_for_each(|name| check_text("name", name))?;
    project.keys().try_for_each(|name| check_text("project", name))
}

pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    if name.is_empty() {
        return Err(Refusal::NameMissing);
    }
    if name.len() > limits::NAME_BYTES {
        return Err(Refusal::TooMany { what: "bytes in a name", limit: limits::NAME_BYTES });
    }
    Ok(())
}

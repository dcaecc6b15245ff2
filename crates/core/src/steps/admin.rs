//! Users and settings.

use crate::event::Event;
use crate::ids::UserId;
use crate::input::Actor;
use crate::limits;
use crate::quota::QuotaSettings;
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::step::{Answer, Reply, Turn};
use crate::steps::description::{at_most, check_text};
use crate::steps::permission::require_admin;
use crate::thousandths::Thousandths;
use crate::user::{User, UserChange};

pub(crate) fn add_user(turn: &mut Turn<'_>, by: Actor, name: String, admin: bool) -> Answer {
    require_admin(turn.state, by)?;
    check_name(&name)?;
    let state = &mut *turn.state;
    if state.users.values().any(|user| user.name == name) {
        return Err(Refusal::NameTaken { name });
    }
    if state.users.len() >= limits::USERS {
        return Err(Refusal::TooMany { what: "users", limit: limits::USERS });
    }
    let id = state.ledger.next_user;
    state.ledger.next_user = UserId(id.0 + 1);
    state.insert_user(User::new(id, name, admin));
    turn.event(Event::UserAdded { user: id });
    Ok(Reply::User(id))
}

pub(crate) fn set_user(turn: &mut Turn<'_>, by: Actor, id: UserId, change: &UserChange) -> Answer {
    require_admin(turn.state, by)?;
    if !turn.state.users.contains_key(&id) {
        return Err(Refusal::NoSuchUser);
    }
    let UserChange { priority, weight, group } = change;
    let most = Thousandths::MOST;
    within("priority", *priority, Thousandths(-most.0))?;
    within("weight", *weight, Thousandths(1))?;
    group.iter().try_for_each(|group| check_text("group", group))?;
    turn.state.change_user(id, |user| {
        user.priority = priority.unwrap_or(user.priority);
        user.weight = weight.unwrap_or(user.weight);
        if let Some(group) = group {
            user.group = Some(group.clone()).filter(|group| !group.is_empty());
        }
    });
    turn.event(Event::UserChanged { user: id });
    Ok(Reply::Done)
}

fn within(
    what: &'static str,
    number: Option<Thousandths>,
    least: Thousandths,
) -> Result<(), Refusal> {
    let most = Thousandths::MOST;
    match number.is_none_or(|number| (least..=most).contains(&number)) {
        true => Ok(()),
        false => Err(Refusal::OutOfRange { what, least, most }),
    }
}

pub(crate) fn configure(turn: &mut Turn<'_>, by: Actor, settings: Settings) -> Answer {
    require_admin(turn.state, by)?;
    check_settings(&settings)?;
    turn.state.set_settings(settings);
    turn.event(Event::SettingsChanged);
    Ok(Reply::Done)
}

fn check_settings(settings: &Settings) -> Result<(), Refusal> {
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

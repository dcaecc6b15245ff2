//! Users and settings.

use crate::event::Event;
use crate::ids::UserId;
use crate::input::Actor;
use crate::limits;
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::step::{Answer, Reply, Turn};
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
    let UserChange { priority } = *change;
    if priority.is_some_and(|priority| !priority.is_sound()) {
        let most = Thousandths::MOST;
        return Err(Refusal::OutOfRange { what: "priority", least: Thousandths(-most.0), most });
    }
    turn.state.change_user(id, |user| {
        user.priority = priority.unwrap_or(user.priority);
    });
    turn.event(Event::UserChanged { user: id });
    Ok(Reply::Done)
}

pub(crate) fn configure(turn: &mut Turn<'_>, by: Actor, settings: Settings) -> Answer {
    require_admin(turn.state, by)?;
    turn.state.set_settings(settings);
    turn.event(Event::SettingsChanged);
    Ok(Reply::Done)
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

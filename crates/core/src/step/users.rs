//! Users: added, changed, removed.

use crate::model::ids::{TaskId, UserId};
use crate::model::limits;
use crate::model::number::thousandths::Thousandths;
use crate::model::user::{User, UserChange};
use crate::step::configure::check_name;
use crate::step::event::Event;
use crate::step::growth;
use crate::step::input::Actor;
use crate::step::permission::require_admin;
use crate::step::refusal::{Counted, Refusal, Share, TextField};
use crate::step::tasks;
use crate::step::validate::{check_text, within};
use crate::step::{Answer, Reply, Turn};

pub(crate) fn add_user(turn: &mut Turn<'_>, by: Actor, name: String, admin: bool) -> Answer {
    require_admin(turn.state, by)?;
    check_name(&name)?;
    check_user_name(&name, by)?;
    let state = &mut *turn.state;
    if state.users.values().any(|user| user.name == name && !user.removed) {
        return Err(Refusal::NameTaken { name });
    }
    if state.users.len() >= limits::USERS {
        return Err(Refusal::TooMany { what: Counted::Users, limit: limits::USERS });
    }
    let id = state.ledger.next_user;
    state.ledger.next_user = UserId(id.0 + 1);
    state.insert_user(User::new(id, name, admin));
    turn.event(Event::UserAdded { user: id });
    Ok(Reply::User(id))
}

/// Names chosen by people are restricted. Names of OS users are accepted as they are.
fn check_user_name(name: &str, by: Actor) -> Result<(), Refusal> {
    let plain = |c: char| c.is_alphanumeric() || "-_.@+\\".contains(c);
    let fine = name.chars().all(plain) && !name.starts_with(['-', '.', '@']);
    if fine || by == Actor::Daemon { Ok(()) } else { Err(Refusal::BadUserName) }
}

pub(crate) fn set_user(turn: &mut Turn<'_>, by: Actor, id: UserId, change: &UserChange) -> Answer {
    let user = turn.state.users.get(&id).filter(|user| !user.removed);
    let user = user.ok_or(Refusal::NoSuchUser)?;
    let oneself = by.person() == Some(id);
    if !(oneself && user.is_active() && change.is_personal()) {
        require_admin(turn.state, by)?;
    }
    if oneself && (change.locked == Some(true) || change.admin == Some(false)) {
        return Err(Refusal::Oneself);
    }
    check_change(change)?;
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let replace = |old: &mut Option<String>, new: &Option<String>| {
        if let Some(new) = new {
            *old = given(new);
        }
    };
    turn.state.change_user(id, |user| {
        user.admin = change.admin.unwrap_or(user.admin);
        user.locked = change.locked.unwrap_or(user.locked);
        user.priority = change.priority.unwrap_or(user.priority);
        user.weight = change.weight.unwrap_or(user.weight);
        replace(&mut user.group, &change.group);
        replace(&mut user.os_user, &change.os_user);
        replace(&mut user.profile.email, &change.email);
        replace(&mut user.profile.language, &change.language);
        replace(&mut user.profile.template, &change.template);
    });
    turn.event(Event::UserChanged { user: id });
    Ok(Reply::Done)
}

fn check_change(change: &UserChange) -> Result<(), Refusal> {
    within(Share::Priority, change.priority, Thousandths(-Thousandths::MOST.0))?;
    within(Share::Weight, change.weight, Thousandths(1))?;
    let texts = [
        (TextField::Group, &change.group),
        (TextField::OsUser, &change.os_user),
        (TextField::Email, &change.email),
        (TextField::Language, &change.language),
    ];
    for (what, text) in texts {
        text.iter().try_for_each(|text| check_text(what, text))?;
    }
    let email = change.email.as_deref().filter(|email| !email.is_empty());
    if email.is_some_and(|email| !is_address(email)) {
        return Err(Refusal::BadEmail);
    }
    if change.language.as_deref().is_some_and(|language| !["", "en", "zh"].contains(&language)) {
        return Err(Refusal::BadLanguage);
    }
    let limit = limits::TEMPLATE_BYTES;
    match change.template.as_ref().is_some_and(|template| template.len() > limit) {
        true => Err(Refusal::TooLong { what: TextField::Template, limit }),
        false => Ok(()),
    }
}

/// Whether it looks like an e-mail address; only sending mail can verify it.
pub(crate) fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(who, host)| {
        let plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "<>,;\"@".contains(c))
        };
        plain(who) && plain(host)
    })
}

pub(crate) fn remove_user(turn: &mut Turn<'_>, by: Actor, id: UserId) -> Answer {
    require_admin(turn.state, by)?;
    let known = turn.state.users.get(&id).is_some_and(|user| !user.removed);
    if !known {
        return Err(Refusal::NoSuchUser);
    }
    if by.person() == Some(id) {
        return Err(Refusal::Oneself);
    }
    growth::complete(turn, Some(id));
    let open = turn.state.tasks.values().filter(|task| task.owner == id && !task.is_finished());
    let open: Vec<TaskId> = open.map(|task| task.id).collect();
    for task in open {
        // One that waits for another of them may have ended with it.
        if !turn.state.tasks[&task].is_finished() {
            tasks::cancel(turn, by, task)?;
        }
    }
    turn.state.change_user(id, |user| user.removed = true);
    turn.event(Event::UserChanged { user: id });
    Ok(Reply::Done)
}

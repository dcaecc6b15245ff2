//! `Configure`: new settings. Also the check of names.

use crate::model::idle::IdleSettings;
use crate::model::limits;
use crate::model::number::thousandths::Thousandths;
use crate::model::settings::Settings;
use crate::model::time::Span;
use crate::schedule::quota::QuotaSettings;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::permission::require_admin;
use crate::step::refusal::{Counted, Refusal, Share, TextField};
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
    short(TextField::Announcement, settings.announcement.len(), limits::DESCRIPTION_BYTES)?;
    let recent = usize::try_from(settings.history.recent).unwrap_or(usize::MAX);
    at_most(Counted::RecentTasks, recent, limits::RECENT_TASKS)?;
    check_idle(&settings.idle)?;
    if settings.guard.grace > limits::LONGEST_GRACE {
        return Err(Refusal::BadTimeLimit);
    }
    let groups = &settings.fair.groups;
    at_most(Counted::Groups, groups.len(), limits::GROUPS)?;
    groups.iter().try_for_each(|(group, weight)| {
        check_text(TextField::Group, group)?;
        within(Share::Weight, Some(*weight), Thousandths(1))
    })?;
    let QuotaSettings { users, project, .. } = &settings.quota;
    at_most(Counted::UserQuotas, users.len(), limits::USERS)?;
    at_most(Counted::ProjectQuotas, project.len(), limits::GROUPS)?;
    users.keys().try_for_each(|name| check_text(TextField::Name, name))?;
    project.keys().try_for_each(|name| check_text(TextField::Project, name))
}

/// Told before asked, asked before stopped, whichever of them is done now.
fn check_idle(idle: &IdleSettings) -> Result<(), Refusal> {
    let IdleSettings { tell_after, ask_after, release_after, longest_keep, .. } = idle;
    let sound = |span: &Span| *span > Span::ZERO && *span <= limits::LONGEST;
    let ordered = tell_after <= ask_after && ask_after <= release_after;
    if !ordered || ![tell_after, release_after, longest_keep].into_iter().all(sound) {
        return Err(Refusal::IdleOrder);
    }
    for names in [&idle.exempt_users, &idle.exempt_projects, &idle.exempt_labels] {
        at_most(Counted::Exempt, names.len(), limits::GROUPS)?;
        names.iter().try_for_each(|name| check_text(TextField::Name, name))?;
    }
    Ok(())
}

pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    if name.is_empty() {
        return Err(Refusal::NameMissing);
    }
    if name.len() > limits::NAME_BYTES {
        return Err(Refusal::TooLong { what: TextField::Name, limit: limits::NAME_BYTES });
    }
    Ok(())
}

//! Who is told of what, and where: the rules of a task, else what its owner has chosen.

use danlu_core::notify_rule::{NotifyMoment, NotifyRule};
use danlu_core::{User, UserId};
use danlu_wire::api::Notify;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Email(String),
    Channel(String),
}

const EMAIL_PREFIX: &str = "email:";

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Email(address) => write!(f, "{EMAIL_PREFIX}{address}"),
            Target::Channel(name) => f.write_str(name),
        }
    }
}

impl Target {
    /// As it is written to the outbox.
    pub(crate) fn read(text: &str) -> Target {
        match text.strip_prefix(EMAIL_PREFIX) {
            Some(address) => Target::Email(address.to_owned()),
            None => Target::Channel(text.to_owned()),
        }
    }

    /// As a person writes it.
    pub(crate) fn named(name: &str) -> Target {
        match name.contains('@') {
            true => Target::Email(name.to_owned()),
            false => Target::Channel(name.to_owned()),
        }
    }

    pub(crate) fn shown(&self) -> &str {
        match self {
            Target::Email(address) => address,
            Target::Channel(name) => name,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Recipient {
    /// Whose language it is; `None`: that of the lab.
    pub(crate) user: Option<UserId>,
    pub(crate) target: Target,
    /// It waits while that user wants quiet: not where a task has named the target.
    pub(crate) can_wait: bool,
}

/// The channels that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownChannels {
    pub(crate) email: bool,
    pub(crate) names: BTreeSet<String>,
    /// Channels and addresses for administrators.
    pub(crate) admins: Vec<String>,
}

impl KnownChannels {
    fn has(&self, target: &Target) -> bool {
        match target {
            Target::Email(_) => self.email,
            Target::Channel(name) => self.names.contains(name),
        }
    }
}

/// What happens to a task, as rules and preferences distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    Start,
    Success,
    Failure,
    /// By its owner: no surprise.
    OwnCancel,
    Warning,
    Expiring,
    Trouble,
}

impl Occasion {
    fn is_named_by(self, on: &BTreeSet<NotifyMoment>) -> bool {
        let named = |moment| on.contains(&moment);
        match self {
            Occasion::Start => named(NotifyMoment::Start),
            Occasion::Success | Occasion::OwnCancel => named(NotifyMoment::End),
            Occasion::Failure => named(NotifyMoment::End) || named(NotifyMoment::Fail),
            Occasion::Warning => named(NotifyMoment::Requeue),
            Occasion::Expiring => named(NotifyMoment::Expiring),
            // Of a task that is told of at all.
            Occasion::Trouble => !on.is_empty(),
        }
    }

    fn is_wanted(self, wanted: &Notify) -> bool {
        match self {
            Occasion::Start => wanted.start,
            Occasion::Success => wanted.success,
            Occasion::Failure => wanted.failure,
            Occasion::OwnCancel => false,
            Occasion::Warning | Occasion::Expiring => wanted.warning,
            Occasion::Trouble => wanted.trouble,
        }
    }
}

/// Where a user is told.
pub(crate) fn usual(user: &User, wanted: &Notify, known: &KnownChannels) -> Vec<Recipient> {
    let own = || user.profile.email.clone().map(Target::Email);
    let targets: Vec<Target> = match wanted.channels.is_empty() {
        true => own().into_iter().collect(),
        false => {
            let target = |name: &String| match name == crate::daemon::config::EMAIL {
                true => own(),
                false => Some(Target::named(name)),
            };
            wanted.channels.iter().filter_map(target).collect()
        }
    };
    let there = targets.into_iter().filter(|target| known.has(target));
    there.map(|target| Recipient { user: Some(user.id), target, can_wait: true }).collect()
}

/// Of a task; each target once.
pub(crate) fn of_task(
    rules: &[NotifyRule],
    occasion: Occasion,
    (owner, wanted): (&User, &Notify),
    known: &KnownChannels,
) -> Vec<Recipient> {
    if rules.is_empty() {
        let wanted_at_all = occasion.is_wanted(wanted);
        return if wanted_at_all { usual(owner, wanted, known) } else { Vec::new() };
    }
    let mut found = BTreeMap::new();
    for rule in rules.iter().filter(|rule| occasion.is_named_by(&rule.on)) {
        let to = match rule.to.as_deref() {
            None => usual(owner, wanted, known),
            Some(crate::daemon::config::EMAIL) => {
                let mail = Notify {
                    channels: vec![crate::daemon::config::EMAIL.to_owned()],
                    ..wanted.clone()
                };
                usual(owner, &mail, known)
            }
            Some(to) => {
                let to = Target::named(to);
                let there = known.has(&to);
                let named = Recipient { user: Some(owner.id), target: to, can_wait: false };
                there.then_some(named).into_iter().collect()
            }
        };
        for recipient in to {
            found.entry(recipient.target.clone()).or_insert(recipient);
        }
    }
    found.into_values().collect()
}

/// Of what concerns the server.
pub(crate) fn admins<'a>(
    users: impl Iterator<Item = &'a User>,
    wanted: impl Fn(UserId) -> Notify,
    known: &KnownChannels,
) -> Vec<Recipient> {
    if !known.admins.is_empty() {
        let named = known.admins.iter().map(|to| Target::named(to));
        return named.map(|target| Recipient { user: None, target, can_wait: false }).collect();
    }
    let admins = users.filter(|user| user.admin && user.is_active());
    let each = admins.map(|user| (user, wanted(user.id))).filter(|(_, wanted)| wanted.trouble);
    each.flat_map(|(user, wanted)| usual(user, &wanted, known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ann(email: Option<&str>) -> User {
        let json = serde_json::json!({"id": 7, "name": "ann", "admin": false, "profile": {"email": email}});
        serde_json::from_value(json).expect("a user")
    }

    fn known() -> KnownChannels {
        let names = ["ops".to_owned(), "chat".to_owned()].into();
        KnownChannels { email: true, names, admins: Vec::new() }
    }

    fn rule(on: &[NotifyMoment], to: Option<&str>) -> NotifyRule {
        NotifyRule { on: on.iter().copied().collect(), to: to.map(str::to_owned) }
    }

    #[track_caller]
    fn check(rules: &[NotifyRule], occasion: Occasion, wanted: &Notify, expect: &[&str]) {
        let found = of_task(rules, occasion, (&ann(Some("a@x.org")), wanted), &known());
        let found: Vec<String> = found.iter().map(|it| it.target.to_string()).collect();
        assert_eq!(found, expect, "{rules:?} {occasion:?}");
    }

    #[test]
    fn a_task_that_says_nothing_is_told_of_as_its_owner_wants() {
        let wanted = Notify { failure: true, ..Notify::default() };
        check(&[], Occasion::Failure, &wanted, &["email:a@x.org"]);
        check(&[], Occasion::Success, &wanted, &[]);
        check(&[], Occasion::OwnCancel, &wanted, &[]);
        let chat =
            Notify { channels: vec!["chat".into(), "email".into(), "gone".into()], ..wanted };
        check(&[], Occasion::Failure, &chat, &["chat", "email:a@x.org"]);
        let nobody = of_task(
            &[],
            Occasion::Failure,
            (&ann(None), &Notify { failure: true, ..Notify::default() }),
            &known(),
        );
        assert_eq!(nobody, []);
    }

    #[test]
    fn rules_of_a_task_count_more_than_what_its_owner_wants() {
        use NotifyMoment::{End, Fail, Start};
        let all = Notify { start: true, success: true, failure: true, ..Notify::default() };
        check(&[rule(&[], None)], Occasion::Failure, &all, &[]);
        check(&[rule(&[Fail], None)], Occasion::Success, &all, &[]);
        check(&[rule(&[Fail], None)], Occasion::OwnCancel, &all, &[]);
        let none = Notify::default();
        check(&[rule(&[End], Some("ops"))], Occasion::Failure, &none, &["ops"]);
        check(&[rule(&[End], Some("ops"))], Occasion::OwnCancel, &none, &["ops"]);
        let twice = [rule(&[Start], Some("b@x.org")), rule(&[Start, End], Some("b@x.org"))];
        check(&twice, Occasion::Start, &none, &["email:b@x.org"]);
        check(&[rule(&[End], Some("gone"))], Occasion::Success, &none, &[]);
    }
}

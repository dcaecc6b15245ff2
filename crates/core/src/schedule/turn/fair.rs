//! The users with queued tasks in the order of `fair`, and the usage of groups. Updated when a user's usage changes, so
//! that a pass looks at the first few users only.
//!
//! Among users with equally many GPUs in use and equal weight, time alone changes nothing. So each such class is kept
//! sorted, and a pass compares the first users of the classes at its time.

use crate::model::ids::{TaskId, UserId};
use crate::model::number::thousandths::Thousandths;
use crate::schedule::TurnKey;
use crate::schedule::turn::decay::account::{Account, Deposit, Level};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, btree_set};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FairTurns {
    filed: BTreeMap<UserId, Entry>,
    parties: BTreeMap<TurnParty, PartyMembers>,
    /// The parties with queued tasks.
    order: BTreeMap<Class, BTreeSet<(Level, TaskId, TurnParty)>>,
}

/// The groups and single users that take turns; members of a group then take turns among themselves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TurnParty {
    Group(String),
    Alone(UserId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) party: TurnParty,
    pub(crate) party_weight: Thousandths,
    pub(crate) weight: Thousandths,
    pub(crate) deposit: Deposit,
    /// `None`: nothing waits.
    pub(crate) oldest: Option<TaskId>,
}

/// Among these the order does not change with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    gpus: u64,
    weight: Thousandths,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct PartyMembers {
    account: Account,
    count: usize,
    waiting: BTreeMap<Class, BTreeSet<(Level, TaskId, UserId)>>,
    oldest: BTreeSet<TaskId>,
    place: Option<(Class, Level, TaskId)>,
}

impl Entry {
    fn class(&self) -> Class {
        Class { gpus: self.deposit.gpus, weight: self.weight }
    }

    fn level(&self) -> Level {
        let mut own = Account::default();
        own.add(self.deposit);
        own.level()
    }
}

impl FairTurns {
    /// `None`: the user has neither a group nor a queued task.
    pub(crate) fn file(&mut self, user: UserId, entry: Option<Entry>) {
        if self.filed.get(&user) == entry.as_ref() {
            return;
        }
        if let Some(before) = self.filed.remove(&user) {
            self.leave(user, &before);
        }
        if let Some(entry) = entry {
            self.join(user, &entry);
            self.filed.insert(user, entry);
        }
    }

    pub(crate) fn account(&self, group: &str) -> Option<&Account> {
        let party = TurnParty::Group(group.to_owned());
        self.parties.get(&party).map(|members| &members.account)
    }

    fn join(&mut self, user: UserId, entry: &Entry) {
        let members = self.parties.entry(entry.party.clone()).or_default();
        members.account.add(entry.deposit);
        members.count += 1;
        if let Some(oldest) = entry.oldest {
            members.oldest.insert(oldest);
            let class = members.waiting.entry(entry.class()).or_default();
            class.insert((entry.level(), oldest, user));
        }
        self.place(&entry.party, entry.party_weight);
    }

    fn leave(&mut self, user: UserId, entry: &Entry) {
        let Some(members) = self.parties.get_mut(&entry.party) else { return };
        members.account.take(entry.deposit);
        members.count -= 1;
        if let Some(oldest) = entry.oldest {
            members.oldest.remove(&oldest);
            remove(&mut members.waiting, entry.class(), &(entry.level(), oldest, user));
        }
        self.place(&entry.party, entry.party_weight);
    }

    /// Put a party where it belongs now.
    fn place(&mut self, party: &TurnParty, weight: Thousandths) {
        let Some(members) = self.parties.get_mut(party) else { return };
        let class = Class { gpus: members.account.gpus, weight };
        let oldest = members.oldest.first().copied();
        let place = oldest.map(|oldest| (class, members.account.level(), oldest));
        let before = std::mem::replace(&mut members.place, place);
        if members.count == 0 {
            self.parties.remove(party);
        }
        if before == place {
            return;
        }
        if let Some((class, level, oldest)) = before {
            remove(&mut self.order, class, &(level, oldest, party.clone()));
        }
        if let Some((class, level, oldest)) = place {
            self.order.entry(class).or_default().insert((level, oldest, party.clone()));
        }
    }

    /// By what they have used at the time that `standing` goes by.
    pub(crate) fn in_order<'a, F>(&'a self, turn_key: F) -> InOrder<'a, F>
    where
        F: Fn(UserId, TaskId) -> TurnKey,
    {
        let classes = self.order.values().map(BTreeSet::iter);
        let mut merge = InOrder {
            turns: self,
            turn_key,
            classes: classes.map(|parties| (parties, None)).collect(),
            members: Vec::new(),
            first: BinaryHeap::new(),
        };
        (0..merge.classes.len()).for_each(|class| merge.open_next_party(class));
        merge
    }
}

fn remove<T: Ord>(classes: &mut BTreeMap<Class, BTreeSet<T>>, class: Class, what: &T) {
    let Some(of_class) = classes.get_mut(&class) else { return };
    of_class.remove(what);
    if of_class.is_empty() {
        classes.remove(&class);
    }
}

type Ordered<'a, T> = btree_set::Iter<'a, (Level, TaskId, T)>;

/// Merges the classes. Of each class of parties one is open at first, and the next is opened when the first of its
/// members has had a turn.
pub(crate) struct InOrder<'a, F> {
    turns: &'a FairTurns,
    turn_key: F,
    /// With the party that was opened last.
    classes: Vec<(Ordered<'a, TurnParty>, Option<&'a TurnParty>)>,
    /// Of open parties: with the class and the party they are from.
    members: Vec<(Ordered<'a, UserId>, usize, &'a TurnParty)>,
    /// The first of each of these.
    first: BinaryHeap<Reverse<(TurnKey, UserId, usize)>>,
}

impl<F: Fn(UserId, TaskId) -> TurnKey> InOrder<'_, F> {
    fn open_next_party(&mut self, class: usize) {
        let (parties, open) = &mut self.classes[class];
        let next = parties.next().map(|(_, _, party)| party);
        *open = next;
        let Some(party) = next else { return };
        for waiting in self.turns.parties[party].waiting.values() {
            self.members.push((waiting.iter(), class, party));
            self.look_at(self.members.len() - 1);
        }
    }

    fn look_at(&mut self, members: usize) {
        if let Some((_, oldest, user)) = self.members[members].0.next() {
            let turn_key = (self.turn_key)(*user, *oldest);
            self.first.push(Reverse((turn_key, *user, members)));
        }
    }
}

impl<F: Fn(UserId, TaskId) -> TurnKey> Iterator for InOrder<'_, F> {
    type Item = (TurnKey, UserId);

    fn next(&mut self) -> Option<(TurnKey, UserId)> {
        let Reverse((turn_key, user, members)) = self.first.pop()?;
        let (_, class, party) = &self.members[members];
        let (class, newest) = (*class, self.classes[*class].1 == Some(*party));
        self.look_at(members);
        if newest {
            self.open_next_party(class);
        }
        Some((turn_key, user))
    }
}

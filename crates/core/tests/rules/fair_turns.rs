//! Whose turn it is under `fair`, against a simple reckoning, after any history.

use crate::lab::{Lab, lab, wants};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::user::UserChange;
use danlu_core::*;

const USERS: u32 = 12;
const GROUPS: u32 = 3;
const GPUS: u32 = 8;

/// The same numbers each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most
    }
}

/// Users of groups and alone, of several weights, and one task of each that waits.
fn lab_of_many(numbers: &mut Numbers) -> Lab {
    let mut lab = lab(&[GPUS]);
    lab.policy(Order::Fair, Backfill::None);
    for number in 3..USERS {
        lab.act(Input::AddUser { by: Actor::Daemon, name: format!("u{number}"), admin: false });
    }
    for number in 1..=USERS {
        let group = numbers.below(u64::from(GROUPS) + 2);
        let group = (group < u64::from(GROUPS)).then(|| format!("g{group}"));
        let weight = Some(Thousandths([500, 1_000, 2_000][numbers.below(3) as usize]));
        let change = UserChange { group, weight, ..UserChange::default() };
        lab.act(Input::SetUser { by: Actor::Daemon, user: UserId(number), change });
        submit(&mut lab, UserId(number));
    }
    lab.configure(|settings| {
        settings.fair.groups.insert("g1".into(), Thousandths(2_000));
    });
    lab
}

fn submit(lab: &mut Lab, by: UserId) {
    lab.act(Input::Submit { by, spec: wants(1), key: None });
}

/// What they have used for their weight, and before that their group.
fn share(lab: &Lab, user: UserId) -> (f64, f64) {
    let used = |user: UserId| {
        let at_start = lab.state.running_of(user).gpus * 60_000_000;
        (lab.state.used_by(user, lab.now).micros + at_start) as f64
    };
    let row = &lab.state.users[&user];
    let own = used(user) / row.weight.0 as f64;
    let Some(group) = &row.group else { return (own, own) };
    let members = lab.state.users.values().filter(|other| other.group.as_ref() == Some(group));
    let weight = lab.state.settings().fair.groups.get(group).map_or(1_000, |weight| weight.0);
    (members.map(|member| used(member.id)).sum::<f64>() / weight as f64, own)
}

fn is_less(one: (f64, f64), other: (f64, f64)) -> bool {
    let clearly = |one: f64, other: f64| one < other * (1.0 - 1e-6) - 1.0;
    clearly(one.0, other.0) || !clearly(other.0, one.0) && clearly(one.1, other.1)
}

#[test]
fn the_next_is_who_has_used_least_for_their_weight_whatever_has_been() {
    let mut numbers = Numbers(7);
    for _ in 0..5 {
        let mut lab = lab_of_many(&mut numbers);
        for _ in 0..60 {
            let first = |lab: &Lab| {
                let free = lab.state.pool().free_gpus() > 0;
                let waiting = lab
                    .state
                    .users
                    .keys()
                    .filter(|user| free && lab.state.waiting_of(**user).tasks > 0);
                waiting.map(|user| (*user, share(lab, *user))).collect::<Vec<_>>()
            };
            let waiting = first(&lab);
            lab.effects.clear();
            lab.schedule();
            if let Some(Effect::Launch(launch)) = lab.effects.first() {
                let owner = lab.state.tasks[&launch.task].owner;
                let (_, own) = waiting.iter().find(|(user, _)| *user == owner).unwrap();
                let better = waiting.iter().find(|(_, other)| is_less(*other, *own));
                assert_eq!(better, None, "but {owner:?} with {own:?} was first");
            }
            let gone: Vec<u64> = lab.state.active_runs().map(|run| run.task.0).collect();
            for task in gone.into_iter().filter(|_| numbers.below(2) == 0) {
                let owner = lab.state.tasks[&TaskId(task)].owner;
                lab.ended(task, Exit::Code(0));
                submit(&mut lab, owner);
            }
            lab.after_secs(numbers.below(200_000));
        }
    }
}

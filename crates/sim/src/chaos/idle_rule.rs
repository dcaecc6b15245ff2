//! The daemon's judgement of runs that hold GPUs and do not use them: right or wrong, in time or not, of any run.

use super::dice::Dice;
use super::world::World;
use danlu_core::idle::{IdleAct, IdleKind, IdleRung, IdleSettings};
use danlu_core::{Actor, Input, Run, RunId, Span, TaskId, Time};

pub(super) fn draw_settings(dice: &mut Dice) -> IdleSettings {
    use IdleAct::{Ask, None, Release, Requeue, Tell};
    let mut after = [dice.scale(1, 5_000), dice.scale(1, 10_000), dice.scale(1, 20_000)];
    after.sort_unstable();
    let [tell_after, ask_after, release_after] = after.map(Span);
    IdleSettings {
        act: dice.pick(&[None, None, Tell, Ask, Requeue, Release, Release]).unwrap_or(None),
        tell_after,
        ask_after,
        release_after,
        longest_keep: Span(dice.scale(1_000, 120_000)),
        exempt_users: dice.chance(200).then(|| "user1".to_owned()).into_iter().collect(),
        ..IdleSettings::default()
    }
}

impl World {
    /// `None` where there is no run.
    pub(super) fn draw_idle(&mut self) -> Option<Input> {
        let going = |run: &&Run| !run.is_ended();
        let all = self.daemon.state()?.runs.values().map(|run| &**run);
        let about = |run: &Run| (run.id, run.task, run.launched_at);
        let all: Vec<(RunId, TaskId, Time)> = match self.dice.chance(900) {
            true => all.filter(going).map(about).collect(),
            false => all.map(about).collect(),
        };
        let (run, task, launched) = self.dice.pick(&all)?;
        // Mostly since its start, now and then since before that.
        let since = match self.dice.chance(800) {
            true => launched,
            false => Time(launched.0 + 10_000 - self.dice.span(0, 20_000).0.cast_signed()),
        };
        let kind = self.dice.pick(&[IdleKind::NoProcess, IdleKind::Pulses])?;
        Some(match self.dice.below(10) {
            0..=1 => Input::NoteIdle { run, since, kind, rung: IdleRung::Told },
            2..=5 => Input::NoteIdle { run, since, kind, rung: IdleRung::Asked },
            6 if self.dice.chance(500) => Input::NoteUsed { run },
            6 => Input::Keep { by: Actor::Daemon, task, time: self.dice.span(0, 60_000) },
            _ => Input::StopIdle { run, since, kind },
        })
    }
}

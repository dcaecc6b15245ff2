//! What is to be done about a run now: tell its owner, ask, stop it, or nothing. Pure; the core checks it again.

use super::run_record::RunVerdict;
use super::verdict::Idleness;
use danlu_core::Time;
use danlu_core::idle::{IdleRung, IdleSettings, IdleTrail};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LadderStep {
    Note(IdleRung, Idleness),
    Stop(Idleness),
    /// It is used again, or nothing is known of it any more.
    Used,
}

pub(crate) fn next(
    verdict: &RunVerdict,
    trail: &IdleTrail,
    settings: &IdleSettings,
    now: Time,
) -> Option<LadderStep> {
    let Some(idle) = verdict.whole else {
        return (trail.note.is_some() && !verdict.stirring).then_some(LadderStep::Used);
    };
    if trail.kept_until.is_some_and(|until| until > now) {
        return None;
    }
    let time = now.since(trail.counts_from(idle.since));
    let told = trail.note.map(|note| note.rung);
    let doubt = verdict.stirring || verdict.cpu_busy && !settings.ignore_cpu;
    if let (Some((after, _)), Some(note)) = (settings.stopped_after(), trail.note)
        && note.rung == IdleRung::Asked
    {
        let answered_in_time = now.since(note.at) >= after.saturating_sub(settings.ask_after);
        return (time >= after && answered_in_time && !doubt).then_some(LadderStep::Stop(idle));
    }
    let due = |rung| {
        let after = settings.told_after(rung)?;
        (told < Some(rung) && time >= after).then_some(LadderStep::Note(rung, idle))
    };
    due(IdleRung::Asked).filter(|_| !doubt).or_else(|| due(IdleRung::Told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::idle::{IdleAct, IdleKind, IdleNote};

    const SINCE: Time = Time(0);

    fn idle() -> Idleness {
        Idleness { since: SINCE, kind: IdleKind::NoProcess }
    }

    fn at(minutes: i64) -> Time {
        Time::from_secs(minutes * 60)
    }

    /// After so many minutes, when the owner was last told something at some minute.
    fn step(act: IdleAct, minutes: i64, told: Option<(IdleRung, i64)>) -> Option<LadderStep> {
        let note = told.map(|(rung, minute)| IdleNote {
            since: SINCE,
            kind: idle().kind,
            rung,
            at: at(minute),
        });
        let trail = IdleTrail { note, ..IdleTrail::default() };
        let verdict = RunVerdict { whole: Some(idle()), ..RunVerdict::default() };
        next(&verdict, &trail, &IdleSettings { act, ..IdleSettings::default() }, at(minutes))
    }

    #[test]
    fn the_ladder_is_climbed_rung_by_rung() {
        let (told, asked) = (Some((IdleRung::Told, 30)), Some((IdleRung::Asked, 60)));
        assert_eq!(step(IdleAct::None, 600, None), None);
        assert_eq!(step(IdleAct::Release, 29, None), None);
        let tell = Some(LadderStep::Note(IdleRung::Told, idle()));
        assert_eq!(step(IdleAct::Tell, 30, None), tell);
        assert_eq!(step(IdleAct::Release, 30, None), tell);
        assert_eq!(step(IdleAct::Release, 59, told), None);
        assert_eq!(step(IdleAct::Tell, 600, told), None);
        let ask = Some(LadderStep::Note(IdleRung::Asked, idle()));
        assert_eq!(step(IdleAct::Release, 60, told), ask);
        assert_eq!(step(IdleAct::Ask, 600, asked), None);
        assert_eq!(step(IdleAct::Release, 119, asked), None);
        assert_eq!(step(IdleAct::Requeue, 120, asked), Some(LadderStep::Stop(idle())));
        // Asked late: there is time to answer.
        let late = Some((IdleRung::Asked, 110));
        assert_eq!(step(IdleAct::Release, 120, late), None);
        assert_eq!(step(IdleAct::Release, 170, late), Some(LadderStep::Stop(idle())));
    }

    #[test]
    fn doubt_and_keeping_stop_it() {
        let note = IdleNote { since: SINCE, kind: idle().kind, rung: IdleRung::Asked, at: at(60) };
        let asked = IdleTrail { note: Some(note), ..IdleTrail::default() };
        let settings = IdleSettings { act: IdleAct::Release, ..IdleSettings::default() };
        let busy = RunVerdict { whole: Some(idle()), cpu_busy: true, ..RunVerdict::default() };
        assert_eq!(next(&busy, &asked, &settings, at(600)), None);
        let ignoring = IdleSettings { ignore_cpu: true, ..settings.clone() };
        assert_eq!(next(&busy, &asked, &ignoring, at(600)), Some(LadderStep::Stop(idle())));
        // It is told, not asked.
        let step = next(&busy, &IdleTrail::default(), &settings, at(600));
        assert_eq!(step, Some(LadderStep::Note(IdleRung::Told, idle())));
        let stirring = RunVerdict { whole: Some(idle()), stirring: true, ..RunVerdict::default() };
        assert_eq!(next(&stirring, &asked, &ignoring, at(600)), None);
        let kept = IdleTrail { kept_until: Some(at(700)), ..IdleTrail::default() };
        let verdict = RunVerdict { whole: Some(idle()), ..RunVerdict::default() };
        assert_eq!(next(&verdict, &kept, &settings, at(600)), None);
        // Only the time after it counts.
        assert_eq!(next(&verdict, &kept, &settings, at(729)), None);
        let told = Some(LadderStep::Note(IdleRung::Told, idle()));
        assert_eq!(next(&verdict, &kept, &settings, at(730)), told);
        assert_eq!(next(&RunVerdict::default(), &asked, &settings, at(61)), Some(LadderStep::Used));
    }
}

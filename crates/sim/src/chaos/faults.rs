//! The faults that can be injected, and the mix of them in one seed.
//!
//! Every seed draws its own mix (swarm testing): a fault that is always present hides others, since no task gets far
//! when the daemon crashes at each step.

use super::dice::Dice;
use danlu_core::Span;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    CrashBeforeCommit,
    CrashAfterCommit,
    CrashIdle,
    CommitFailure,
    LateCommit,
    StepPanic,
    LostOrder,
    LateOrder,
    Restore,
    ClockJump,
    Cut,
    Partition,
    HalfOpen,
    LateFrames,
    SlowNetwork,
    LostAnswer,
    Duplicate,
    AgentCrash,
    Reboot,
    Replace,
    Destroy,
    ShimKill,
    LaunchFailure,
    GpuVanish,
    GpuRenumber,
    ProbeError,
    Foreign,
    Dirty,
    Broken,
    MemoryShort,
    LostStore,
    Unfit,
}

impl Fault {
    pub(super) const ALL: [Fault; 32] = [
        Fault::CrashBeforeCommit,
        Fault::CrashAfterCommit,
        Fault::CrashIdle,
        Fault::CommitFailure,
        Fault::LateCommit,
        Fault::StepPanic,
        Fault::LostOrder,
        Fault::LateOrder,
        Fault::Restore,
        Fault::ClockJump,
        Fault::Cut,
        Fault::Partition,
        Fault::HalfOpen,
        Fault::LateFrames,
        Fault::SlowNetwork,
        Fault::LostAnswer,
        Fault::Duplicate,
        Fault::AgentCrash,
        Fault::Reboot,
        Fault::Replace,
        Fault::Destroy,
        Fault::ShimKill,
        Fault::LaunchFailure,
        Fault::GpuVanish,
        Fault::GpuRenumber,
        Fault::ProbeError,
        Fault::Foreign,
        Fault::Dirty,
        Fault::Broken,
        Fault::MemoryShort,
        Fault::LostStore,
        Fault::Unfit,
    ];

    /// How often it strikes among the faults that come by themselves; 0 for those that only
    /// happen when something else does.
    fn weight(self) -> u64 {
        use Fault::*;
        match self {
            Cut => 10,
            AgentCrash | ShimKill | Foreign => 6,
            Reboot | CrashIdle | ProbeError | GpuVanish => 4,
            Partition | ClockJump | GpuRenumber | Dirty => 3,
            Restore | Replace | Broken | MemoryShort | Unfit => 2,
            LostStore => 1,
            _ => 0,
        }
    }

    /// How likely it is, in thousandths, whenever there is an occasion.
    fn likelihood(self) -> u64 {
        use Fault::*;
        match self {
            CrashBeforeCommit | CrashAfterCommit | CommitFailure => 8,
            StepPanic => 4,
            LaunchFailure | LateCommit | LostOrder | LateOrder => 30,
            LostAnswer | Duplicate => 60,
            HalfOpen | LateFrames => 500,
            _ => 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct Mix {
    faults: BTreeSet<Fault>,
    /// Mean time between two faults that come by themselves.
    pub(super) pace: Span,
    intensity: u64,
}

impl Mix {
    pub(super) fn draw(dice: &mut Dice) -> Mix {
        let mut faults: BTreeSet<Fault> = match dice.below(10) {
            0 => BTreeSet::new(),
            1..=3 => dice.pick(&Fault::ALL).into_iter().collect(),
            4..=7 => Fault::ALL.into_iter().filter(|_| dice.chance(300)).collect(),
            _ => Fault::ALL.into_iter().collect(),
        };
        // These two only change what a cut does.
        if faults.contains(&Fault::HalfOpen) || faults.contains(&Fault::LateFrames) {
            faults.insert(Fault::Cut);
        }
        Mix { faults, pace: Span(dice.scale(500, 30_000)), intensity: dice.between(1, 3) }
    }

    pub(super) fn is_faultless(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    pub(super) fn strikes(&self, fault: Fault, dice: &mut Dice) -> bool {
        self.has(fault) && dice.chance(fault.likelihood() * self.intensity)
    }

    /// One of the faults that come by themselves.
    pub(super) fn choose(&self, dice: &mut Dice) -> Option<Fault> {
        let total: u64 = self.faults.iter().map(|fault| fault.weight()).sum();
        let mut rest = dice.below(total);
        self.faults.iter().copied().find(|fault| {
            let here = rest < fault.weight();
            rest = rest.saturating_sub(fault.weight());
            here
        })
    }
}

//! Deliberate faults in the core and the engine, which the simulator's tests switch on one at a time.
//!
//! Without the feature `mutants`, `mutated` is `false` at compile time.

macro_rules! mutants {
    ($($name:ident: $what:literal,)*) => {
        /// One deliberate fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Mutant {
            $(#[doc = $what] $name,)*
        }

        #[cfg(feature = "mutants")]
        impl Mutant {
            pub const ALL: &'static [Mutant] = &[$(Mutant::$name,)*];

            pub fn what(self) -> &'static str {
                match self {
                    $(Mutant::$name => $what,)*
                }
            }
        }
    };
}

mutants! {
    ReadyWithStrays: "a node with stray runs is given work",
    ReadyOnConnect: "a node is given work before its first report",
    StrayForgotten: "a stray run is not stopped",
    BootTrustsNodes: "nodes keep their connections over a restart of the daemon",
    StaleSessionAccepted: "messages of an earlier connection are taken for new",
    LostFreesGpus: "the GPUs of a lost node's runs are given out again",
    LostTooSoon: "the runs of a node that is away are declared lost at once",
    AbsentRunIgnored: "a run that the node no longer has is believed to run for ever",
    LaunchForgottenInSession: "a report that crossed a launch ends the run",
    ExitForgotten: "an end told only by the report after a reconnect is not recorded",
    ForgetAlive: "a run directory is removed when the run starts",
    LogKeptWhereAway: "the log of a removed task stays on a node that was away",
    NoForget: "ended runs are never removed from nodes",
    EpochIgnored: "run ids do not carry the epoch of the store",
    ArrayCutShort: "elements of an array that are added later are not",
    LedgerNotNamed: "a submit does not name the row that counts task ids",
    TaskRowNotNamed: "the end of a run does not name its task's row",
    KeyIgnored: "a repeated submit makes a second task",
    CancelForgotten: "a stop is not sent again after a reconnect",
    CancelRequeues: "a cancelled run's task is queued again",
    RetryAfterSuccess: "a successful task with retries runs again",
    RetriesForEver: "a failing task is retried without limit",
    RetryClassIgnored: "a failure is retried whatever classes the task named",
    BackoffForgotten: "a failing task is retried at once",
    PauseIgnored: "tasks are started while the queue is paused",
    PreemptedIsFailed: "a preempted task counts as failed",
    NeverStartedIsFailed: "a task whose launch was dropped counts as failed",
    DependencyAnyOutcome: "afterok is released by a failure",
    DependentsForgotten: "the tasks after a finished one stay blocked",
    UnfitIgnored: "a node that cannot start anything is given work",
    TroubleIsFailure: "a task whose machine could not start it counts as failed",
    UnknownRunStopped: "what a lost store knew is ended without being asked",
    UnknownRunIgnored: "GPUs of runs that a lost store knew are given out",
    RestoredRunsAgain: "what may have run since a backup is started again",
    NoRecordRunsAgain: "what may have run to its end is started again",
    IdsRestart: "a lost store gives the ids of its tasks out again",
    SharedGpuGiven: "a GPU that two nodes report is given out",
    OwnEndForgotten: "a task that had ended by itself before it was cancelled counts as cancelled",
    DrainIgnored: "a draining node is given work",
    ForeignIsFree: "a GPU with a foreign process counts as free",
    UnknownIsFree: "a GPU whose probe failed counts as free",
    QuarantineIgnored: "a GPU with a hardware error is given out",
    SlotsIgnored: "a GPU takes as many tasks by count as there are",
    LedgerIgnored: "shared tasks are placed as if those before them used nothing",
    SettlingIgnored: "a shared GPU takes the next task before the last one has its memory",
    ExclusiveOnShared: "a task gets a GPU for itself that others share",
    VanishedGpuDropped: "a held GPU that vanishes and comes back is free",
    RenumberedByIndex: "GPUs are told apart by index",
    PartFailureIgnored: "the other parts of a run go on when one has failed",
    GangStartsShort: "a task on several nodes starts when all of them but one have room",
    HeadNeverReserved: "backfill never reserves for the first in the queue",
    ImpossibleHeadBlocks: "a task that cannot run holds up those behind it",
    ClassesIgnored: "a user below zero takes turns with everybody else",
    AgedForgotten: "nothing is kept for who has waited for long",
    QuotaIgnored: "users may have more running than their quota",
    NamedIgnored: "tasks take more of a named resource than there is",
    UncheckedPlan: "decisions are carried out without being checked, and placement forgets what it took",
    EffectBeforeCommit: "the engine carries out effects before the batch is committed",
    ReplyBeforeCommit: "the engine answers before the batch is committed",
    PublishedBeforeCommit: "readers see a batch before it is committed",
    EffectTwice: "the engine carries out every effect twice",
    FailedBatchKept: "the engine goes on with its state after a failed commit",
    FailedBatchAnswered: "who asked for what could not be committed is told that it is done",
    FailedBatchUnanswered: "who asked for what could not be committed hears nothing",
    FailedBatchCarriedOut: "the effects of a batch that could not be committed are carried out",
    StaleModel: "readers do not see the state that the engine has started again from",
    NotReconnected: "machines are not asked again after the engine has started again",
    QuestionsDropped: "questions get no answer while the store cannot be written",
    PanickedStateKept: "the engine goes on with a state in which a step has panicked",
    InputsLostByPanic: "what came together with an input that panicked is forgotten",
    DistrustedStillHeard: "a machine whose message was left out is believed as before",
    LostOrderForgotten: "a machine is not asked again when an order for it was lost",
    NewsForgotten: "events that waited for the next commit are not in it",
    KeptIsIdle: "a run is stopped as idle although its owner keeps it",
    IdleRuleIgnored: "a run is stopped as idle although there is no such rule",
    IdleUnasked: "a run is stopped as idle before its owner was asked",
    RetiredDropped: "an ended task that leaves the state is kept nowhere",
    RetiredStaysInRows: "an ended task that leaves the state keeps its row",
    RetiredThoughNeeded: "an ended task leaves the state although another one depends on it",
    PastWorkNotNamed: "what is remembered of tasks that left the state is not stored",
    PastLogsKept: "the logs of a task that is back in the state are counted twice",
    RecallForgetsRuns: "a task comes back into the state without its runs",
    RecalledSpecNotNamed: "what a task is to do that is back in the state is not stored",
    RemovedIsFound: "a task that was removed is found in the history before that is committed",
    OldKeyForgotten: "a repeated submit makes a second task once the first has left the state",
    OldDependencyIgnored: "a retried task does not look at what it depends on and has left the state",
}

#[cfg(feature = "mutants")]
mod active {
    use super::Mutant;
    use std::cell::Cell;

    thread_local! {
        static ACTIVE: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    /// Run `f` on this thread with one fault switched on.
    pub fn with_mutant<R>(mutant: Mutant, f: impl FnOnce() -> R) -> R {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                ACTIVE.set(None);
            }
        }
        let _reset = Reset;
        ACTIVE.set(Some(mutant));
        f()
    }

    pub fn mutated(mutant: Mutant) -> bool {
        ACTIVE.get() == Some(mutant)
    }
}

#[cfg(feature = "mutants")]
pub use active::{mutated, with_mutant};

#[cfg(not(feature = "mutants"))]
pub const fn mutated(_: Mutant) -> bool {
    false
}

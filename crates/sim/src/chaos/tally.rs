//! Counts of what happened: proof that the faults were really injected.

macro_rules! tally {
    ($($field:ident: $label:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Tally {
            $(#[doc = $label] pub $field: u64,)*
        }

        impl Tally {
            pub fn add(&mut self, other: &Tally) {
                $(self.$field += other.$field;)*
            }

            /// Every count with its name.
            pub fn counts(&self) -> Vec<(&'static str, u64)> {
                vec![$(($label, self.$field),)*]
            }
        }
    };
}

tally! {
    seeds: "seeds",
    faultless_seeds: "seeds without faults",
    steps: "steps",
    commits: "commits",
    submits: "tasks submitted",
    refusals: "requests refused",
    launches: "runs launched",
    starts: "processes started",
    spanning: "runs over several nodes",
    gangs: "of these as gangs",
    preemptions: "preemptions",
    cancels: "cancels acknowledged",
    pauses: "runs paused",
    edits: "tasks edited",
    told_idle: "owners told or asked about idle runs",
    kept: "idle runs kept",
    stopped_idle: "idle runs stopped",
    arrays: "arrays submitted",
    abandons: "runs abandoned",
    logs_dropped: "logs of removed tasks deleted",
    declared_lost: "runs declared lost",
    relabelled: "nodes with other labels",
    renamed: "machines renamed",
    removed_nodes: "nodes removed",
    lost_stores: "stores lost",
    unknown_runs: "runs that a lost store knew",
    in_doubt: "tasks held in doubt",
    unfit: "machines that could not start anything",
    unstartable: "launches that failed for that",
    shared_gpus: "machines under two names",
    crashes_before_commit: "daemon crashes before commit",
    crashes_after_commit: "daemon crashes after commit",
    crashes_in_effects: "daemon crashes among effects",
    crashes_idle: "daemon crashes between batches",
    commit_failures: "commit failures",
    failed_recoveries: "of these in a recovery",
    late_commits: "commits that took long",
    step_panics: "panics of a step",
    scheduling_paused: "pauses of scheduling after a panic",
    distrusted: "messages of machines left out after a panic",
    lost_orders: "launch orders that could not be built",
    late_orders: "launch orders that came late",
    reads: "reads",
    retired: "tasks gone to the history",
    recalled: "tasks back from the history",
    retried_from_history: "of these to be run again",
    removed_from_history: "of these to be removed",
    named_in_history: "of these as dependencies",
    repeated_from_history: "of these by a repeated submit",
    look_ups: "questions to the history",
    look_ups_failed: "of these without an answer",
    restores: "backups restored",
    rewound_tasks: "submits undone by a restore",
    connections: "connections",
    cuts: "connections cut",
    partitions: "partitions",
    half_open: "cuts noticed late by one side",
    lost_frames: "frames lost",
    late_messages: "messages from an old connection",
    fenced_commands: "commands from an old connection",
    dropped_effects: "effects dropped by the backend",
    duplicates: "messages sent twice",
    repeated_submits: "submits sent again",
    agent_crashes: "agent crashes",
    reboots: "node reboots",
    replacements: "nodes replaced",
    destructions: "nodes destroyed",
    shim_kills: "shims killed",
    launch_failures: "launches failed",
    clock_jumps: "clock jumps",
    gpus_vanished: "GPUs vanished",
    gpus_renumbered: "GPUs renumbered",
    probe_errors: "GPU probe errors",
    dirty: "GPUs that kept memory",
    foreign_processes: "foreign processes on GPUs",
    broken: "GPUs with hardware errors",
    memory_short: "nodes short of memory",
    shared_starts: "processes started on shared GPUs",
    gpu_time: "GPU milliseconds used",
    gpu_time_offered: "GPU milliseconds there were",
}

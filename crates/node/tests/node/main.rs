//! The node with real processes. The agent starts its launcher from the running program, so this test program has its own `main`.
#![allow(
    clippy::unwrap_used,
    reason = "it is all tests, which clippy knows only by their attribute"
)]

mod agent_process;
mod environment;
mod exits;
mod launcher;
mod many;
mod memory;
mod output;
mod pause;
mod removed_directory;
mod restart;
mod silent_directory;
mod stop;
mod trouble;
mod user;
mod world;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

/// A test that is not in the list is dead code, which the compiler reports.
macro_rules! trials {
    ($($module:ident::$test:ident),* $(,)?) => {
        vec![$(Trial::test(concat!(stringify!($module), "::", stringify!($test)), || {
            crate::$module::$test();
            Ok(())
        })),*]
    };
}

fn main() -> ExitCode {
    if let Some(code) = danlu_node::dispatch() {
        return code;
    }
    if let Some(code) = agent_process::dispatch() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Some tests count or limit what the process has, so that two at a time would disturb each other.
    arguments.test_threads.get_or_insert(1);
    let trials = trials![
        environment::placeholders_are_replaced,
        environment::nothing_of_the_daemon_is_inherited,
        environment::signals_are_at_their_defaults,
        environment::state_is_written_before_the_command_begins,
        exits::exit_codes,
        exits::signals,
        exits::time_limit_ends_the_tree,
        exits::time_limit_is_told_whatever_the_command_says,
        exits::missing_command,
        exits::missing_interpreter,
        exits::command_that_may_not_be_executed,
        exits::script_without_first_line,
        exits::missing_directory,
        exits::unwritable_output,
        exits::unknown_user,
        exits::bad_orders,
        many::two_hundred_at_once,
        many::launched_twice_starts_once,
        many::forgotten_leaves_its_log,
        many::report_shows_every_run,
        many::processes_know_their_run,
        many::a_group_of_the_same_name_is_of_nobody,
        many::idle_agent_sleeps,
        memory::limit_is_kept,
        launcher::killed_launcher_is_replaced,
        launcher::launcher_ends_with_its_agent,
        launcher::shims_get_one_run_after_the_other,
        launcher::late_stop_hits_nobody_else,
        launcher::idle_shims_can_be_told_to_end,
        output::both_streams_in_one_log,
        output::separate_files,
        output::appended_and_truncated,
        output::discarded,
        output::same_file_for_both,
        pause::whole_tree_is_paused_with_cgroups,
        pause::whole_tree_is_paused_without_cgroups,
        pause::paused_time_does_not_count,
        pause::paused_run_can_be_stopped,
        removed_directory::shim_ends_with_its_command,
        removed_directory::stop_reaches_it,
        removed_directory::time_limit_is_kept,
        removed_directory::signal_ends_it_without_an_agent,
        removed_directory::next_agent_knows_it_and_stops_it,
        restart::runs_survive_a_killed_agent,
        restart::end_without_an_agent_is_true,
        restart::agent_killed_at_any_moment,
        restart::launch_under_way_is_not_taken_for_dead,
        restart::order_that_reached_only_the_file_is_obeyed,
        restart::killed_shim_leaves_nothing_with_cgroups,
        restart::killed_shim_leaves_nothing_without_cgroups,
        restart::killed_shim_is_noticed_by_the_next_agent,
        restart::reboot_is_told_apart,
        restart::damaged_files_count_as_absent,
        restart::run_that_never_started_is_taken_away,
        restart::full_disk_delays_neither_ends_nor_stops,
        restart::second_agent_is_refused,
        silent_directory::stop_is_heard,
        silent_directory::stop_is_heard_while_output_is_opened,
        silent_directory::stop_is_heard_while_an_environment_is_looked_for,
        silent_directory::stop_is_heard_while_the_program_is_looked_for,
        silent_directory::answer_is_awaited,
        stop::stubborn_tree_is_gone_with_cgroups,
        stop::stubborn_tree_is_gone_without_cgroups,
        stop::only_the_leader_is_asked,
        stop::rest_of_the_tree_is_asked_after_its_leader,
        stop::what_an_ended_command_leaves_is_ended,
        stop::asked_again_with_less_grace,
        stop::end_before_the_stop_is_its_own,
        stop::preempted_finds_the_file,
        stop::stopped_before_it_started,
        trouble::full_disk_is_no_failure_of_a_task,
        trouble::disk_that_is_full_after_the_directory_was_made,
        trouble::no_descriptors_are_no_failure_of_a_task,
        trouble::an_older_server_hears_what_it_understands,
        trouble::reports_say_what_a_run_is_for,
        user::runs_as_the_user_and_nobody_else,
        user::shim_is_open_to_its_own_user,
        user::output_is_opened_as_the_user,
        user::directory_is_entered_as_the_user,
        user::log_belongs_to_the_user_and_the_record_does_not,
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

//! Label, hint and help of each field, looked up in `messages`.

use super::{Field, Group};
use danlu_messages::spec as msg;

/// Over a part of the help.
pub fn heading(group: Group) -> &'static str {
    match group {
        Group::Needs => msg::what_it_needs(),
        Group::Turn => msg::when_its_turn_comes(),
        Group::Description => msg::what_it_is_called(),
        Group::Manner => msg::how_it_runs(),
        Group::Output => msg::where_its_output_goes(),
    }
}

/// In forms, and in what is said about them.
pub fn label(field: Field) -> &'static str {
    match field {
        Field::Gpus => msg::gpus(),
        Field::Nodes => msg::machines_at_once(),
        Field::GpuIds => msg::gpu_numbers(),
        Field::Vram => msg::gpu_memory(),
        Field::Shared => msg::share_by_memory(),
        Field::IdleUtil => msg::idle_at_least(),
        Field::Exclusive => msg::whole_gpus_only(),
        Field::Cpus => msg::cpu_cores(),
        Field::Mem => msg::memory(),
        Field::Resource => msg::named_resources(),
        Field::Node => msg::machine(),
        Field::Prefer => msg::rather_on(),
        Field::Time => msg::time_limit(),
        Field::Priority => msg::priority(),
        Field::Urgent => msg::urgent(),
        Field::After => msg::after_tasks(),
        Field::Retries => msg::retries(),
        Field::Begin => msg::not_before(),
        Field::Preemptible => msg::may_be_preempted(),
        Field::Name => msg::name(),
        Field::About => msg::description(),
        Field::Label => msg::labels(),
        Field::Project => msg::project(),
        Field::Dir => msg::directory(),
        Field::Env => msg::environment_variables(),
        Field::Conda => msg::conda_environment(),
        Field::Venv => "Python venv",
        Field::Shell => msg::run_by_a_shell(),
        Field::GpuArg => msg::gpu_argument(),
        Field::GpuEnv => msg::gpus_in_cuda_visible_devices(),
        Field::Output => msg::output_file(),
        Field::Stdout => msg::standard_output(),
        Field::Stderr => msg::standard_error(),
        Field::Truncate => msg::empty_these_two_files_at_every_start(),
        Field::Command => msg::command(),
        Field::Hold => msg::hold_queue_it_only_when_i_release_it(),
        Field::Array => msg::array(),
        Field::Grid => msg::sweep(),
        Field::Environment => msg::captured_environment(),
        Field::Umask => msg::file_mode_creation_mask(),
        Field::DryRun => msg::dry_run(),
    }
}

/// What to type in a form, in one sentence; empty where the label says it all.
pub fn hint(field: Field) -> &'static str {
    match field {
        Field::Command => msg::a_shell_line_run_by_your_bash_or_zsh_gpu_list(),
        Field::Dir => msg::absolute_path_on_the_machine(),
        Field::Gpus => msg::n_2_or_a100_2_for_a_model_empty_1_where_there(),
        Field::Vram => msg::n_20g_each_gpu_must_have_it_of_shared_ones_have(),
        Field::IdleUtil => msg::only_on_shared_gpus(),
        Field::GpuIds => msg::n_0_2_or_0_3_these_and_no_others(),
        Field::Node => msg::a_name_or_label_value(),
        Field::Nodes => msg::n_2_it_starts_on_two_machines_together_gpus(),
        Field::Prefer => msg::where_its_data_is_a_name_or_label_value(),
        Field::Mem => msg::n_64g(),
        Field::Resource => msg::licence_1_as_the_machine_names_them(),
        Field::Time => msg::n_2h_90m_1_12_00_00_with_a_limit_it_may_start(),
        Field::Begin => msg::for_night_runs(),
        Field::Priority => msg::smaller_is_earlier_among_your_tasks_5_is(),
        Field::Retries => msg::n_3_or_3_cuda_oom_nccl_for_some_failures_only(),
        Field::After => msg::n_12_afterany_14_afternotok_15(),
        Field::Array => msg::n_0_99_or_0_99_4_for_4_at_a_time(),
        Field::Grid => msg::one_name_per_line_lr_1e_3_1e_4_or_seed_0_4_lr(),
        Field::Env | Field::Label => msg::one_name_value_per_line(),
        Field::Conda => msg::its_name_or_path(),
        Field::Venv => msg::its_path(),
        Field::Output => msg::empty_kept_by_danlu_a_directory_gets_one_file(),
        Field::Stdout => msg::a_file_of_its_own_appended_to_dev_null(),
        Field::Stderr => msg::empty_with_standard_output(),
        Field::GpuArg => msg::appended_with_the_gpu_numbers_gpus(),
        Field::GpuEnv => msg::index_the_default_or_uuid(),
        Field::Shared
        | Field::Exclusive
        | Field::Cpus
        | Field::Urgent
        | Field::Preemptible
        | Field::Name
        | Field::About
        | Field::Project
        | Field::Shell
        | Field::Truncate
        | Field::Hold
        | Field::Environment
        | Field::Umask
        | Field::DryRun => "",
    }
}

/// Beside the option in the help of the command line; empty for what has none.
pub fn help(field: Field) -> &'static str {
    match field {
        Field::Gpus => msg::gpus_2_or_a100_2_0_for_a_cpu_task_default_1(),
        Field::Nodes => msg::on_n_machines_at_once_all_or_none_gpus_cpus(),
        Field::GpuIds => msg::these_gpus_by_their_numbers_0_2_danlu_gpus(),
        Field::Vram => msg::memory_that_each_gpu_must_have_or_with_shared(),
        Field::Shared => msg::share_its_gpus_with_other_such_tasks_as_far(),
        Field::IdleUtil => msg::with_shared_only_on_gpus_at_least_percent(),
        Field::Exclusive => msg::its_gpus_for_itself_also_where_tasks_share(),
        Field::Cpus => msg::cpu_slots_default_0_for_a_gpu_task_1_for_a(),
        Field::Mem => msg::host_memory_64g(),
        Field::Resource => msg::custom_countable_resource_e_g_licence_2_can(),
        Field::Node => msg::the_machine_to_run_on_its_name_or_a_label_key(),
        Field::Prefer => msg::preferred_machine_or_label_key_value_e_g_near(),
        Field::Time => msg::time_limit_90m_2h_1_02_00_00_a_bare_number_is(),
        Field::Priority => msg::smaller_is_earlier_among_my_tasks_default_5(),
        Field::Urgent => msg::before_everything_that_is_not_urgent(),
        Field::After => msg::after_other_tasks_afterok_12_13_or_afterany(),
        Field::Retries => msg::run_again_up_to_n_times_when_it_fails_2_cuda(),
        Field::Begin => msg::not_before_this_time_22_00_2026_11_20_08_00(),
        Field::Preemptible => msg::may_be_stopped_and_queued_again_for_a_more(),
        Field::Name => msg::its_name(),
        Field::About => msg::a_sentence_about_it(),
        Field::Label => msg::a_label_to_find_it_by_can_be_repeated(),
        Field::Project => msg::the_project_it_belongs_to(),
        Field::Dir => msg::working_directory_default_the_current(),
        Field::Env => msg::set_a_variable_on_top_of_your_environment_can(),
        Field::Conda => msg::run_in_this_conda_environment_its_name_or(),
        Field::Venv => msg::run_in_this_virtual_environment_venv_uv(),
        Field::Shell => msg::the_command_is_a_shell_line_make_run_tee_log(),
        Field::GpuArg => msg::append_arg_and_the_gpu_numbers_to_the_command(),
        Field::GpuEnv => msg::how_cuda_visible_devices_names_gpus_index_the(),
        Field::Output => msg::both_streams_a_directory_gets_id_log_default(),
        Field::Stdout => msg::standard_output_appended_to_this_file_dev(),
        Field::Stderr => msg::standard_error_default_with_standard_output(),
        Field::Truncate => msg::empty_the_files_of_stdout_and_stderr_at_every(),
        Field::Hold => msg::keep_it_back_until_danlu_release(),
        Field::Array => msg::one_task_for_each_index_danlu_array_index_0(),
        Field::Grid => msg::one_task_for_each_combination_grid_lr_1e_3_1e(),
        Field::Command | Field::Environment | Field::Umask | Field::DryRun => "",
    }
}

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
        Field::Notify => msg::notify(),
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
        Field::Truncate => msg::label_truncate(),
        Field::Command => msg::command(),
        Field::Hold => msg::label_hold(),
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
        Field::Command => msg::form_command(),
        Field::Dir => msg::absolute_path_on_the_machine(),
        Field::Gpus => msg::form_gpus(),
        Field::Vram => msg::form_vram(),
        Field::IdleUtil => msg::only_on_shared_gpus(),
        Field::GpuIds => msg::form_gpu_ids(),
        Field::Node => msg::form_node(),
        Field::Nodes => msg::form_nodes(),
        Field::Prefer => msg::form_prefer(),
        Field::Mem => msg::form_memory(),
        Field::Resource => msg::licence_1_as_the_machine_names_them(),
        Field::Time => msg::form_time_limit(),
        Field::Begin => msg::for_night_runs(),
        Field::Priority => msg::form_priority(),
        Field::Retries => msg::form_retries(),
        Field::After => msg::form_after(),
        Field::Array => msg::form_array(),
        Field::Grid => msg::form_grid(),
        Field::Notify => msg::form_notify(),
        Field::Env | Field::Label => msg::one_name_value_per_line(),
        Field::Conda => msg::form_conda(),
        Field::Venv => msg::form_venv(),
        Field::Output => msg::form_output(),
        Field::Stdout => msg::form_stdout(),
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
        Field::Gpus => msg::help_gpus(),
        Field::Nodes => msg::help_nodes(),
        Field::GpuIds => msg::help_gpu_ids(),
        Field::Vram => msg::help_vram(),
        Field::Shared => msg::help_shared(),
        Field::IdleUtil => msg::help_idle(),
        Field::Exclusive => msg::help_exclusive(),
        Field::Cpus => msg::help_cpus(),
        Field::Mem => msg::host_memory_64g(),
        Field::Resource => msg::help_resource(),
        Field::Node => msg::help_node(),
        Field::Prefer => msg::help_prefer(),
        Field::Time => msg::help_time_limit(),
        Field::Priority => msg::help_priority(),
        Field::Urgent => msg::help_urgent(),
        Field::After => msg::help_after(),
        Field::Retries => msg::help_retries(),
        Field::Begin => msg::help_begin(),
        Field::Preemptible => msg::help_preemptible(),
        Field::Name => msg::help_name(),
        Field::About => msg::help_description(),
        Field::Label => msg::help_label(),
        Field::Project => msg::help_project(),
        Field::Dir => msg::help_directory(),
        Field::Env => msg::help_variable(),
        Field::Conda => msg::help_conda(),
        Field::Venv => msg::help_venv(),
        Field::Shell => msg::help_shell(),
        Field::GpuArg => msg::help_gpu_argument(),
        Field::GpuEnv => msg::help_gpu_naming(),
        Field::Output => msg::help_output(),
        Field::Stdout => msg::help_stdout(),
        Field::Stderr => msg::help_stderr(),
        Field::Truncate => msg::help_truncate(),
        Field::Hold => msg::keep_it_back_until_danlu_release(),
        Field::Array => msg::help_array(),
        Field::Grid => msg::help_grid(),
        Field::Notify => msg::help_notify(),
        Field::Command | Field::Environment | Field::Umask | Field::DryRun => "",
    }
}

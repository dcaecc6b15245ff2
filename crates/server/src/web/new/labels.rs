//! Names of the fields of the form, for its labels and for what is said about them.

use danlu_messages::web::new as msg;

pub(super) fn label(field: &str) -> &'static str {
    match field {
        "name" => msg::name(),
        "description" => msg::description(),
        "project" => msg::project(),
        "labels" => msg::labels(),
        "command" => msg::command(),
        "no_shell" => msg::run_without_a_shell(),
        "script" => msg::script(),
        "directory" => msg::directory(),
        "variables" => msg::environment_variables(),
        "conda" => msg::conda_environment(),
        "venv" => "Python venv",
        "gpus" => msg::gpus(),
        "sharing" => msg::use_of_the_gpus(),
        "vram" => msg::gpu_memory(),
        "idle_util" => msg::idle_at_least(),
        "gpu_ids" => msg::gpu_numbers(),
        "node" => msg::machine(),
        "nodes" => msg::machines_at_once(),
        "prefer" => msg::rather_on(),
        "cpus" => msg::cpu_cores(),
        "mem" => msg::memory(),
        "resources" => msg::named_resources(),
        "time" => msg::time_limit(),
        "begin" => msg::not_before(),
        "priority" => msg::priority(),
        "urgent" => msg::urgent(),
        "preemptible" => msg::may_be_preempted(),
        "hold" => msg::hold_queue_it_only_when_i_release_it(),
        "retries" => msg::retries(),
        "after" => msg::after_tasks(),
        "array" => msg::array(),
        "grid" => msg::sweep(),
        "output" => msg::output_file(),
        "gpu_arg" => msg::gpu_argument(),
        _ => msg::field(),
    }
}

/// What to type, in one sentence; empty where the label says it all.
pub(super) fn help(field: &str) -> &'static str {
    match field {
        "command" => msg::a_shell_line_run_by_your_bash_or_zsh_gpu_list(),
        "script" => msg::sbatch_and_danlu_lines_fill_the_empty_fields(),
        "directory" => msg::absolute_path_on_the_machine(),
        "gpus" => msg::n_2_or_a100_2_for_a_model_empty_1_where_there(),
        "vram" => msg::n_20g_each_gpu_must_have_it_of_shared_ones_have(),
        "idle_util" => msg::only_on_shared_gpus(),
        "gpu_ids" => msg::n_0_2_or_0_3_these_and_no_others(),
        "node" => msg::a_name_or_label_value(),
        "nodes" => msg::n_2_it_starts_on_two_machines_together_gpus(),
        "prefer" => msg::where_its_data_is_a_name_or_label_value(),
        "mem" => msg::n_64g(),
        "resources" => msg::licence_1_as_the_machine_names_them(),
        "time" => msg::n_2h_90m_1_12_00_00_with_a_limit_it_may_start(),
        "begin" => msg::for_night_runs(),
        "priority" => msg::smaller_is_earlier_among_your_tasks_5_is(),
        "retries" => msg::n_3_or_3_cuda_oom_nccl_for_some_failures_only(),
        "after" => msg::n_12_afterany_14_afternotok_15(),
        "array" => msg::n_0_99_or_0_99_4_for_4_at_a_time(),
        "grid" => msg::one_name_per_line_lr_1e_3_1e_4_or_seed_0_4_lr(),
        "variables" | "labels" => msg::one_name_value_per_line(),
        "conda" => msg::its_name_or_path(),
        "venv" => msg::its_path(),
        "output" => msg::empty_kept_by_danlu_a_directory_gets_one_file(),
        "gpu_arg" => msg::appended_with_the_gpu_numbers_gpus(),
        _ => "",
    }
}

//! The options that describe a task, shared by `submit`, `run`, `clone`, `edit` and script files.

mod fields;
mod planned;
mod submitter;
mod words;

use clap::Args;
use danlu_core::task::Axis;
use danlu_messages::spec as msg;
use danlu_wire::api::Array;

pub use fields::{Fields, merge, of_task, submit_body};
pub use submitter::Submitter;
#[cfg(test)]
pub(crate) use submitter::at_home::AtHome;
pub use words::name_of;

use crate::given::{
    amount::parse_bytes,
    array::parse_array,
    begin::{Begin, parse_begin},
    dependency::{Wishes, parse_dependencies},
    gpus::{GpuIds, GpuWish, parse_gpu_ids, parse_gpus},
    grid::parse_axis,
    pair::{Pair, parse_pair},
    resource::{Named, parse_resource},
    retries::{Retries, parse_retries},
    stream::{Target, parse_target},
    time_limit::{TimeLimit, parse_time_limit},
};
use planned::Planned;

#[derive(Debug, Default, Args)]
pub struct TaskOptions {
    #[command(flatten)]
    needs: Needs,
    #[command(flatten)]
    turn: Turn,
    #[command(flatten)]
    description: Description,
    #[command(flatten)]
    manner: Manner,
    #[command(flatten)]
    output: OutputFiles,
    #[command(flatten)]
    planned: Planned,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = msg::what_it_needs())]
struct Needs {
    #[arg(short, long, value_name = "N|MODEL:N", value_parser = parse_gpus, help = msg::gpus_2_or_a100_2_0_for_a_cpu_task_1_unless())]
    gpus: Option<GpuWish>,

    #[arg(short = 'N', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help = msg::on_n_machines_at_once_all_or_none_gpus_cpus())]
    nodes: Option<u32>,

    #[arg(long, value_name = "LIST", value_parser = parse_gpu_ids, help = msg::these_gpus_by_their_numbers_0_2_danlu_gpus())]
    gpu_ids: Option<GpuIds>,

    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help = msg::memory_that_each_gpu_must_have_or_with_shared())]
    vram: Option<u64>,

    #[arg(long, help = msg::share_its_gpus_with_other_such_tasks_as_far())]
    shared: bool,

    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), help = msg::with_shared_only_where_so_much_of_the_gpu_was())]
    idle_util: Option<u8>,

    #[arg(long, conflicts_with = "shared", help = msg::its_gpus_for_itself_also_where_tasks_share())]
    exclusive: bool,

    #[arg(short, long, value_name = "N", help = msg::cpu_slots_none_for_a_gpu_task_one_for_a_cpu())]
    cpus: Option<u32>,

    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help = msg::host_memory_64g())]
    mem: Option<u64>,

    #[arg(long, value_name = "NAME:N", value_parser = parse_resource, help = msg::named_things_that_a_machine_has_so_many_of())]
    resource: Vec<Named>,

    #[arg(short = 'w', long, value_name = "NAME", help = msg::the_machine_to_run_on_its_name_or_a_label_key())]
    node: Option<String>,

    #[arg(long, value_name = "NAME", help = msg::rather_there_as_its_data_is_near_a_machine_or())]
    prefer: Option<String>,

    #[arg(short, long, value_name = "TIME", value_parser = parse_time_limit, help = msg::time_limit_90m_2h_1_02_00_00_a_bare_number_is())]
    time: Option<TimeLimit>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = msg::when_its_turn_comes())]
struct Turn {
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, help = msg::smaller_is_earlier_among_my_tasks_5_unless())]
    priority: Option<i32>,

    #[arg(long, help = msg::before_everything_that_is_not_urgent())]
    urgent: bool,

    #[arg(short = 'd', long, value_name = "LIST", value_parser = parse_dependencies, help = msg::after_other_tasks_afterok_12_13_or_afterany())]
    after: Option<Wishes>,

    #[arg(long, value_name = "N[:CLASS,…]", value_parser = parse_retries, help = msg::run_again_up_to_n_times_when_it_fails_2_cuda())]
    retries: Option<Retries>,

    #[arg(long, value_name = "TIME", value_parser = parse_begin, help = msg::not_before_this_time_22_00_2026_11_20_08_00())]
    begin: Option<Begin>,

    #[arg(long, help = msg::may_be_stopped_and_queued_again_for_a_more())]
    preemptible: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = msg::what_it_is_called())]
struct Description {
    #[arg(short = 'J', long, value_name = "NAME", help = msg::its_name())]
    name: Option<String>,

    #[arg(long, value_name = "TEXT", help = msg::a_sentence_about_it())]
    description: Option<String>,

    #[arg(long, value_name = "K=V", value_parser = parse_pair, help = msg::a_label_to_find_it_by_can_be_repeated())]
    label: Vec<Pair>,

    #[arg(long, value_name = "NAME", help = msg::the_project_it_belongs_to())]
    project: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = msg::how_it_runs())]
struct Manner {
    #[arg(long, value_name = "PATH", help = msg::working_directory_where_you_are_unless_told())]
    dir: Option<String>,

    #[arg(long, value_name = "K=V", value_parser = parse_pair, help = msg::set_a_variable_on_top_of_your_environment_can())]
    env: Vec<Pair>,

    #[arg(long, value_name = "NAME", conflicts_with = "venv", help = msg::run_in_this_conda_environment_its_name_or())]
    conda: Option<String>,

    #[arg(long, value_name = "PATH", help = msg::run_in_this_virtual_environment_venv_uv())]
    venv: Option<String>,

    /// Empty where no program is named.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "", help = msg::the_command_is_a_shell_line_make_run_tee_log())]
    shell: Option<String>,

    #[arg(long, value_name = "ARG", allow_hyphen_values = true, help = msg::append_arg_and_the_gpu_numbers_to_the_command())]
    gpu_arg: Option<String>,

    #[arg(long, value_name = "FORM", value_parser = ["index", "uuid"], hide_possible_values = true, help = msg::how_cuda_visible_devices_names_gpus_index_the())]
    gpu_env: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = msg::where_its_output_goes())]
struct OutputFiles {
    #[arg(long, alias = "logpath", value_name = "PATH", help = msg::both_streams_a_directory_gets_id_log_danlu())]
    output: Option<String>,

    #[arg(long, value_name = "FILE", value_parser = parse_target, help = msg::standard_output_appended_to_this_file_dev())]
    stdout: Option<Target>,

    #[arg(long, value_name = "FILE", value_parser = parse_target, help = msg::standard_error_with_standard_output_unless())]
    stderr: Option<Target>,

    #[arg(long, help = msg::empty_the_files_of_stdout_and_stderr_at_every())]
    truncate: bool,
}

/// What can be said of a new task only.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = msg::when_its_turn_comes())]
pub struct NewTaskOptions {
    #[arg(long, help = msg::keep_it_back_until_danlu_release())]
    hold: bool,

    #[arg(short, long, value_name = "LIST", value_parser = parse_array, help = msg::one_task_for_each_index_danlu_array_index_0())]
    array: Option<Array>,

    #[arg(long, value_name = "K=V,…", value_parser = parse_axis, help = msg::one_task_for_each_combination_grid_lr_1e_3_1e())]
    grid: Vec<Axis>,
}

impl TaskOptions {
    /// A limit that was written without a unit, so that the person can be told how it was read.
    pub fn ambiguous_limit(&self) -> Option<u64> {
        match self.needs.time? {
            TimeLimit::Seconds { seconds, ambiguous: true } => Some(seconds),
            _ => None,
        }
    }

    pub fn is_shell_line(&self) -> bool {
        self.manner.shell.is_some()
    }
}

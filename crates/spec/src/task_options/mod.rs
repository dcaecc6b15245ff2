//! The options that describe a task, shared by `submit`, `run`, `clone`, `edit` and script files.

mod fields;
mod planned;
mod submitter;
mod words;

use clap::Args;
use danlu_core::task::Axis;
use danlu_wire::api::Array;

pub use fields::{Fields, merge, of_task, submit_body};
pub use submitter::Submitter;
#[cfg(test)]
pub(crate) use submitter::at_home::AtHome;
pub use words::name_of;

use crate::{
    given::{
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
    },
    language::text,
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
#[command(next_help_heading = text("What it needs", "所需资源"))]
struct Needs {
    #[arg(short, long, value_name = "N|MODEL:N", value_parser = parse_gpus, help = text(
        "GPUs: 2, or A100:2; 0 for a CPU task (1 unless told); with --nodes on each machine",
        "GPU：2，或 A100:2；CPU 任务写 0（有 GPU 的机器默认 1）；有 --nodes 时为每台的数量",
    ))]
    gpus: Option<GpuWish>,

    #[arg(short = 'N', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help = text(
        "On N machines at once, all or none; --gpus, --cpus and --mem are of each",
        "同时在 N 台机器上运行，缺一不可；--gpus、--cpus、--mem 均为每台的数量",
    ))]
    nodes: Option<u32>,

    #[arg(long, value_name = "LIST", value_parser = parse_gpu_ids, help = text(
        "These GPUs by their numbers: 0,2 (danlu gpus shows them); the rest of --gpus are any",
        "指定 GPU 编号：0,2（见 danlu gpus）；--gpus 的其余部分任选",
    ))]
    gpu_ids: Option<GpuIds>,

    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help = text(
        "Memory that each GPU must have, or with --shared have left: 40G",
        "每块 GPU 至少要有的显存（--shared 时为剩余显存）：40G",
    ))]
    vram: Option<u64>,

    #[arg(long, help = text(
        "Share its GPUs with other such tasks, as far as the memory goes (--vram)",
        "与其他共享任务共用 GPU，以显存为限（--vram）",
    ))]
    shared: bool,

    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), help = text(
        "With --shared: only where so much of the GPU was idle of late",
        "配合 --shared：GPU 近期空闲率至少如此",
    ))]
    idle_util: Option<u8>,

    #[arg(long, conflicts_with = "shared", help = text(
        "Its GPUs for itself, also where tasks share one by count (danlu gpu slots)",
        "独占 GPU，即使该 GPU 有多个名额（danlu gpu slots）",
    ))]
    exclusive: bool,

    #[arg(short, long, value_name = "N", help = text(
        "CPU slots (none for a GPU task, one for a CPU task, unless told)",
        "CPU 数（默认 GPU 任务不占，CPU 任务占一个）",
    ))]
    cpus: Option<u32>,

    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help = text(
        "Host memory: 64G",
        "内存：64G",
    ))]
    mem: Option<u64>,

    #[arg(long, value_name = "NAME:N", value_parser = parse_resource, help = text(
        "Named things that a machine has so many of, such as licences; can be repeated",
        "机器上可计数的具名资源，如许可证；可重复",
    ))]
    resource: Vec<Named>,

    #[arg(short = 'w', long, value_name = "NAME", help = text(
        "The machine to run on: its name, or a label KEY=VALUE",
        "运行的机器：名称，或标签 键=值",
    ))]
    node: Option<String>,

    #[arg(long, value_name = "NAME", help = text(
        "Rather there, as its data is near: a machine or a label KEY=VALUE; elsewhere if there is no room",
        "优先在此运行（如数据就近）：机器名或标签 键=值；无空位则去别处",
    ))]
    prefer: Option<String>,

    #[arg(short, long, value_name = "TIME", value_parser = parse_time_limit, help = text(
        "Time limit: 90m, 2h, 1-02:00:00; a bare number is minutes; `none`",
        "时限：90m、2h、1-02:00:00；不带单位为分钟；`none` 为不限",
    ))]
    time: Option<TimeLimit>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = text("When its turn comes", "先后次序"))]
struct Turn {
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, help = text(
        "Smaller is earlier among my tasks (5 unless told)",
        "我的任务中数字小的先运行（默认 5）",
    ))]
    priority: Option<i32>,

    #[arg(long, help = text("Before everything that is not urgent", "先于所有不紧急的任务"))]
    urgent: bool,

    #[arg(short = 'd', long, value_name = "LIST", value_parser = parse_dependencies, help = text(
        "After other tasks: afterok:12,13 or afterany:14 or afternotok:15",
        "在其他任务之后：afterok:12,13、afterany:14 或 afternotok:15",
    ))]
    after: Option<Wishes>,

    #[arg(long, value_name = "N[:CLASS,…]", value_parser = parse_retries, help = text(
        "Run again up to N times when it fails; 2:cuda_oom,nccl after such failures only",
        "失败后最多重试 N 次；2:cuda_oom,nccl 表示仅在这类失败后重试",
    ))]
    retries: Option<Retries>,

    #[arg(long, value_name = "TIME", value_parser = parse_begin, help = text(
        "Not before this time: 22:00, 2026-11-20 08:00, now+2h, tomorrow",
        "不早于该时间开始：22:00、2026-11-20 08:00、now+2h、tomorrow",
    ))]
    begin: Option<Begin>,

    #[arg(long, help = text(
        "May be stopped and queued again for a more urgent task",
        "可以为更紧急的任务让路并重新排队",
    ))]
    preemptible: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = text("What it is called", "名称与说明"))]
struct Description {
    #[arg(short = 'J', long, value_name = "NAME", help = text("Its name", "任务名称"))]
    name: Option<String>,

    #[arg(long, value_name = "TEXT", help = text("A sentence about it", "一句说明"))]
    description: Option<String>,

    #[arg(long, value_name = "K=V", value_parser = parse_pair, help = text(
        "A label to find it by; can be repeated",
        "便于查找的标签，可重复",
    ))]
    label: Vec<Pair>,

    #[arg(long, value_name = "NAME", help = text("The project it belongs to", "所属项目"))]
    project: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = text("How it runs", "运行方式"))]
struct Manner {
    #[arg(long, value_name = "PATH", help = text(
        "Working directory (where you are, unless told)",
        "工作目录（默认当前目录）",
    ))]
    dir: Option<String>,

    #[arg(long, value_name = "K=V", value_parser = parse_pair, help = text(
        "Set a variable on top of your environment; can be repeated",
        "在当前环境变量之上另设一个，可重复",
    ))]
    env: Vec<Pair>,

    #[arg(long, value_name = "NAME", conflicts_with = "venv", help = text(
        "Run in this conda environment: its name, or where it is",
        "在该 conda 环境中运行：名称或路径",
    ))]
    conda: Option<String>,

    #[arg(long, value_name = "PATH", help = text(
        "Run in this virtual environment (venv, uv)",
        "在该虚拟环境（venv、uv）中运行",
    ))]
    venv: Option<String>,

    /// Empty where no program is named.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "", help = text(
        "The command is a shell line: 'make && ./run | tee log'. Runs in your login shell if that is bash or zsh, else in bash, else in sh; --shell=PATH selects another",
        "命令是一行 shell：'make && ./run | tee log'。登录 shell 为 bash 或 zsh 时用它执行，否则用 bash，没有 bash 则用 sh；可用 --shell=路径 指定",
    ))]
    shell: Option<String>,

    #[arg(long, value_name = "ARG", allow_hyphen_values = true, help = text(
        "Append ARG and the GPU numbers to the command: --gpu-arg=--gpus=",
        "在命令后附加该参数和 GPU 编号：--gpu-arg=--gpus=",
    ))]
    gpu_arg: Option<String>,

    #[arg(long, value_name = "FORM", value_parser = ["index", "uuid"], hide_possible_values = true, help = text(
        "How CUDA_VISIBLE_DEVICES names GPUs: index (the default) or uuid",
        "CUDA_VISIBLE_DEVICES 的写法：index（默认）或 uuid",
    ))]
    gpu_env: Option<String>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = text("Where its output goes", "输出位置"))]
struct OutputFiles {
    #[arg(long, alias = "logpath", value_name = "PATH", help = text(
        "Both streams; a directory gets ID.log (Danlu keeps them unless told)",
        "两路输出；若为目录则写入 ID.log（默认由丹炉保存）",
    ))]
    output: Option<String>,

    #[arg(long, value_name = "FILE", value_parser = parse_target, help = text(
        "Standard output, appended to this file; /dev/null discards it",
        "标准输出，追加到该文件；/dev/null 表示丢弃",
    ))]
    stdout: Option<Target>,

    #[arg(long, value_name = "FILE", value_parser = parse_target, help = text(
        "Standard error; with standard output unless told",
        "标准错误；默认与标准输出合并",
    ))]
    stderr: Option<Target>,

    #[arg(long, help = text(
        "Empty the files of --stdout and --stderr at every start",
        "每次开始时清空 --stdout 和 --stderr 的文件，而不是追加",
    ))]
    truncate: bool,
}

/// What can be said of a new task only.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = text("When its turn comes", "先后次序"))]
pub struct NewTaskOptions {
    #[arg(long, help = text(
        "Keep it back until danlu release",
        "先扣住，直到 danlu release",
    ))]
    hold: bool,

    #[arg(short, long, value_name = "LIST", value_parser = parse_array, help = text(
        "One task for each index (DANLU_ARRAY_INDEX): 0-99, 0-99%4 (4 at once), 1,3,5-9:2",
        "每个下标（DANLU_ARRAY_INDEX）一个任务：0-99、0-99%4（同时 4 个）、1,3,5-9:2",
    ))]
    array: Option<Array>,

    #[arg(long, value_name = "K=V,…", value_parser = parse_axis, help = text(
        "One task for each combination: --grid lr=1e-3,1e-4 --grid seed=0..4; {lr} stands in the command; --array %4 for 4 at once",
        "每种组合一个任务：--grid lr=1e-3,1e-4 --grid seed=0..4；命令中写 {lr}；--array %4 表示同时 4 个",
    ))]
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

//! What the fields are called and how they are explained, in both languages.

use super::{Field, Group};
use crate::language::Language;

/// Over a part of the help.
pub fn heading(group: Group, language: Language) -> &'static str {
    let (english, chinese) = match group {
        Group::Needs => ("What it needs", "所需资源"),
        Group::Turn => ("When its turn comes", "先后次序"),
        Group::Description => ("What it is called", "名称与说明"),
        Group::Manner => ("How it runs", "运行方式"),
        Group::Output => ("Where its output goes", "输出位置"),
    };
    language.say(english, chinese)
}

/// In forms, and in what is said about them.
pub fn label(field: Field, language: Language) -> &'static str {
    let (english, chinese) = match field {
        Field::Gpus => ("GPUs", "GPU"),
        Field::Nodes => ("Machines at once", "同时使用的机器数"),
        Field::GpuIds => ("GPU numbers", "GPU 编号"),
        Field::Vram => ("GPU memory", "显存"),
        Field::Shared => ("Share by memory", "按显存共享"),
        Field::IdleUtil => ("Idle at least (%)", "至少空闲（%）"),
        Field::Exclusive => ("Whole GPUs only", "必须整卡"),
        Field::Cpus => ("CPU cores", "CPU 核数"),
        Field::Mem => ("Memory", "内存"),
        Field::Resource => ("Named resources", "命名资源"),
        Field::Node => ("Machine", "机器"),
        Field::Prefer => ("Rather on", "优先放在"),
        Field::Time => ("Time limit", "时间上限"),
        Field::Priority => ("Priority", "优先级"),
        Field::Urgent => ("Urgent", "加急"),
        Field::After => ("After tasks", "依赖任务"),
        Field::Retries => ("Retries", "重试次数"),
        Field::Begin => ("Not before", "最早开始时间"),
        Field::Preemptible => ("May be preempted", "可被抢占"),
        Field::Name => ("Name", "名称"),
        Field::About => ("Description", "描述"),
        Field::Label => ("Labels", "标签"),
        Field::Project => ("Project", "项目"),
        Field::Dir => ("Directory", "工作目录"),
        Field::Env => ("Environment variables", "环境变量"),
        Field::Conda => ("Conda environment", "Conda 环境"),
        Field::Venv => ("Python venv", "Python venv"),
        Field::Shell => ("Run by a shell", "由 shell 执行"),
        Field::GpuArg => ("GPU argument", "GPU 参数"),
        Field::GpuEnv => ("GPUs in CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES 的写法"),
        Field::Output => ("Output file", "输出文件"),
        Field::Stdout => ("Standard output", "标准输出"),
        Field::Stderr => ("Standard error", "标准错误"),
        Field::Truncate => ("Empty these two files at every start", "每次开始时清空这两个文件"),
        Field::Command => ("Command", "命令"),
        Field::Hold => ("Hold: queue it only when I release it", "暂不排队，等我放行"),
        Field::Array => ("Array", "数组"),
        Field::Grid => ("Sweep", "参数扫描"),
        Field::Environment => ("Captured environment", "提交时的环境变量"),
        Field::Umask => ("File mode creation mask", "文件权限掩码"),
        Field::DryRun => ("Dry run", "试运行"),
    };
    language.say(english, chinese)
}

/// What to type in a form, in one sentence; empty where the label says it all.
pub fn hint(field: Field, language: Language) -> &'static str {
    let (english, chinese) = match field {
        Field::Command => (
            "A shell line, run by your bash or zsh. {gpu_list}, {gpu_count} and {task_id} are replaced.",
            "一行 shell 命令，由您的 bash 或 zsh 执行。{gpu_list}、{gpu_count}、{task_id} 会被替换。",
        ),
        Field::Dir => ("Absolute path on the machine.", "机器上的绝对路径。"),
        Field::Gpus => (
            "2, or A100:2 for a model. Empty: 1 where there are GPUs.",
            "2，或 A100:2 指定型号。留空：有 GPU 时为 1。",
        ),
        Field::Vram => (
            "20G. Each GPU must have it; of shared ones, have it left.",
            "20G。每块 GPU 至少有这么多；共享时指剩余量。",
        ),
        Field::IdleUtil => ("Only on shared GPUs.", "仅用于共享 GPU。"),
        Field::GpuIds => ("0,2 or 0-3: these and no others.", "0,2 或 0-3：仅用这些。"),
        Field::Node => ("A name, or label=value.", "名称，或 标签=值。"),
        Field::Nodes => (
            "2: it starts on two machines together; GPUs, cores and memory are of each.",
            "2：在两台机器上同时开始；GPU、核数、内存均为每台的数量。",
        ),
        Field::Prefer => (
            "Where its data is: a name, or label=value. Elsewhere if there is no room.",
            "数据所在：名称，或 标签=值。没有空位时放在别处。",
        ),
        Field::Mem => ("64G.", "64G。"),
        Field::Resource => ("licence:1, as the machine names them.", "licence:1，按机器上的名称。"),
        Field::Time => (
            "2h, 90m, 1-12:00:00. With a limit it may start sooner.",
            "2h、90m、1-12:00:00。设上限可更早开始。",
        ),
        Field::Begin => ("For night runs.", "用于夜间运行。"),
        Field::Priority => (
            "Smaller is earlier among your tasks; 5 is usual.",
            "在您的任务中数字越小越早；默认 5。",
        ),
        Field::Retries => (
            "3, or 3:cuda_oom,nccl for some failures only.",
            "3，或 3:cuda_oom,nccl 仅限某些失败。",
        ),
        Field::After => ("12, afterany:14, afternotok:15.", "12、afterany:14、afternotok:15。"),
        Field::Array => ("0-99, or 0-99%4 for 4 at a time.", "0-99，或 0-99%4 表示同时 4 个。"),
        Field::Grid => (
            "One name per line: lr=1e-3,1e-4 or seed=0..4. {lr} stands for it in the command.",
            "每行一个：lr=1e-3,1e-4 或 seed=0..4。命令中用 {lr} 引用。",
        ),
        Field::Env | Field::Label => ("One NAME=value per line.", "每行一个 名称=值。"),
        Field::Conda => ("Its name or path.", "名称或路径。"),
        Field::Venv => ("Its path.", "路径。"),
        Field::Output => (
            "Empty: kept by Danlu. A directory gets one file per task.",
            "留空：由 Danlu 保存。目录则每个任务一个文件。",
        ),
        Field::Stdout => (
            "A file of its own, appended to; /dev/null discards it.",
            "单独写入的文件（追加）；/dev/null 表示丢弃。",
        ),
        Field::Stderr => ("Empty: with standard output.", "留空：与标准输出合并。"),
        Field::GpuArg => {
            ("Appended with the GPU numbers: --gpus=", "附加在命令后并带 GPU 编号：--gpus=")
        }
        Field::GpuEnv => ("index (the default) or uuid.", "index（默认）或 uuid。"),
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
        | Field::DryRun => ("", ""),
    };
    language.say(english, chinese)
}

/// Beside the option in the help of the command line; empty for what has none.
pub fn help(field: Field, language: Language) -> &'static str {
    let (english, chinese) = match field {
        Field::Gpus => (
            "GPUs: 2, or A100:2; 0 for a CPU task (default: 1 where there are GPUs); with --nodes on each machine",
            "GPU：2，或 A100:2；CPU 任务写 0（有 GPU 的机器默认 1）；有 --nodes 时为每台的数量",
        ),
        Field::Nodes => (
            "On N machines at once, all or none; --gpus, --cpus and --mem are of each",
            "同时在 N 台机器上运行，缺一不可；--gpus、--cpus、--mem 均为每台的数量",
        ),
        Field::GpuIds => (
            "These GPUs by their numbers: 0,2 (danlu gpus shows them); the rest of --gpus are any",
            "指定 GPU 编号：0,2（见 danlu gpus）；--gpus 的其余部分任选",
        ),
        Field::Vram => (
            "Memory that each GPU must have, or with --shared have left: 40G",
            "每块 GPU 至少要有的显存（--shared 时为剩余显存）：40G",
        ),
        Field::Shared => (
            "Share its GPUs with other such tasks, as far as the memory goes (--vram)",
            "与其他共享任务共用 GPU，以显存为限（--vram）",
        ),
        Field::IdleUtil => (
            "With --shared: only on GPUs at least PERCENT idle recently",
            "配合 --shared：GPU 近期空闲率至少如此",
        ),
        Field::Exclusive => (
            "Its GPUs for itself, also where tasks share one by count (danlu gpu slots)",
            "独占 GPU，即使该 GPU 有多个名额（danlu gpu slots）",
        ),
        Field::Cpus => (
            "CPU slots (default: 0 for a GPU task, 1 for a CPU task)",
            "CPU 数（默认 GPU 任务不占，CPU 任务占一个）",
        ),
        Field::Mem => ("Host memory: 64G", "内存：64G"),
        Field::Resource => (
            "Custom countable resource, e.g. licence:2; can be repeated",
            "机器上可计数的具名资源，如 licence:2；可重复",
        ),
        Field::Node => (
            "The machine to run on: its name, or a label KEY=VALUE",
            "运行的机器：名称，或标签 键=值",
        ),
        Field::Prefer => (
            "Preferred machine or label KEY=VALUE, e.g. near its data; falls back when full",
            "优先在此运行（如数据就近）：机器名或标签 键=值；无空位则去别处",
        ),
        Field::Time => (
            "Time limit: 90m, 2h, 1-02:00:00; a bare number is minutes; `none`",
            "时限：90m、2h、1-02:00:00；不带单位为分钟；`none` 为不限",
        ),
        Field::Priority => {
            ("Smaller is earlier among my tasks (default: 5)", "我的任务中数字小的先运行（默认 5）")
        }
        Field::Urgent => ("Before everything that is not urgent", "先于所有不紧急的任务"),
        Field::After => (
            "After other tasks: afterok:12,13 or afterany:14 or afternotok:15",
            "在其他任务之后：afterok:12,13、afterany:14 或 afternotok:15",
        ),
        Field::Retries => (
            "Run again up to N times when it fails; 2:cuda_oom,nccl after such failures only",
            "失败后最多重试 N 次；2:cuda_oom,nccl 表示仅在这类失败后重试",
        ),
        Field::Begin => (
            "Not before this time: 22:00, 2026-11-20 08:00, now+2h, tomorrow",
            "不早于该时间开始：22:00、2026-11-20 08:00、now+2h、tomorrow",
        ),
        Field::Preemptible => (
            "May be stopped and queued again for a more urgent task",
            "可以为更紧急的任务让路并重新排队",
        ),
        Field::Name => ("Its name", "任务名称"),
        Field::About => ("A sentence about it", "一句说明"),
        Field::Label => ("A label to find it by; can be repeated", "便于查找的标签，可重复"),
        Field::Project => ("The project it belongs to", "所属项目"),
        Field::Dir => {
            ("Working directory (default: the current directory)", "工作目录（默认当前目录）")
        }
        Field::Env => (
            "Set a variable on top of your environment; can be repeated",
            "在当前环境变量之上另设一个，可重复",
        ),
        Field::Conda => (
            "Run in this conda environment: its name, or where it is",
            "在该 conda 环境中运行：名称或路径",
        ),
        Field::Venv => {
            ("Run in this virtual environment (venv, uv)", "在该虚拟环境（venv、uv）中运行")
        }
        Field::Shell => (
            "The command is a shell line: 'make && ./run | tee log'. Runs in your login shell if that is bash or zsh, else in bash, else in sh; --shell=PATH selects another",
            "命令是一行 shell：'make && ./run | tee log'。登录 shell 为 bash 或 zsh 时用它执行，否则用 bash，没有 bash 则用 sh；可用 --shell=路径 指定",
        ),
        Field::GpuArg => (
            "Append ARG and the GPU numbers to the command: --gpu-arg=--gpus=",
            "在命令后附加该参数和 GPU 编号：--gpu-arg=--gpus=",
        ),
        Field::GpuEnv => (
            "How CUDA_VISIBLE_DEVICES names GPUs: index (the default) or uuid",
            "CUDA_VISIBLE_DEVICES 的写法：index（默认）或 uuid",
        ),
        Field::Output => (
            "Both streams; a directory gets ID.log (default: kept by Danlu)",
            "两路输出；若为目录则写入 ID.log（默认由丹炉保存）",
        ),
        Field::Stdout => (
            "Standard output, appended to this file; /dev/null discards it",
            "标准输出，追加到该文件；/dev/null 表示丢弃",
        ),
        Field::Stderr => {
            ("Standard error (default: with standard output)", "标准错误；默认与标准输出合并")
        }
        Field::Truncate => (
            "Empty the files of --stdout and --stderr at every start",
            "每次开始时清空 --stdout 和 --stderr 的文件，而不是追加",
        ),
        Field::Hold => ("Keep it back until danlu release", "先扣住，直到 danlu release"),
        Field::Array => (
            "One task for each index (DANLU_ARRAY_INDEX): 0-99, 0-99%4 (4 at once), 1,3,5-9:2",
            "每个下标（DANLU_ARRAY_INDEX）一个任务：0-99、0-99%4（同时 4 个）、1,3,5-9:2",
        ),
        Field::Grid => (
            "One task for each combination: --grid lr=1e-3,1e-4 --grid seed=0..4; {lr} stands in the command; --array %4 for 4 at once",
            "每种组合一个任务：--grid lr=1e-3,1e-4 --grid seed=0..4；命令中写 {lr}；--array %4 表示同时 4 个",
        ),
        Field::Command | Field::Environment | Field::Umask | Field::DryRun => ("", ""),
    };
    language.say(english, chinese)
}

//! Names of the fields of the form, for its labels and for what is said about them.

use crate::web::language::Language;

pub(super) fn label(field: &str, language: Language) -> &'static str {
    let (english, chinese) = match field {
        "name" => ("Name", "名称"),
        "description" => ("Description", "描述"),
        "project" => ("Project", "项目"),
        "labels" => ("Labels", "标签"),
        "command" => ("Command", "命令"),
        "no_shell" => ("Run without a shell", "不经 shell 直接执行"),
        "script" => ("Script", "脚本"),
        "directory" => ("Directory", "工作目录"),
        "variables" => ("Environment variables", "环境变量"),
        "conda" => ("Conda environment", "Conda 环境"),
        "venv" => ("Python venv", "Python venv"),
        "gpus" => ("GPUs", "GPU"),
        "sharing" => ("Use of the GPUs", "GPU 使用方式"),
        "vram" => ("GPU memory", "显存"),
        "idle_util" => ("Idle at least (%)", "至少空闲（%）"),
        "gpu_ids" => ("GPU numbers", "GPU 编号"),
        "node" => ("Machine", "机器"),
        "nodes" => ("Machines at once", "同时使用的机器数"),
        "prefer" => ("Rather on", "优先放在"),
        "cpus" => ("CPU cores", "CPU 核数"),
        "mem" => ("Memory", "内存"),
        "resources" => ("Named resources", "命名资源"),
        "time" => ("Time limit", "时间上限"),
        "begin" => ("Not before", "最早开始时间"),
        "priority" => ("Priority", "优先级"),
        "urgent" => ("Urgent", "加急"),
        "preemptible" => ("May be preempted", "可被抢占"),
        "hold" => ("Hold: queue it only when I release it", "暂不排队，等我放行"),
        "retries" => ("Retries", "重试次数"),
        "after" => ("After tasks", "依赖任务"),
        "array" => ("Array", "数组"),
        "grid" => ("Sweep", "参数扫描"),
        "output" => ("Output file", "输出文件"),
        "gpu_arg" => ("GPU argument", "GPU 参数"),
        _ => ("Field", "字段"),
    };
    language.say(english, chinese)
}

/// What to type, in one sentence; empty where the label says it all.
pub(super) fn help(field: &str, language: Language) -> &'static str {
    let (english, chinese) = match field {
        "command" => (
            "A shell line, run by your bash or zsh. {gpu_list}, {gpu_count} and {task_id} are replaced.",
            "一行 shell 命令，由您的 bash 或 zsh 执行。{gpu_list}、{gpu_count}、{task_id} 会被替换。",
        ),
        "script" => (
            "#SBATCH and #DANLU lines fill the empty fields of this form.",
            "#SBATCH 与 #DANLU 行会填入表单中的空字段。",
        ),
        "directory" => ("Absolute path on the machine.", "机器上的绝对路径。"),
        "gpus" => (
            "2, or A100:2 for a model. Empty: 1 where there are GPUs.",
            "2，或 A100:2 指定型号。留空：有 GPU 时为 1。",
        ),
        "vram" => (
            "20G. Each GPU must have it; of shared ones, have it left.",
            "20G。每块 GPU 至少有这么多；共享时指剩余量。",
        ),
        "idle_util" => ("Only on shared GPUs.", "仅用于共享 GPU。"),
        "gpu_ids" => ("0,2 or 0-3: these and no others.", "0,2 或 0-3：仅用这些。"),
        "node" => ("A name, or label=value.", "名称，或 标签=值。"),
        "nodes" => (
            "2: it starts on two machines together; GPUs, cores and memory are of each.",
            "2：在两台机器上同时开始；GPU、核数、内存均为每台的数量。",
        ),
        "prefer" => (
            "Where its data is: a name, or label=value. Elsewhere if there is no room.",
            "数据所在：名称，或 标签=值。没有空位时放在别处。",
        ),
        "mem" => ("64G.", "64G。"),
        "resources" => ("licence:1, as the machine names them.", "licence:1，按机器上的名称。"),
        "time" => (
            "2h, 90m, 1-12:00:00. With a limit it may start sooner.",
            "2h、90m、1-12:00:00。设上限可更早开始。",
        ),
        "begin" => ("For night runs.", "用于夜间运行。"),
        "priority" => (
            "Smaller is earlier among your tasks; 5 is usual.",
            "在您的任务中数字越小越早；默认 5。",
        ),
        "retries" => (
            "3, or 3:cuda_oom,nccl for some failures only.",
            "3，或 3:cuda_oom,nccl 仅限某些失败。",
        ),
        "after" => ("12, afterany:14, afternotok:15.", "12、afterany:14、afternotok:15。"),
        "array" => ("0-99, or 0-99%4 for 4 at a time.", "0-99，或 0-99%4 表示同时 4 个。"),
        "grid" => (
            "One name per line: lr=1e-3,1e-4 or seed=0..4. {lr} stands for it in the command.",
            "每行一个：lr=1e-3,1e-4 或 seed=0..4。命令中用 {lr} 引用。",
        ),
        "variables" | "labels" => ("One NAME=value per line.", "每行一个 名称=值。"),
        "conda" => ("Its name or path.", "名称或路径。"),
        "venv" => ("Its path.", "路径。"),
        "output" => (
            "Empty: kept by Danlu. A directory gets one file per task.",
            "留空：由 Danlu 保存。目录则每个任务一个文件。",
        ),
        "gpu_arg" => {
            ("Appended with the GPU numbers: --gpus=", "附加在命令后并带 GPU 编号：--gpus=")
        }
        _ => ("", ""),
    };
    language.say(english, chinese)
}

//! Sentences of Slurm's dialect. The English ones are Slurm's own, where it has them: programs read them.

messages! {
    unrecognized_option(option) = "unrecognized option '{option}'", "无法识别的选项 '{option}'";
    option_requires_an_argument(option) =
        "option '{option}' requires an argument",
        "选项 '{option}' 需要一个参数";
    option_takes_no_value(option) =
        "option '{option}' doesn't allow an argument",
        "选项 '{option}' 不接受参数";
    ambiguous_option(option, names) =
        "option '{option}' is ambiguous; possibilities: {names}",
        "选项 '{option}' 有歧义，可能是：{names}";
    try_help(program) = "Try \"{program} --help\" for more information", "更多信息请运行 \"{program} --help\"";
    option_not_supported(option) =
        "{option} is not supported here and would change what the job does",
        "此处不支持 {option}，且它会改变作业的含义";
    option_has_no_effect(option) = "{option} has no effect here", "{option} 在此处不起作用";
    options_have_no_effect(options) = "no effect here: {options}", "在此处不起作用：{options}";
    see_the_table =
        "remove it; docs/slurm.md lists what is supported",
        "请去掉它；docs/slurm.md 列出了支持的选项";
    strict_is_set =
        "remove it, or unset DANLU_SLURM_STRICT",
        "请去掉它，或取消设置 DANLU_SLURM_STRICT";
    several_nodes_in_list(option) =
        "{option} names several nodes",
        "{option} 指定了多个节点";
    name_one_node =
        "name one node, or choose by a label: danlu submit --node KEY=VALUE",
        "请只写一个节点，或按标签选择：danlu submit --node 键=值";
    expected_gpus = "expected GPUs such as 2 or a100:2", "应为 GPU 数量，例如 2 或 a100:2";
    only_gpus_in_gres(resource) = "generic resource `{resource}` is not supported", "不支持通用资源 `{resource}`";
    expected_open_mode = "expected append or truncate", "应为 append 或 truncate";
    read_the_input_in_the_script =
        "read the file in the script: python train.py < FILE",
        "请在脚本中读取该文件：python train.py < 文件";
    alternatives_not_supported(option) =
        "{option} with alternatives (?) is not supported",
        "不支持 {option} 中的“任一”条件（?）";
    separate_by_commas = "separate the jobs by commas: all of them must have ended", "请用逗号分隔作业：全部结束后才会启动";
    expected_dependency =
        "expected afterok:12, afterany:12, afternotok:12 or singleton",
        "应为 afterok:12、afterany:12、afternotok:12 或 singleton";
    widths_in_names(pattern) =
        "a width in a file name pattern is not supported: {pattern}",
        "不支持文件名模式中的宽度：{pattern}";
    invalid_hostlist(list) = "Invalid hostlist: {list}", "无效的主机列表：{list}";
    unknown_format_letter(letter) = "Invalid job format specification: {letter}", "无效的格式字母：{letter}";
    unknown_format_name(name) = "Invalid field requested: \"{name}\"", "无效的字段：\"{name}\"";
    expected_job_state = "expected a job state such as PENDING or R", "应为作业状态，例如 PENDING 或 R";
    invalid_job_id(id) = "Invalid job id {id}", "无效的作业号 {id}";
    invalid_job_id_specified = "Invalid job id specified", "指定的作业号无效";
    script_is_empty = "Batch script is empty!", "批处理脚本为空！";
    script_has_dos_lines =
        "Batch script contains DOS line breaks (\\r\\n) instead of expected UNIX line breaks (\\n).",
        "批处理脚本使用 DOS 换行（\\r\\n），应为 UNIX 换行（\\n）。";
    script_has_no_interpreter =
        "This does not look like a batch script. The first line must start with #! followed by the path to an interpreter.",
        "这不像是批处理脚本。第一行必须以 #! 加解释器路径开头。";
    add_an_interpreter = "For instance: #!/bin/sh", "例如：#!/bin/sh";
    expected_key_value(word) = "Invalid input: {word} (expected KEY=VALUE)", "无效的输入：{word}（应为 键=值）";
    invalid_key(key, value, reason) = "Invalid {key}={value}: {reason}", "{key}={value} 无效：{reason}";
    key_cannot_be_updated(key) = "{key} of a job cannot be updated here", "此处不能修改作业的 {key}";
    keys_that_can_be_updated =
        "TimeLimit, JobName, Priority, Comment, Account, StartTime, NumCPUs, MinMemoryNode, Gres, ReqNodeList",
        "可修改：TimeLimit、JobName、Priority、Comment、Account、StartTime、NumCPUs、MinMemoryNode、Gres、ReqNodeList";
    no_job_is_named = "No job identification provided", "没有给出作业号";
    steps_on_several_nodes =
        "steps on several nodes are not supported yet",
        "尚不支持跨多个节点的作业步";
    start_on_each_node =
        "danlu submit --nodes 2 -- COMMAND runs COMMAND on each of 2 nodes",
        "danlu submit --nodes 2 -- 命令 会在 2 个节点上各运行一次该命令";
    too_many_processes(count, most) =
        "{count} processes in a step; {most} are possible",
        "作业步有 {count} 个进程；最多 {most} 个";
    batch_on_several_nodes =
        "batch scripts on several nodes are not supported yet: Danlu would run the script on each of them",
        "尚不支持跨多个节点的批处理脚本：Danlu 会在每个节点上各运行一次脚本";
    no_command = "No command given to execute.", "没有给出要执行的命令。";
    unable_to_open(file, cause) = "Unable to open file {file}: {cause}", "无法打开文件 {file}：{cause}";
    script_and_wrap = "Script arguments not permitted with --wrap option", "使用 --wrap 时不能再给出脚本";
    script_too_long(file) = "Script {file} is longer than 1 MiB", "脚本 {file} 超过 1 MiB";
    script_not_text(file) = "Script {file} is not UTF-8 text", "脚本 {file} 不是 UTF-8 文本";
    job_to_start(at, cpus, nodes) =
        "Job to start at {at} using {cpus} processors on nodes {nodes} in partition danlu",
        "作业将于 {at} 启动，使用 {cpus} 个处理器，节点 {nodes}，分区 danlu";
    job_start_unknown = "Job would wait; when it starts is not known", "作业需要等待；启动时间未知";
    no_terminal_yet =
        "salloc cannot give a task a terminal yet",
        "salloc 尚不能为任务提供终端";
    run_a_command = "salloc … COMMAND runs a command in the allocation", "salloc … 命令 会在分配的资源中运行该命令";
    unknown_subcommand(word) = "invalid keyword: {word}", "无效的关键字：{word}";
    known_subcommands =
        "show job|node|partition|hostnames|hostlist|config, hold, release, requeue, suspend, resume, update, ping",
        "show job|node|partition|hostnames|hostlist|config、hold、release、requeue、suspend、resume、update、ping";
    node_not_found(node) = "Node {node} not found", "找不到节点 {node}";
    unknown_program(name) = "no command of Slurm is called {name}", "Slurm 没有名为 {name} 的命令";
    known_programs = "sbatch, srun, salloc, squeue, scancel, sinfo, sacct, scontrol", "sbatch、srun、salloc、squeue、scancel、sinfo、sacct、scontrol";
    could_not_start(program, cause) = "could not start {program}: {cause}", "无法启动 {program}：{cause}";
    task_exited(rank, code) = "task {rank}: Exited with exit code {code}", "task {rank}：退出码 {code}";
    task_killed(rank, signal) = "task {rank}: Killed by signal {signal}", "task {rank}：被信号 {signal} 终止";
    unknown_signal(signal) = "Unknown job signal: {signal}", "未知的信号：{signal}";
    cannot_signal(job) =
        "Kill job error on job id {job}: its processes are not on this machine",
        "无法向作业 {job} 发送信号：其进程不在本机";
    nothing_to_signal(job) =
        "Kill job error on job id {job}: it has no running processes of yours",
        "无法向作业 {job} 发送信号：没有属于您的运行中进程";
    about_slurm = "Run a command of Slurm's dialect: sbatch, srun, squeue …", "以 Slurm 方言运行命令：sbatch、srun、squeue 等";
    slurm_usage = "danlu slurm COMMAND [ARGUMENTS]", "danlu slurm 命令 [参数]";
    slurm_help =
        "Commands: sbatch, srun, salloc, squeue, scancel, sinfo, sacct, scontrol. They take Slurm's options; docs/slurm.md lists which.\nWith DANLU_SLURM_STRICT=1 an option without effect is an error.\n\nExamples:\n  danlu slurm sbatch --gres=gpu:1 job.sh\n  danlu slurm squeue --me",
        "命令：sbatch、srun、salloc、squeue、scancel、sinfo、sacct、scontrol。它们接受 Slurm 的选项，清单见 docs/slurm.md。\n设置 DANLU_SLURM_STRICT=1 后，不起作用的选项会报错。\n\n示例：\n  danlu slurm sbatch --gres=gpu:1 job.sh\n  danlu slurm squeue --me";
    words = "A command of Slurm and its arguments", "Slurm 命令及其参数";
    about_shims = "Make links named sbatch, squeue … in a directory", "在目录中创建名为 sbatch、squeue 等的链接";
    shims_usage = "danlu slurm-shims DIR [--force]", "danlu slurm-shims 目录 [--force]";
    shims_help =
        "Put the directory into PATH; scripts and programs written for Slurm then use Danlu.\n\nExample:\n  danlu slurm-shims ~/slurm-bin && export PATH=~/slurm-bin:$PATH",
        "将该目录加入 PATH 后，为 Slurm 编写的脚本和程序即可使用 Danlu。\n\n示例：\n  danlu slurm-shims ~/slurm-bin && export PATH=~/slurm-bin:$PATH";
    shims_directory = "Where the links are made", "创建链接的目录";
    shims_force = "Replace files that are not links to danlu", "替换不是指向 danlu 的链接的文件";
    made_links(count, directory) = "made {count} links in {directory}", "已在 {directory} 中创建 {count} 个链接";
    put_it_in_path(directory) = "to use them: export PATH={directory}:$PATH", "使用方法：export PATH={directory}:$PATH";
    foreign_file(file) = "{file} is there and does not belong to danlu", "{file} 已存在，且不属于 danlu";
    choose_or_force = "choose another directory, or use --force", "请选择其他目录，或使用 --force";
    could_not_link(file, cause) = "could not make {file}: {cause}", "无法创建 {file}：{cause}";
    supported = "supported", "支持";
    accepted_with_a_warning = "accepted with a warning", "警告后忽略";
    refused = "**refused**", "**拒绝**";
}

//! Sentences of spec.

messages! {
    gpus = "GPUs", "GPU";
    give_the_total_memory = "give the total: --mem 64G", "请写总量：--mem 64G";
    remove_the_line = "remove the line", "请去掉该行";
    unknown_argument_argument(argument) = "unknown argument `{argument}`", "未知的参数 `{argument}`";
    unknown_verb_verb(verb) = "unknown verb `{verb}`", "未知的动词 `{verb}`";
    missing_argument_argument(argument) = "missing argument `{argument}`", "缺少参数 `{argument}`";
    missing_verb = "missing verb", "缺少动词";
    argument_needs_a_value(argument) = "`{argument}` needs a value", "`{argument}` 需要一个值";
    not_one_of_choices(argument, choices, value) =
        "invalid value `{value}` for `{argument}`: expected one of {choices}",
        "`{argument}` 的值 `{value}` 无效：应为 {choices} 之一";
    argument_cannot_be_value_reason(argument, value, reason) =
        "invalid value `{value}` for `{argument}`: {reason}",
        "`{argument}` 的值 `{value}` 无效：{reason}";
    options_exclude_each_other(argument, other) =
        "`{argument}` and `{other}` cannot be combined",
        "`{argument}` 与 `{other}` 不能同时使用";
    expected_size = "expected a size such as 20G or 512M", "应为大小，例如 20G 或 512M";
    index_index_comes_twice(index) = "duplicate index {index}", "下标 {index} 重复";
    array_too_long(tasks_per_array) =
        "an array has at most {tasks_per_array} elements",
        "数组最多有 {tasks_per_array} 个元素";
    expected_array =
        "expected an array such as 0-99, 0-99%4 (4 at once) or 1,3,5-9:2",
        "应为数组，例如 0-99、0-99%4（同时 4 个）或 1,3,5-9:2";
    expected_time =
        "expected a time such as 22:00, 2026-11-20 08:00, now+2h, tomorrow, midnight, noon",
        "应为时间，例如 22:00、2026-11-20 08:00、now+2h、tomorrow、midnight、noon";
    expected_past =
        "expected a time such as 7d (so long ago), 2026-11-18, \"2026-11-18 08:00\" or 08:00",
        "应为时间，例如 7d（7 天前）、2026-11-18、\"2026-11-18 08:00\" 或 08:00";
    expected_dependency =
        "expected afterok:12,13, afterany:14 or afternotok:15",
        "应为 afterok:12,13、afterany:14 或 afternotok:15";
    elastic_not_supported =
        "elastic tasks (MIN..MAX) are not supported yet",
        "暂不支持可伸缩的任务（最少..最多）";
    expected_gpus(example) =
        "expected a number, or a model and a number: 2, {example}",
        "应为数量，或型号加数量：2、{example}";
    expected_gpu_numbers = "expected GPU numbers such as 0,2 or 0-3", "应为 GPU 编号，例如 0,2 或 0-3";
    expected_gpu_slots = "expected a GPU and a number of tasks: 0=2", "应为 GPU 编号和任务数：0=2";
    expected_sweep =
        "expected a sweep such as lr=1e-3,1e-4 or seed=0..4 (both ends included)",
        "应为参数扫描，例如 lr=1e-3,1e-4 或 seed=0..4（含两端）";
    too_many_sweep_values(name, tasks_per_array) =
        "`{name}` has more than {tasks_per_array} values",
        "`{name}` 的值超过 {tasks_per_array} 个";
    expected_assignment = "expected NAME=VALUE", "应为 名称=值";
    expected_resource = "expected NAME:N", "应为 名称:数量";
    bad_retry_count(times) =
        "`{times}` is not a number; expected 3, or 3:cuda_oom,nccl",
        "`{times}` 不是数字；应为 3，或 3:cuda_oom,nccl";
    unknown_failure_class(name, all) =
        "unknown failure class `{name}`; known: {all}",
        "未知失败类别 `{name}`；可用：{all}";
    one_task_is_needed_here_not_a_range = "expected one task, not a range", "应为一个任务，而不是范围";
    reversed_range(last, first) = "write the range as {last}-{first}", "请写成 {last}-{first}";
    range_too_long(most_in_a_range) =
        "a range has at most {most_in_a_range} tasks",
        "范围最多包含 {most_in_a_range} 个任务";
    expected_task =
        "expected a task id (12), a range (3-9), `@` (your last task) or `@~1` (the one before)",
        "应为编号（12）、范围（3-9）、`@`（最近的任务）或 `@~1`（再前一个）";
    expected_state(names) =
        "expected one of {names}, or open, waiting, active, ended",
        "应为 {names} 之一，或 open、waiting、active、ended";
    expected_time_limit =
        "expected a duration such as 90m, 2h, 1h30m, 1-02:00:00 (days-hours:minutes:seconds) or `none`",
        "应为时长，例如 90m、2h、1h30m、1-02:00:00（天-时:分:秒）或 `none`";
    save_script_there =
        "save it as a file on the machine and give its path as the command",
        "请在机器上保存为文件，并将其路径作为命令";
    script_would_be_replaced(name) =
        "the script contains `{name}`, which would be replaced",
        "脚本中有 `{name}`，会被替换";
    script_not_sendable(program) =
        "scripts for `{program}` and very long scripts cannot be submitted here",
        "此处不能提交 `{program}` 脚本或过长的脚本";
    name_line_number(name, number) = "{name} line {number}: ", "{name} 第 {number} 行：";
    gpus_not_divisible(gpus, nodes) =
        "{gpus} GPUs cannot be divided equally among {nodes} machines",
        "{gpus} 块 GPU 不能平均分配到 {nodes} 台机器";
    unclosed_quote = "unclosed quote", "引号没有闭合";
    shell_in_script = "`--shell` is not allowed in a script", "脚本中不能写 `--shell`";
    take_it_out = "remove it", "请去掉它";
    too_many_option_lines(name, most_lines) =
        "{name} has too many option lines: at most {most_lines}",
        "{name} 的选项行过多：最多 {most_lines} 行";
    say_it_in_fewer = "use fewer lines", "请减少行数";
    only_flag_only_is_possible_here(flag, only) = "only {flag}={only} is supported here", "此处只能是 {flag}={only}";
    option_expected = "expected an option", "此处应为选项";
    give_exact_nodes = "give an exact number: --nodes=2", "请写确切的数量：--nodes=2";
    say_how_much_mem_64g = "give an amount: --mem=64G", "请写明数量：--mem=64G";
    environment_always_captured =
        "the whole environment is always captured: --export=ALL",
        "总是带上全部环境变量：--export=ALL";
    j_a_a_and_n_are_known = "supported: %j, %A, %a and %N", "支持 %j、%A、%a 和 %N";
    what_is_not_supported(what) = "`{what}` is not supported", "不支持 `{what}`";
    truncate_needs_files =
        "`--truncate` needs --stdout or --stderr",
        "`--truncate` 须与 --stdout 或 --stderr 一起使用";
    what_it_needs = "Resources", "所需资源";
    help_nodes =
        "On N machines at once, all or none; --gpus, --cpus and --mem are of each",
        "同时在 N 台机器上运行，缺一不可；--gpus、--cpus、--mem 均为每台的数量";
    help_gpu_ids =
        "These GPUs by their numbers: 0,2 (danlu gpus shows them); the rest of --gpus are any",
        "指定 GPU 编号：0,2（见 danlu gpus）；--gpus 的其余部分任选";
    help_vram =
        "Memory that each GPU must have, or with --shared have left: 40G",
        "每块 GPU 至少要有的显存（--shared 时为剩余显存）：40G";
    help_shared =
        "Share its GPUs with other such tasks, as far as the memory goes (--vram)",
        "与其他共享任务共用 GPU，以显存为限（--vram）";
    help_exclusive =
        "Its GPUs for itself, also where tasks share one by count (danlu gpu slots)",
        "独占 GPU，即使该 GPU 有多个名额（danlu gpu slots）";
    host_memory_64g = "Host memory: 64G", "内存：64G";
    help_node =
        "The machine to run on: its name, or a label KEY=VALUE",
        "运行的机器：名称，或标签 键=值";
    help_time_limit =
        "Time limit: 90m, 2h, 1-02:00:00; a bare number is minutes; `none`",
        "时限：90m、2h、1-02:00:00；不带单位为分钟；`none` 为不限";
    when_its_turn_comes = "Scheduling", "调度";
    help_urgent = "Ahead of all tasks that are not urgent", "先于所有不紧急的任务";
    help_after =
        "After other tasks: afterok:12,13 or afterany:14 or afternotok:15",
        "在其他任务之后：afterok:12,13、afterany:14 或 afternotok:15";
    help_retries =
        "Run again up to N times when it fails; 2:cuda_oom,nccl after such failures only",
        "失败后最多重试 N 次；2:cuda_oom,nccl 表示仅在这类失败后重试";
    help_begin =
        "Not before this time: 22:00, 2026-11-20 08:00, now+2h, tomorrow",
        "不早于该时间开始：22:00、2026-11-20 08:00、now+2h、tomorrow";
    help_preemptible =
        "May be stopped and queued again for a more urgent task",
        "可以为更紧急的任务让路并重新排队";
    what_it_is_called = "Name and description", "名称与说明";
    help_name = "Name of the task", "任务名称";
    help_description = "Description", "说明";
    help_label = "Label; can be repeated", "标签，可重复";
    help_project = "Project", "所属项目";
    how_it_runs = "Execution", "运行方式";
    help_variable =
        "Set a variable on top of your environment; can be repeated",
        "在当前环境变量之上另设一个，可重复";
    help_conda =
        "Run in this conda environment: its name, or where it is",
        "在该 conda 环境中运行：名称或路径";
    help_venv = "Run in this virtual environment (venv, uv)", "在该虚拟环境（venv、uv）中运行";
    help_gpu_argument =
        "Append ARG and the GPU numbers to the command: --gpu-arg=--gpus=",
        "在命令后附加该参数和 GPU 编号：--gpu-arg=--gpus=";
    help_gpu_naming =
        "How CUDA_VISIBLE_DEVICES names GPUs: index (the default) or uuid",
        "CUDA_VISIBLE_DEVICES 的写法：index（默认）或 uuid";
    where_its_output_goes = "Output", "输出";
    help_stdout =
        "Standard output, appended to this file; /dev/null discards it",
        "标准输出，追加到该文件；/dev/null 表示丢弃";
    help_truncate =
        "Empty the files of --stdout and --stderr at every start",
        "每次开始时清空 --stdout 和 --stderr 的文件，而不是追加";
    keep_it_back_until_danlu_release = "Hold it until danlu release", "先扣住，直到 danlu release";
    help_array =
        "One task for each index (DANLU_ARRAY_INDEX): 0-99, 0-99%4 (4 at once), 1,3,5-9:2",
        "每个下标（DANLU_ARRAY_INDEX）一个任务：0-99、0-99%4（同时 4 个）、1,3,5-9:2";
    help_grid =
        "One task for each combination: --grid lr=1e-3,1e-4 --grid seed=0..4; {lr} stands in the command; --array %4 for 4 at once",
        "每种组合一个任务：--grid lr=1e-3,1e-4 --grid seed=0..4；命令中写 {lr}；--array %4 表示同时 4 个";
    help_notify =
        "Tell me at its start, end, failure (fail), requeue, or when its time runs out (expiring): --notify start,end; to a channel or an address: --notify fail:me@example.org; none for nothing",
        "在任务开始（start）、结束（end）、失败（fail）、重新排队（requeue）或快到时限（expiring）时通知我：--notify start,end；发到渠道或邮箱：--notify fail:me@example.org；none 表示不通知";
    notify = "Notify", "通知";
    form_notify =
        "One per line: start,end or fail:CHANNEL or end:me@example.org. Empty: as set on your account page.",
        "每行一条：start,end 或 fail:渠道 或 end:me@example.org。留空则按账户页面的设置。";
    known_mail_types =
        "known: BEGIN, END, FAIL, REQUEUE, ALL, NONE, INVALID_DEPEND, TIME_LIMIT, TIME_LIMIT_90, TIME_LIMIT_80, TIME_LIMIT_50, ARRAY_TASKS",
        "可用：BEGIN、END、FAIL、REQUEUE、ALL、NONE、INVALID_DEPEND、TIME_LIMIT、TIME_LIMIT_90、TIME_LIMIT_80、TIME_LIMIT_50、ARRAY_TASKS";
    write_an_address =
        "write an address: --mail-user=me@example.org; without it the address of your account is used",
        "请写邮箱地址：--mail-user=me@example.org；不写则用账户的邮箱";
    expected_notify =
        "expected start, end, fail, requeue or expiring, such as start,end or fail:me@example.org",
        "应为 start、end、fail、requeue 或 expiring，例如 start,end 或 fail:me@example.org";
    unknown_moment(name) =
        "`{name}` is not one of start, end, fail, requeue, expiring, none",
        "`{name}` 不是 start、end、fail、requeue、expiring、none 之一";
    notify_needs_moments(address) =
        "say when: end:{address}, or start,end:{address}",
        "请写明何时：end:{address}，或 start,end:{address}";
    notify_target_missing =
        "a channel or an e-mail address is missing after `:`",
        "`:` 后缺少渠道或邮箱地址";
    expected_duration =
        "expected a duration with its unit: 90s, 10m, 1h30m, 1-02:00:00",
        "应为带单位的时长：90s、10m、1h30m、1-02:00:00";
    help_shell =
        "The command is a shell line: 'make && ./run | tee log'. Runs in your login shell if that is bash or zsh, else in bash, else in sh; --shell=PATH selects another",
        "命令是一行 shell：'make && ./run | tee log'。登录 shell 为 bash 或 zsh 时用它执行，否则用 bash，没有 bash 则用 sh；可用 --shell=路径 指定";
    name_a_task_by_its_id = "name a task by its id", "请写任务编号";
    field_and_other_exclude_each_other(field, other) =
        "`{field}` and `{other}` cannot be combined",
        "`{field}` 与 `{other}` 不能同时使用";
    expected_whole_number = "expected a whole number", "应为整数";
    expected_positive = "expected a whole number of at least 1", "应为不小于 1 的整数";
    expected_percent = "expected a number from 0 to 100", "应为 0 到 100 之间的数";
    expected_gpu_naming = "expected index or uuid", "应为 index 或 uuid";
    machines_at_once = "Machines at once", "同时使用的机器数";
    gpu_numbers = "GPU numbers", "GPU 编号";
    gpu_memory = "GPU memory", "显存";
    share_by_memory = "Share by memory", "按显存共享";
    idle_at_least = "Idle at least (%)", "至少空闲（%）";
    whole_gpus_only = "Whole GPUs only", "必须整卡";
    cpu_cores = "CPU cores", "CPU 核数";
    memory = "Memory", "内存";
    named_resources = "Custom resources", "自定义资源";
    machine = "Machine", "机器";
    rather_on = "Preferred machine", "优先机器";
    time_limit = "Time limit", "时间上限";
    priority = "Priority", "优先级";
    urgent = "Urgent", "加急";
    after_tasks = "After tasks", "依赖任务";
    retries = "Retries", "重试次数";
    not_before = "Not before", "最早开始时间";
    may_be_preempted = "May be preempted", "可被抢占";
    name = "Name", "名称";
    description = "Description", "描述";
    labels = "Labels", "标签";
    project = "Project", "项目";
    directory = "Directory", "工作目录";
    environment_variables = "Environment variables", "环境变量";
    conda_environment = "Conda environment", "Conda 环境";
    run_by_a_shell = "Run by a shell", "由 shell 执行";
    gpu_argument = "GPU argument", "GPU 参数";
    gpus_in_cuda_visible_devices = "GPUs in CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES 的写法";
    output_file = "Output file", "输出文件";
    standard_output = "Standard output", "标准输出";
    standard_error = "Standard error", "标准错误";
    label_truncate = "Empty these two files at every start", "每次开始时清空这两个文件";
    command = "Command", "命令";
    label_hold = "Hold: queue it only when I release it", "暂不排队，等我放行";
    array = "Array", "数组";
    sweep = "Sweep", "参数扫描";
    captured_environment = "Captured environment", "提交时的环境变量";
    file_mode_creation_mask = "File mode creation mask", "文件权限掩码";
    dry_run = "Dry run", "试运行";
    form_command =
        "A shell line, run by your bash or zsh. {gpu_list}, {gpu_count} and {task_id} are replaced.",
        "一行 shell 命令，由登录 shell（bash 或 zsh）执行。{gpu_list}、{gpu_count}、{task_id} 会被替换。";
    absolute_path_on_the_machine = "Absolute path on the machine.", "机器上的绝对路径。";
    form_gpus =
        "2, or A100:2 for a model (default: 1 if there are GPUs).",
        "2，或 A100:2 指定型号（默认：有 GPU 时为 1）。";
    form_vram =
        "20G. Memory of each GPU; for shared GPUs, free memory.",
        "20G。每块 GPU 的显存；共享时指剩余显存。";
    only_on_shared_gpus = "Only on shared GPUs.", "仅用于共享 GPU。";
    form_gpu_ids = "0,2 or 0-3: only these GPUs.", "0,2 或 0-3：仅用这些 GPU。";
    form_node = "A name, or label=value.", "名称，或 标签=值。";
    form_nodes =
        "2: starts on two machines together; GPUs, cores and memory are per machine.",
        "2：在两台机器上同时开始；GPU、核数、内存均为每台的数量。";
    form_prefer =
        "A name, or label=value, for example near its data. Falls back to others when full.",
        "名称，或 标签=值，例如数据所在的机器。没有空位时使用其他机器。";
    form_memory = "64G.", "64G。";
    licence_1_as_the_machine_names_them = "licence:1, as the machine names them.", "licence:1，按机器上的名称。";
    form_time_limit =
        "2h, 90m, 1-12:00:00. With a limit it may start sooner.",
        "2h、90m、1-12:00:00。设上限可更早开始。";
    for_night_runs = "For night runs.", "用于夜间运行。";
    form_priority =
        "Smaller is earlier among your tasks (default: 5).",
        "在自己的任务中数字越小越早（默认：5）。";
    form_retries =
        "3, or 3:cuda_oom,nccl for some failures only.",
        "3，或 3:cuda_oom,nccl 仅限某些失败。";
    form_after = "12, afterany:14, afternotok:15.", "12、afterany:14、afternotok:15。";
    form_array = "0-99, or 0-99%4 for 4 at a time.", "0-99，或 0-99%4 表示同时 4 个。";
    form_grid =
        "One name per line: lr=1e-3,1e-4 or seed=0..4. {lr} stands for it in the command.",
        "每行一个：lr=1e-3,1e-4 或 seed=0..4。命令中用 {lr} 引用。";
    one_name_value_per_line = "One NAME=value per line.", "每行一个 名称=值。";
    form_conda = "Its name or path.", "名称或路径。";
    form_venv = "Its path.", "路径。";
    form_output =
        "Empty: kept by Danlu. In a directory, one file per task.",
        "留空：由丹炉保存。若为目录，则每个任务一个文件。";
    form_stdout =
        "A file of its own, appended to; /dev/null discards it.",
        "单独写入的文件（追加）；/dev/null 表示丢弃。";
    empty_with_standard_output = "Empty: with standard output.", "留空：与标准输出合并。";
    appended_with_the_gpu_numbers_gpus = "Appended with the GPU numbers: --gpus=", "附加在命令后并带 GPU 编号：--gpus=";
    index_the_default_or_uuid = "index (the default) or uuid.", "index（默认）或 uuid。";
    help_gpus =
        "GPUs: 2, or A100:2; 0 for a CPU task (default: 1 where there are GPUs); with --nodes on each machine",
        "GPU：2，或 A100:2；CPU 任务写 0（有 GPU 的机器默认 1）；有 --nodes 时为每台的数量";
    help_idle =
        "With --shared: only on GPUs at least PERCENT idle recently",
        "配合 --shared：只用近期空闲率不低于此百分比的 GPU";
    help_cpus =
        "CPU slots (default: 0 for a GPU task, 1 for a CPU task)",
        "CPU 数（默认：GPU 任务为 0，CPU 任务为 1）";
    help_resource =
        "Custom countable resource, e.g. licence:2; can be repeated",
        "自定义的可计数资源，如 licence:2；可重复";
    help_prefer =
        "Preferred machine or label KEY=VALUE, e.g. near its data; falls back when full",
        "优先的机器或标签 键=值，如数据所在的机器；没有空位时使用其他机器";
    help_priority =
        "Smaller is earlier among my tasks (default: 5)",
        "在我的任务中数字越小越早（默认：5）";
    help_directory = "Working directory (default: the current directory)", "工作目录（默认：当前目录）";
    help_output =
        "Both streams; a directory gets ID.log (default: kept by Danlu)",
        "两路输出；若为目录则写入 ID.log（默认由丹炉保存）";
    help_stderr =
        "Standard error (default: with standard output)",
        "标准错误（默认：与标准输出合并）";
}

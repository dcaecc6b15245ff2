//! Sentences of web/new.

messages! {
    gpus = "GPUs", "GPU";
    label_cannot_be_text(label, text) = "“{label}” cannot be “{text}”", "“{label}”不能是“{text}”";
    there_is_no_command_yet = "There is no command yet.", "还没有命令。";
    for_example_python_train_py = "for example: python train.py", "例如：python train.py";
    a_quote_is_not_closed = "a quote is not closed", "引号没有闭合";
    it_is_a_whole_number = "it is a whole number", "应为整数";
    it_is_a_number_up_to_100 = "it is a number up to 100", "应为不超过 100 的数";
    name_a_task_by_its_id = "name a task by its id", "请写任务编号";
    name = "Name", "名称";
    description = "Description", "描述";
    project = "Project", "项目";
    labels = "Labels", "标签";
    command = "Command", "命令";
    run_without_a_shell = "Run without a shell", "不经 shell 直接执行";
    script = "Script", "脚本";
    directory = "Directory", "工作目录";
    environment_variables = "Environment variables", "环境变量";
    conda_environment = "Conda environment", "Conda 环境";
    use_of_the_gpus = "Use of the GPUs", "GPU 使用方式";
    gpu_memory = "GPU memory", "显存";
    idle_at_least = "Idle at least (%)", "至少空闲（%）";
    gpu_numbers = "GPU numbers", "GPU 编号";
    machine = "Machine", "机器";
    machines_at_once = "Machines at once", "同时使用的机器数";
    rather_on = "Rather on", "优先放在";
    cpu_cores = "CPU cores", "CPU 核数";
    memory = "Memory", "内存";
    named_resources = "Named resources", "命名资源";
    time_limit = "Time limit", "时间上限";
    not_before = "Not before", "最早开始时间";
    priority = "Priority", "优先级";
    urgent = "Urgent", "加急";
    may_be_preempted = "May be preempted", "可被抢占";
    hold_queue_it_only_when_i_release_it = "Hold: queue it only when I release it", "暂不排队，等我放行";
    retries = "Retries", "重试次数";
    after_tasks = "After tasks", "依赖任务";
    array = "Array", "数组";
    sweep = "Sweep", "参数扫描";
    output_file = "Output file", "输出文件";
    gpu_argument = "GPU argument", "GPU 参数";
    field = "Field", "字段";
    sbatch_and_danlu_lines_fill_the_empty_fields =
        "#SBATCH and #DANLU lines fill the empty fields of this form.",
        "#SBATCH 与 #DANLU 行会填入表单中的空字段。";
    absolute_path_on_the_machine = "Absolute path on the machine.", "机器上的绝对路径。";
    n_2_or_a100_2_for_a_model_empty_1_where_there =
        "2, or A100:2 for a model. Empty: 1 where there are GPUs.",
        "2，或 A100:2 指定型号。留空：有 GPU 时为 1。";
    n_20g_each_gpu_must_have_it_of_shared_ones_have =
        "20G. Each GPU must have it; of shared ones, have it left.",
        "20G。每块 GPU 至少有这么多；共享时指剩余量。";
    only_on_shared_gpus = "Only on shared GPUs.", "仅用于共享 GPU。";
    n_0_2_or_0_3_these_and_no_others = "0,2 or 0-3: these and no others.", "0,2 或 0-3：仅用这些。";
    a_name_or_label_value = "A name, or label=value.", "名称，或 标签=值。";
    n_2_it_starts_on_two_machines_together_gpus =
        "2: it starts on two machines together; GPUs, cores and memory are of each.",
        "2：在两台机器上同时开始；GPU、核数、内存均为每台的数量。";
    where_its_data_is_a_name_or_label_value =
        "Where its data is: a name, or label=value. Elsewhere if there is no room.",
        "数据所在：名称，或 标签=值。没有空位时放在别处。";
    n_64g = "64G.", "64G。";
    licence_1_as_the_machine_names_them = "licence:1, as the machine names them.", "licence:1，按机器上的名称。";
    n_2h_90m_1_12_00_00_with_a_limit_it_may_start =
        "2h, 90m, 1-12:00:00. With a limit it may start sooner.",
        "2h、90m、1-12:00:00。设上限可更早开始。";
    for_night_runs = "For night runs.", "用于夜间运行。";
    smaller_is_earlier_among_your_tasks_5_is =
        "Smaller is earlier among your tasks; 5 is usual.",
        "在您的任务中数字越小越早；默认 5。";
    n_3_or_3_cuda_oom_nccl_for_some_failures_only =
        "3, or 3:cuda_oom,nccl for some failures only.",
        "3，或 3:cuda_oom,nccl 仅限某些失败。";
    n_12_afterany_14_afternotok_15 = "12, afterany:14, afternotok:15.", "12、afterany:14、afternotok:15。";
    n_0_99_or_0_99_4_for_4_at_a_time = "0-99, or 0-99%4 for 4 at a time.", "0-99，或 0-99%4 表示同时 4 个。";
    one_name_per_line_lr_1e_3_1e_4_or_seed_0_4_lr =
        "One name per line: lr=1e-3,1e-4 or seed=0..4. {lr} stands for it in the command.",
        "每行一个：lr=1e-3,1e-4 或 seed=0..4。命令中用 {lr} 引用。";
    one_name_value_per_line = "One NAME=value per line.", "每行一个 名称=值。";
    its_name_or_path = "Its name or path.", "名称或路径。";
    its_path = "Its path.", "路径。";
    empty_kept_by_danlu_a_directory_gets_one_file =
        "Empty: kept by Danlu. A directory gets one file per task.",
        "留空：由 Danlu 保存。目录则每个任务一个文件。";
    appended_with_the_gpu_numbers_gpus = "Appended with the GPU numbers: --gpus=", "附加在命令后并带 GPU 编号：--gpus=";
    comma = ", ", "、";
    it_would_start_now_on_node(node) = "It would start now on {node}.", "会立即在 {node} 上开始。";
    it_would_start_now_on_node_gpu_gpus(node, gpus) =
        "It would start now on {node}, GPU {gpus}.",
        "会立即在 {node} 的 GPU {gpus} 上开始。";
    it_would_wait_expected_start = "It would wait; expected start:", "会排队等待，预计开始：";
    it_would_wait_nobody_can_tell_until_when = "It would wait; nobody can tell until when.", "会排队等待，暂无法预计开始时间。";
    count_tasks_in_all(count) = "{count} tasks in all.", "共 {count} 个任务。";
    you_have_no_task_that_back_stands_for(back) =
        "you have no task that `@~{back}` stands for",
        "您没有 `@~{back}` 所指的任务";
    name_it_by_its_id = "name it by its id", "请写任务编号";
    correct_it = "correct it", "请更正";
    the_script = "the script,", "脚本";
    a_shell_line_run_by_your_bash_or_zsh_gpu_list =
        "A shell line, run by your bash or zsh. {gpu_list}, {gpu_count} and {task_id} are replaced.",
        "一行 shell 命令，由您的 bash 或 zsh 执行。{gpu_list}、{gpu_count}、{task_id} 会被替换。";
    at_you_have_no_task_that_back_stands_for(at, back) =
        "{at}you have no task that `@~{back}` stands for",
        "{at}您没有 `@~{back}` 所指的任务";
}

//! Sentences of web/new.

messages! {
    label_cannot_be_text(label, text) = "invalid value for “{label}”: “{text}”", "“{label}”的值无效：“{text}”";
    no_command_yet = "No command given.", "未填写命令。";
    for_example_python_train_py = "for example: python train.py", "例如：python train.py";
    unclosed_quote = "unclosed quote", "引号没有闭合";
    name = "Name", "名称";
    command = "Command", "命令";
    run_without_a_shell = "Run without a shell", "不经 shell 直接执行";
    script = "Script", "脚本";
    use_of_the_gpus = "Use of the GPUs", "GPU 使用方式";
    field = "Field", "字段";
    script_lines_fill_form =
        "#SBATCH and #DANLU lines fill the empty fields of this form.",
        "#SBATCH 与 #DANLU 行会填入表单中的空字段。";
    comma = ", ", "、";
    dry_run_now(node) = "It would start now on {node}.", "会立即在 {node} 上开始。";
    dry_run_now_on_gpus(node, gpus) =
        "It would start now on {node}, GPU {gpus}.",
        "会立即在 {node} 的 GPU {gpus} 上开始。";
    dry_run_wait = "It would wait; expected start:", "会排队等待，预计开始：";
    dry_run_wait_unknown = "It would wait; the start cannot be predicted.", "会排队等待，无法预计开始时间。";
    count_tasks_in_all(count) = "{count} tasks in total.", "共 {count} 个任务。";
    name_it_by_its_id = "use the task id", "请写任务编号";
    correct_it = "correct it", "请更正";
    in_script = "the script,", "脚本";
    no_task_back(at, back) =
        "{at}there is no `@~{back}`: you have fewer tasks",
        "{at}没有 `@~{back}`：任务数不足";
}

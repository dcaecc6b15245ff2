//! Sentences of cli/submit.

messages! {
    queue_a_task = "Submit a task", "提交任务";
    usage =
        "danlu submit [OPTIONS] -- COMMAND…\n       danlu submit [OPTIONS] SCRIPT [ARGUMENTS…]",
        "danlu submit [选项] -- 命令…\n      danlu submit [选项] 脚本 [参数…]";
    options = "Options", "选项";
    print_id_only = "Print only the id (for an array: the first)", "只输出编号（数组为第一个）";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    dry_run =
        "Show where and when it would start, without submitting it",
        "只显示会在何处、何时开始，不提交";
    arguments = "Arguments", "参数";
    command =
        "Command with its arguments, after `--`; or a script with its arguments",
        "`--` 之后的命令及其参数；或脚本及其参数";
    paths_not_answering(id) =
        "note: the file system of its directory or output does not respond; the task starts when it does\nhint: danlu why {id}",
        "注意：工作目录或输出所在的文件系统没有响应；恢复响应后任务才会开始\n提示：danlu why {id}";
    submitted_task_id(id) = "submitted task {id}\n", "已提交任务 {id}\n";
    submitted_tasks_id_last(id, last) = "submitted tasks {id}-{last}\n", "已提交任务 {id}-{last}\n";
    would_start_now_on_place(place) = "would start now on {place}", "会立即在 {place} 上开始";
    dry_run_latest(at) = "would wait; starts at {at} at the latest", "需要等待；最迟 {at} 开始";
    dry_run_unknown =
        "would wait; the start cannot be predicted: it is held, or tasks ahead of it have no time limit",
        "需要等待；无法预计开始时间：任务被扣住，或前面的任务没有时限";
    nothing_was_submitted = "nothing was submitted", "未提交任务";
    you_may_not_write_to_file(file) = "permission denied: {file}", "没有权限写入 {file}";
    choose_another_file_output_stdout = "choose another file: --output, --stdout", "请换一个文件：--output、--stdout";
    no_command = "no command given", "未指定命令";
    time_limit_is(length) = "the time limit is {length}", "时限为 {length}";
    notes =
        "\
The task runs in the directory and with the environment from which it was
submitted. In its command and in the values of --env, {gpu_list}, {gpu_count}
and {task_id} are replaced.

A script can carry its options in lines at its beginning:
  #!/bin/bash
  #DANLU --gpus 2 --time 12h
  #DANLU --name resnet
Lines with #SBATCH are read as well. Options of the command line win.

Examples:
  danlu submit -- python train.py --lr 0.1
  danlu submit -g 2 -t 12h -J resnet -- torchrun --nproc-per-node 2 train.py
  danlu submit -g 0 -c 8 --mem 32G --shell 'make && ./preprocess > out.txt'
  danlu submit --array 0-99%4 -- bash -c 'python sweep.py --seed $DANLU_ARRAY_INDEX'
  danlu submit -d afterok:@ -- python eval.py
  danlu submit train.sh",
        "\
任务在提交时的目录中、以提交时的环境变量运行。
命令和 --env 的值中的 {gpu_list}、{gpu_count}、{task_id} 会被替换。

脚本可以在开头写明选项：
  #!/bin/bash
  #DANLU --gpus 2 --time 12h
  #DANLU --name resnet
也读取 #SBATCH 行。命令行的选项优先于脚本中的选项。

示例：
  danlu submit -- python train.py --lr 0.1
  danlu submit -g 2 -t 12h -J resnet -- torchrun --nproc-per-node 2 train.py
  danlu submit -g 0 -c 8 --mem 32G --shell 'make && ./preprocess > out.txt'
  danlu submit --array 0-99%4 -- bash -c 'python sweep.py --seed $DANLU_ARRAY_INDEX'
  danlu submit -d afterok:@ -- python eval.py
  danlu submit train.sh";
}

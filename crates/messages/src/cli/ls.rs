//! Sentences of cli/ls.

messages! {
    list_my_tasks_and_say_why_they_wait = "List my tasks, and why they wait", "列出我的任务，并说明为何等待";
    danlu_ls_options = "danlu ls [OPTIONS]", "danlu ls [选项]";
    help =
        "Shows running, waiting and recently ended tasks. Arrays are folded into one line.\n\nExamples:\n  danlu ls -a                        tasks of all users\n  danlu ls --state failed            all failed tasks\n  danlu ls --label sweep=a --json    for programs: every task, never folded",
        "显示正在运行、等待和最近结束的任务。数组折叠为一行。\n\n示例：\n  danlu ls -a                        所有人的任务\n  danlu ls --state failed            所有失败的任务\n  danlu ls --label sweep=a --json    供程序使用：列出每个任务，不折叠";
    everybodys_tasks = "Tasks of all users", "所有人的任务";
    newest_n = "The newest N tasks, whatever their state", "最新的 N 个任务，不论状态";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    no_tasks_danlu_submit_command = "\nno tasks: danlu submit -- COMMAND\n", "\n没有任务：danlu submit -- 命令\n";
    and_more(more) =
        "… and {more} more: danlu ls -n {more}, or --json\n",
        "……另有 {more} 个：danlu ls -n {more}，或 --json\n";
    id = "ID", "编号";
    name = "NAME", "名称";
    state = "STATE", "状态";
    gpus = "GPUS", "GPU";
    time = "TIME", "用时";
    why_where = "WHY / WHERE", "原因 / 位置";
    user = "USER", "用户";
    count_wait_why(count, why) = "{count} wait: {why}", "{count} 个等待：{why}";
    count_state(count, state) = "{count} {state}", "{count} 个{state}";
    no_gpus = "no GPUs", "没有 GPU";
    gpus_free_all_free(free, all) = "GPUs {free}/{all} free", "GPU 空闲 {free}/{all}";
    foreign_used_outside_danlu(foreign) = "{foreign} used outside Danlu", "{foreign} 块被外部占用";
    aside_set_aside(aside) = "{aside} set aside", "{aside} 块停用";
    unknown_not_known(unknown) = "{unknown} unknown", "{unknown} 块状态未知";
    running_running(running) = "{running} running", "{running} 个运行";
    running_running_1_gpu(running) = "{running} running (1 GPU)", "{running} 个运行（1 块 GPU）";
    running_running_running_gpus_gpus(running, running_gpus) =
        "{running} running ({running_gpus} GPUs)",
        "{running} 个运行（{running_gpus} 块 GPU）";
    you_running_waiting_waiting(running, waiting) = "you: {running}, {waiting} waiting", "我的：{running}，{waiting} 个等待";
}

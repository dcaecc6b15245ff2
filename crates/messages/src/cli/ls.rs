//! Sentences of cli/ls.

messages! {
    list_my_tasks_and_say_why_they_wait = "List my tasks, and why they wait", "列出我的任务，并说明为何等待";
    danlu_ls_options = "danlu ls [OPTIONS] [ID|TEXT]…", "danlu ls [选项] [编号|文字]…";
    help =
        "Shows running, waiting and recently ended tasks; with words, ids or a time, all that match, however long ago they\nended. Arrays are folded into one line.\n\nTIME is 7d (so long ago), 2026-11-18, \"2026-11-18 08:00\" or 08:00 (today). A task that has not ended counts as\nending now.\n\nExamples:\n  danlu ls -a                        tasks of all users\n  danlu ls resnet lr=0.1             tasks whose name, command or description has both\n  danlu ls 3-9                       these tasks\n  danlu ls --state failed --since 7d  what failed in the last week\n  danlu ls --sort ran -n 10          my ten longest tasks\n  danlu ls -a --watch                everybody's tasks, kept up to date\n  danlu ls --label sweep=a --json    for programs: every task, never folded",
        "显示正在运行、等待和最近结束的任务；给出文字、编号或时间时，显示所有符合的任务，不论何时结束。数组折叠为一行。\n\n时间可写为 7d（7 天前）、2026-11-18、\"2026-11-18 08:00\" 或 08:00（今天）。未结束的任务视为现在结束。\n\n示例：\n  danlu ls -a                        所有人的任务\n  danlu ls resnet lr=0.1             名称、命令或说明中同时含有这两个词的任务\n  danlu ls 3-9                       这些任务\n  danlu ls --state failed --since 7d  最近一周失败的任务\n  danlu ls --sort ran -n 10          我运行最久的十个任务\n  danlu ls -a --watch                所有人的任务，持续更新\n  danlu ls --label sweep=a --json    供程序使用：列出每个任务，不折叠";
    ids_or_words =
        "Ids and ranges (12, 3-9, @), or words that all occur in the name, the command or the description",
        "编号和范围（12、3-9、@），或在名称、命令、说明中都要出现的词";
    with_text = "The same for words that look like ids", "同上，用于看起来像编号的词";
    ended_since = "Ended at this time or later", "在此时间或之后结束";
    ended_before = "Ended before this time", "在此时间之前结束";
    sorted_by =
        "Order: id (newest first), ended (last ended first) or ran (longest first)",
        "排序：id（最新提交在前）、ended（最近结束在前）或 ran（运行最久在前）";
    each_element = "One line for each element of an array", "数组的每个元素各占一行";
    one_of(known) = "expected one of {known}", "应为以下之一：{known}";
    everybodys_tasks = "Tasks of all users", "所有人的任务";
    newest_n = "The first N tasks, whatever their state", "前 N 个任务，不论状态";
    keep_it_up_to_date = "Keep the list up to date on the screen; q quits", "在屏幕上持续更新；按 q 退出";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    no_tasks_danlu_submit_command = "\nno tasks: danlu submit -- COMMAND\n", "\n没有任务：danlu submit -- 命令\n";
    no_matching_tasks = "\nno matching tasks\n", "\n没有符合条件的任务\n";
    and_many_more = "… and many more: danlu ls -n N, or --json\n", "……还有很多：danlu ls -n N，或 --json\n";
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

//! Sentences of cli/top.

messages! {
    about = "Watch GPUs, queue and my tasks, live", "实时查看 GPU、队列和我的任务";
    danlu_top_options = "danlu top [OPTIONS]", "danlu top [选项]";
    help =
        "Left the GPUs of all machines, right the queue, below the last lines of the selected task. In a narrow terminal\nTab switches between them. ? shows the keys.\n\nExamples:\n  danlu top            tasks of all users\n  danlu top --mine     only mine",
        "左边是所有机器的 GPU，右边是队列，下边是所选任务的最后几行输出。终端较窄时用 Tab 切换。按 ? 查看按键。\n\n示例：\n  danlu top            所有人的任务\n  danlu top --mine     只看我的";
    only_mine = "Begin with my tasks only", "开始时只显示我的任务";
    needs_a_terminal = "danlu top needs a terminal", "danlu top 需要终端";
    use_ls = "danlu ls, or danlu ls --json for programs", "danlu ls；供程序使用：danlu ls --json";
    watch_needs_a_terminal = "--watch needs a terminal", "--watch 需要终端";
    terminal_failed(cause) = "the terminal cannot be used: {cause}", "无法使用终端：{cause}";
    too_small(columns, rows, width, height) =
        "needs {columns}×{rows}, has {width}×{height}",
        "需要 {columns}×{rows}，现为 {width}×{height}";
    make_it_larger = "enlarge the window, or: danlu ls", "请放大窗口，或用：danlu ls";
    title_gpus = "GPUs", "GPU";
    title_tasks = "Tasks", "任务";
    title_log(id, name) = "Log of {id} {name}", "任务 {id} {name} 的输出";
    title_attempt(attempt) = "attempt {attempt}", "第 {attempt} 次运行";
    title_log_none = "Log", "输出";
    title_help = "Keys", "按键";
    title_why(id) = "Why task {id} waits", "任务 {id} 为何等待";
    of_everybody = "all users", "所有人";
    of_mine = "mine", "我的";
    filtered(text) = "filter: {text}", "筛选：{text}";
    sorted(order) = "sorted by {order}", "按{order}排序";
    this_page = "(this page)", "（本页）";
    sort_user = "user", "用户";
    sort_gpus = "GPUs", "GPU";
    sort_time = "time", "用时";
    lines_before(count) = "↑ {count} before these", "↑ 前面还有 {count} 行";
    tasks_after(count) = "↓ {count} more tasks", "↓ 后面还有 {count} 个任务";
    no_tasks = "no tasks run or wait", "没有运行或等待的任务";
    nothing_found = "nothing found", "没有找到";
    no_gpus = "no GPUs", "没有 GPU";
    loading = "loading …", "正在读取……";
    server_away(time) = "the server does not answer since {time}; trying again", "服务器自 {time} 起没有响应，正在重试";
    server_back = "the server answers again", "服务器已恢复响应";
    machine(name, free, all) = "{name}  {free} of {all} free", "{name}  空闲 {free}/{all}";
    free = "free", "空闲";
    you = "you", "我";
    outside(who) = "outside: {who}", "外部占用：{who}";
    set_aside(why) = "set aside: {why}", "停用：{why}";
    has_not_run = "it has not run yet", "尚未运行";
    no_output = "no output yet", "还没有输出";
    waits(state, why) = "{state}: {why}", "{state}：{why}";
    log_ended = "end of the output", "输出结束";
    follows = "follows", "跟随";
    stopped_following = "stopped: End follows again", "已停止跟随：按 End 继续";
    beginning_missing(id) = "earlier lines: danlu logs {id}", "更早的输出：danlu logs {id}";
    cancel_task(id, name) = "Cancel task {id} ({name})?", "取消任务 {id}（{name}）？";
    cancel_array(count, first, last, name) =
        "Cancel the {count} open tasks {first}-{last} ({name})?",
        "取消 {first}-{last}（{name}）中未结束的 {count} 个任务？";
    yes_or_no = "y cancels, n keeps it", "y 取消，n 保留";
    acted_cancel(tasks) = "cancelled {tasks}", "已取消 {tasks}";
    acted_hold(tasks) = "held {tasks}", "已扣住 {tasks}";
    acted_release(tasks) = "released {tasks}", "已释放 {tasks}";
    the_task(id) = "task {id}", "任务 {id}";
    the_tasks(count) = "{count} tasks", "{count} 个任务";
    nothing_to_do = "nothing to do: it has ended", "无需操作：任务已结束";
    hold_only_waiting = "only a waiting task can be held", "只能扣住等待中的任务";
    type_words = "words: ", "文字：";
    key_log = "log", "输出";
    key_cancel = "cancel", "取消";
    key_hold = "hold", "扣住";
    key_why = "why", "原因";
    key_filter = "find", "筛选";
    key_sort = "sort", "排序";
    key_all = "all", "所有人";
    key_mine = "mine", "我的";
    key_help = "help", "帮助";
    key_quit = "quit", "退出";
    key_close = "close", "关闭";
    key_follow = "follow", "跟随";
    key_move = "move", "移动";
    key_top = "begin", "开头";
    key_end = "end", "末尾";
    key_yes = "yes", "是";
    key_no = "no", "否";
    help_log = "Whole log of the selected task, as it grows", "所选任务的完整输出，持续更新";
    help_cancel = "Cancel the selected task (asks)", "取消所选任务（先确认）";
    help_hold = "Hold it, or release it", "扣住，或释放";
    help_why = "Why it waits, who holds its GPUs, expected start", "为何等待、谁占用 GPU、预计何时开始";
    help_filter = "Only tasks whose name, command or description has these words", "只显示名称、命令或说明中含有这些文字的任务";
    help_sort = "Next order: queue, user, GPUs, time", "换排序：队列、用户、GPU、用时";
    help_all = "Tasks of all users, or only mine", "所有人的任务，或只看我的";
    help_tab = "Switch between GPUs and tasks", "在 GPU 和任务之间切换";
    help_move = "Select the next or previous line", "选择下一行或上一行";
    help_page = "A screen further", "翻一页";
    help_ends = "The first line, the last line", "第一行、最后一行";
    mouse = "Mouse", "鼠标";
    help_mouse = "Click selects, the wheel scrolls; hold Shift to select text", "单击选择，滚轮滚动；按住 Shift 可选择文字";
    help_suspend = "Suspend; fg comes back", "挂起；fg 恢复";
    help_quit = "Close what is open, or quit", "关闭当前内容，或退出";
}

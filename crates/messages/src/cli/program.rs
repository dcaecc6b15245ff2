//! Sentences of cli/program.

messages! {
    group_tasks = "Tasks", "任务";
    group_change_tasks = "Change tasks", "操作任务";
    group_machines = "Machines", "机器";
    group_server = "Server", "服务器";
    group_more = "More", "其他";
    error_is(message) = "error: {message}", "错误：{message}";
    hint_is(hint) = "hint: {hint}", "提示：{hint}";
    variables_not_utf_8(names) =
        "ignored variables that are not UTF-8: {names}",
        "已忽略不是 UTF-8 的环境变量：{names}";
    no_working_directory(cause) =
        "could not determine the working directory: {cause}",
        "无法确定工作目录：{cause}";
    go_to_a_directory_that_exists_cd = "go to a directory that exists: cd", "请进入一个存在的目录：cd";
    working_directory_not_utf_8 = "the working directory is not UTF-8", "工作目录的名称不是 UTF-8";
    give_another_with_dir = "choose another with --dir", "请用 --dir 指定另一个";
    did_you_mean_close(close) = "did you mean `{close}`?", "是否想写 `{close}`？";
    usage = "Usage:", "用法：";
    nothing = " ", "";
    verbs = "Verbs", "动词";
    options = "Options", "选项";
    arguments = "Arguments", "参数";
    colon = ":", "：";
    options_colon = "Options:", "选项：";
    about =
        "Danlu shares GPU servers: it queues tasks, places them on GPUs and says why they wait.",
        "丹炉：共享 GPU 服务器的任务管理器。它让任务排队，为任务分配 GPU，并说明任务为何等待。";
    danlu_verb_options = "danlu VERB [OPTIONS]", "danlu 动词 [选项]";
    server_option =
        "The server's socket or http:// address (DANLU_SERVER)",
        "服务器的套接字或 http:// 地址（DANLU_SERVER）";
    show_this_help = "Show this help", "显示本帮助";
    show_the_version = "Show the version", "显示版本";
    file_is_read_when_the_task_starts(file) = "`{file}` is read when the task starts", "`{file}` 将在任务开始时读取";
    neither_program_nor_script(file) =
        "`{file}` is not executable and has no `#!` line",
        "`{file}` 不可执行，也没有 `#!` 行";
    could_not_read_file_cause(file, cause) = "could not read `{file}`: {cause}", "无法读取 `{file}`：{cause}";
    task_ids =
        "Tasks: 12, a range 3-9, a list 1,3,5-9, `@` for your last one, `@~1` for the one before",
        "任务：12、范围 3-9、列表 1,3,5-9、`@`（最近的任务）、`@~1`（再前一个）";
    all_of_mine = "All of my tasks to which it applies", "我的所有适用的任务";
    in_states =
        "Only tasks in these states: running, queued, failed, …; or open, waiting, active, ended",
        "仅这些状态的任务：running、queued、failed 等；或 open、waiting、active、ended";
    only_tasks_of_this_user = "Only tasks of this user", "仅该用户的任务";
    on_machine = "Only tasks that run or ran on this machine", "仅在该机器上运行过的任务";
    only_tasks_with_this_label = "Only tasks with this label", "仅带有该标签的任务";
    only_tasks_of_this_project = "Only tasks of this project", "仅该项目的任务";
    too_few_tasks_back(count, back) =
        "there is no `@~{back}`: you have only {count} tasks",
        "没有 `@~{back}`：只有 {count} 个任务";
    no_task_is_named = "no tasks given", "未指定任务";
    give_ids_or_filters =
        "give ids (12, 3-9, @), --all, or filters such as --state queued",
        "请指定编号（12、3-9、@）、--all，或筛选条件如 --state queued";
    ids_and_filters_exclude_each_other = "ids and filters cannot be combined", "编号与筛选条件不能同时使用";
    leave_out_one_of_them = "use only one of them", "请只用其中一种";
    notes =
        "\
Examples:
  danlu demo                                see it at work, with nothing to set up
  danlu submit -g 2 -- python train.py      queue a task that needs two GPUs
  danlu ls                                  my tasks, and why they wait
  danlu logs -f @                           follow my last one
  danlu help submit                         everything about a verb

Messages are in English or Chinese: set DANLU_LANG=en or DANLU_LANG=zh.
",
        "\
示例：
  danlu demo                                无需准备，看看效果
  danlu submit -g 2 -- python train.py      提交一个需要两块 GPU 的任务
  danlu ls                                  我的任务，以及它们为何等待
  danlu logs -f @                           跟踪我最近一个任务的输出
  danlu help submit                         某个动词的全部说明

界面语言为英文或中文：设置 DANLU_LANG=en 或 DANLU_LANG=zh。
";
}

//! Sentences of cli/logs.

messages! {
    show_what_a_task_has_printed = "Show the output of a task", "显示任务的输出";
    danlu_logs_id_options = "danlu logs ID [OPTIONS]", "danlu logs 编号 [选项]";
    help =
        "Progress bars are shown as one line. A terminal gets text and colours, and no other control\n\
         sequences. --raw shows every byte.\n\n\
         Examples:\n  \
           danlu logs -f @             follow my last task\n  \
           danlu logs 12 --tail 100\n  \
           danlu logs 12 --run 1       the first attempt of a task that was run again\n  \
           danlu logs 12 --node gpu2   of a task on several machines, what it printed there\n  \
           danlu logs server -f --level warn   the server's own log (administrators)",
        "进度条只显示为一行；输出到终端时只保留文本和颜色，去掉其他控制序列；--raw 原样输出每个字节。\n\n\
         示例：\n  \
           danlu logs -f @             跟踪我最近的任务\n  \
           danlu logs 12 --tail 100\n  \
           danlu logs 12 --run 1       重试过的任务的第一次运行\n  \
           danlu logs 12 --node gpu2   多机任务在该机器上的输出\n  \
           danlu logs server -f --level warn   服务器自身的日志（管理员）";
    task_or_server = "The task: its id, `@` or `@~1`; or `server`", "任务：编号、`@` 或 `@~1`；或 `server`";
    go_on_until_the_task_has_ended = "Follow the output until the task has ended", "持续输出，直到任务结束";
    attempt = "The K-th attempt (default: the last)", "第 K 次运行（默认：最后一次）";
    on_node =
        "For a task on several machines: the output on this one (default: the first)",
        "多机任务：该机器上的输出（默认：第一台）";
    only_the_last_n_lines = "Only the last N lines", "只显示最后 N 行";
    only_standard_output = "Only standard output", "只显示标准输出";
    standard_error_only =
        "Only standard error, if it has a file of its own",
        "只显示标准错误（输出到单独文件时）";
    every_byte_as_it_was_written = "Every byte as it was written", "原样输出每个字节";
    server_level =
        "Of the server's log: this level and more important ones (error, warn, info, debug, trace)",
        "服务器日志：该级别及更重要的（error、warn、info、debug、trace）";
    server_text = "Of the server's log: only records with this text", "服务器日志：只显示含有该文字的记录";
    server_since = "Of the server's log: since this time (2h, 08:00, 2026-11-18)", "服务器日志：从该时间起（2h、08:00、2026-11-18）";
    one_of(known) = "expected one of {known}", "应为以下之一：{known}";
    only_for_the_server =
        "--level, --text and --since are for the server's log",
        "--level、--text 和 --since 用于服务器日志";
    machine_away(at) =
        "note: its machine is unreachable; these are the last lines as of {at}",
        "提示：其机器已失联；以下是截至 {at} 的最后几行";
    no_server_log_file = "the server does not keep its log in a file", "服务器没有把日志保存为文件";
}

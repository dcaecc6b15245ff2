//! Sentences of cli/run.

messages! {
    about =
        "Submit a task, follow its output and exit with its code",
        "提交并跟踪输出，以任务的退出码结束";
    usage =
        "danlu run [OPTIONS] -- COMMAND…\n       danlu run [OPTIONS] SCRIPT [ARGUMENTS…]",
        "danlu run [选项] -- 命令…\n      danlu run [选项] 脚本 [参数…]";
    help =
        "Ctrl-C asks whether to detach or to cancel. The exit code is the task's own:\n\
         128+n for signal n, 124 for the time limit, 130 when cancelled or detached.\n\n\
         Examples:\n  \
           danlu run -g 1 -- python train.py\n  \
           danlu run -g 0 -- make test && echo fine",
        "Ctrl-C 会询问是脱离还是取消。退出码为任务自己的：被信号 n 终止为 128+n，超时 124，\n\
         取消或脱离 130。\n\n\
         示例：\n  \
           danlu run -g 1 -- python train.py\n  \
           danlu run -g 0 -- make test && echo fine";
    options = "Options", "选项";
    say_nothing_but_what_the_task_says = "Print only the output of the task", "只显示任务的输出";
    run_follows_one_task_that_may_start = "`run` cannot follow an array or a held task", "`run` 不能跟踪数组或被扣住的任务";
    use_danlu_submit_for_array_and_hold =
        "use danlu submit for --array and --hold",
        "--array 和 --hold 请用 danlu submit";
    detach_or_cancel = "\n[d]etach, [c]ancel, [Enter] go on: ", "\n[d] 脱离，[c] 取消任务，[回车] 继续：";
    detached(id) =
        "task {id} continues: danlu logs -f {id}, danlu cancel {id}",
        "任务 {id} 继续运行：danlu logs -f {id}，danlu cancel {id}";
    could_not_wait_for_signals_cause(cause) = "could not wait for signals: {cause}", "无法等待信号：{cause}";
    task_id_waits_why(id, why) = "task {id} waits: {why}", "任务 {id} 等待中：{why}";
    task_id_runs_on_place(id, place) = "task {id} runs on {place}", "任务 {id} 运行于 {place}";
    task_id_is_paused(id) = "task {id} is paused", "任务 {id} 已暂停";
    task_id_is_being_stopped(id) = "task {id} is being stopped", "任务 {id} 正在停止";
    task_lost(id, place) =
        "task {id} is lost: {place} is unreachable",
        "任务 {id} 失联：无法连接 {place}";
    task_succeeded(id, took) =
        "task {id} ended with code 0 after {took}",
        "任务 {id} 成功结束，用时 {took}";
    task_timed_out(id, took) =
        "task {id} reached its time limit after {took}",
        "任务 {id} 在 {took} 后超时";
    task_id_was_cancelled_after_took(id, took) = "task {id} was cancelled after {took}", "任务 {id} 在 {took} 后被取消";
    task_id_failed_after_took_why(id, took, why) =
        "task {id} failed after {took}: {why}",
        "任务 {id} 在 {took} 后失败：{why}";
}

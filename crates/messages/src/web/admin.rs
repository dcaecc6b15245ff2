//! Sentences of web/admin.

messages! {
    command_useradd = "add an account; prints a one-time password", "添加账号并显示一次性密码";
    command_addusers = "add several", "批量添加账号";
    command_userdel = "remove an account and cancel its tasks", "删除账号并取消其任务";
    command_suadd = "make a user an administrator; sudel revokes it", "授予管理员权限；sudel 收回";
    command_lockuser = "lock an account; unlockuser unlocks it", "锁定账号；unlockuser 解锁";
    command_stop = "pause the queue; start resumes it", "暂停队列；start 恢复";
    command_force_stop = "and put running tasks back into the queue", "并将运行中的任务放回队列";
    command_schedule = "or fifo, fair, auto …", "或 fifo、fair、auto 等";
    command_move_task = "move task 12 to the front of its owner's queue", "将任务 12 移到其所有者队列的首位";
    command_add_device =
        "enable GPU 3, or gpu7:3 with several machines; remove device disables it",
        "启用 GPU 3，多台机器时写 gpu7:3；remove device 停用";
    command_prompt = "publish an announcement; prompt None removes it", "发布公告；prompt None 清除";
    command_dump = "archive ended tasks; dumpuser ann 10, dumptask 1 2 3", "归档已结束的任务；dumpuser ann 10、dumptask 1 2 3";
    command_set_auto_dump = "archive automatically above this number", "超过此数量时自动归档";
    command_exit = "stop the server; running tasks continue", "停止服务器；运行中的任务继续";
    add = "add", "添加";
    change = "change", "修改";
    name_missing = "name missing", "缺少名称";
    limit_not_whole = "a limit must be a whole number", "上限须为整数";
    leave_it_empty_for_none = "empty: no limit", "留空表示不限";
    users = "Users", "用户";
    projects = "Projects", "项目";
    archive_above =
        "Above this number of ended tasks that are not in the archive, the oldest are written to it; 0: never.",
        "未归档的已结束任务超过此数时，把最旧的写入归档；0 表示不写。";
    archive_fraction = "Fraction of each user's tasks that is written then.", "届时写入每人的这一比例。";
    idle_act =
        "What is done about GPUs that are held and not used: none, tell the owner, ask, then requeue or release.",
        "对占用却不使用的 GPU 的处理：none（不处理）、tell（告知所有者）、ask（询问），然后 requeue（重新排队）或 release（结束）。";
    idle_tell_after = "After this long the owner is told; at least 30m.", "闲置这么久后告知所有者；至少 30m。";
    idle_ask_after = "After this long the owner is asked.", "闲置这么久后询问所有者。";
    idle_release_after = "After this long without an answer the task is stopped.", "闲置这么久且无答复时停止任务。";
    idle_longest_keep =
        "For how long owners may keep idle GPUs at a time (danlu keep).",
        "所有者每次最多可保留闲置 GPU 多久（danlu keep）。";
    idle_ignore_cpu =
        "Also stop tasks whose CPUs are busy; otherwise they may be preparing data.",
        "CPU 忙碌的任务也停止；否则视为可能在准备数据。";
    idle_exempt_users = "Users whose tasks are left alone.", "不受影响的用户。";
    idle_exempt_projects = "Projects whose tasks are left alone.", "不受影响的项目。";
    idle_exempt_labels = "Labels of tasks that are left alone: KEY or KEY=VALUE.", "不受影响的任务标签：键 或 键=值。";
    guard_end_foreign =
        "End processes outside Danlu on GPUs that a task has for itself; needs a root agent.",
        "结束任务独占的 GPU 上丹炉之外的进程；需要以 root 运行的代理。";
    guard_grace =
        "How long such a process may be there, and then between TERM and KILL.",
        "这类进程可以存在多久，以及 TERM 与 KILL 之间的时间。";
    notify_digest =
        "Messages about elements of one array wait so long for each other and become one",
        "同一数组各元素的消息等待该时长，合并为一条";
    history_keep =
        "Tasks that ended longer ago are deleted with their logs, for example 730d; 0: never.",
        "结束时间早于此的任务连同日志一起删除，如 730d；0 表示不删除。";
    history_max_tasks =
        "Most ended tasks that are kept; the oldest beyond it are deleted with their logs. 0: no limit.",
        "最多保留的已结束任务数，超出时连同日志删除最旧的；0 表示不限。";
    history_log_bytes =
        "Most bytes of logs of ended tasks that are kept; the oldest tasks beyond it are deleted with their logs. 0: no limit.",
        "已结束任务的日志最多保留的字节数，超出时删除最旧的任务及其日志；0 表示不限。";
    history_recent =
        "Number of tasks that ended last and stay in memory; at most 100,000. Older ones are read from the database when asked for.",
        "留在内存中的最近结束的任务数，最多 100,000；更早的任务需要时从数据库读取。";
    short_first =
        "Among the tasks of one user, probably short ones go first.",
        "同一用户的任务中，可能较短的先运行。";
    backfill_rule =
        "What may start while the first task cannot: none, skip (whatever fits), easy (what does not delay it).",
        "首个任务无法开始时：none 不启动其他，skip 启动放得下的，easy 启动不会推迟它的。";
    of_tasks_that_do_not_say_how_often = "Default number of retries.", "默认重试次数。";
    fair_half_life = "For fair: half-life of GPU usage.", "用于 fair：GPU 用量的半衰期。";
    idle_delay =
        "A GPU used outside Danlu is assigned again after being idle for this long.",
        "外部使用过的 GPU 空闲这么久后才分配。";
    keep_gpu_memory =
        "Fraction of the memory of a shared GPU that is kept free.",
        "共享 GPU 的显存保留这一比例。";
    keep_memory =
        "A machine with less than this fraction of its memory free gets no new tasks.",
        "空闲内存低于这一比例的机器不再接受新任务。";
    las_threshold =
        "For las: GPU time after which a task moves to the second queue.",
        "用于 las：GPU 时间超过此值后进入第二队列。";
    open_tasks_per_user =
        "Unfinished tasks per user, unless a quota says otherwise.",
        "每个用户未结束的任务数上限（配额另有规定的除外）。";
    log_bytes =
        "Bytes kept of the log of a task: its beginning and its end. Empty: all of it.",
        "每个任务日志保留的字节数（保留开头和结尾）；留空则全部保留。";
    tasks_per_gpu =
        "Maximum number of tasks that share the memory of one GPU.",
        "按显存共享一块 GPU 的任务数上限。";
    lost_after =
        "Tasks on a machine that was unreachable for this long count as failed; 0: never.",
        "机器失联超过此时间后，其上的任务判为失败；0 表示从不。";
    max_extension =
        "Time that owners may add to a limit in total; administrators: no limit.",
        "所有者累计可延长的时间；管理员不限。";
    restarts =
        "How often a task is restarted after its machine failed.",
        "机器宕机后任务最多重新开始几次。";
    min_run_time =
        "Minimum run time before a task may be preempted.",
        "运行不足此时间的任务不会被抢占。";
    placement =
        "Placement: pack (the fullest machine), spread (the emptiest), first_fit, frag or count.",
        "任务放置方式：pack（最满的机器）、spread（最空的机器）、first_fit、frag 或 count。";
    predictions = "Predict run times from ended tasks.", "根据已结束的任务预测运行时长。";
    over_quota = "Tasks over quota: wait or refuse.", "超出配额的任务：wait 等待，refuse 拒绝。";
    quota_period = "Period for which GPU-hours are counted.", "GPU 小时的计算周期。";
    of_each_user_in_a_period = "Per user and period.", "每个用户每周期。";
    open_tasks_each = "Unfinished tasks per user.", "每个用户未结束的任务。";
    waiting_tasks_of_each_user = "Waiting tasks per user.", "每个用户等待中的任务。";
    gpus_in_use_by_each_user = "GPUs in use per user.", "每个用户使用中的 GPU。";
    running_tasks_of_each_user = "Running tasks per user.", "每个用户运行中的任务。";
    settled_counts_use =
        "A shared task whose memory has settled counts with what it uses, not with what it asked for.",
        "共享任务稳定后按实际用量计算，而非申请量。";
    requeue_after_failure = "Requeue tasks whose machine failed.", "机器宕机后任务重新排队。";
    reserve_after =
        "After waiting this long, a task gets GPUs reserved as they become free; 0s: never.",
        "等待这么久后为任务预留空出的 GPU；0s 表示从不。";
    restart_cost_large = "Cost of preempting more than 8 GPUs.", "抢占超过 8 块 GPU 的代价。";
    restart_cost_small = "Cost of preempting up to 8 GPUs.", "抢占不超过 8 块 GPU 的代价。";
    retry_delay =
        "Delay before the first retry; doubles with each further one.",
        "首次重试前的等待；之后每次加倍。";
    retry_delay_most = "Maximum delay before a retry.", "重试前的最长等待。";
    retry_classes =
        "Failures that are retried, for example cuda_oom,nccl; empty: all but the time limit.",
        "值得重试的失败，如 cuda_oom,nccl；留空：除超时外全部。";
    settle_time =
        "A shared task whose memory has not grown for this long has settled.",
        "共享任务显存在此时间内未增长即视为稳定。";
    stop_grace =
        "Time between SIGTERM and SIGKILL when a task is stopped.",
        "停止任务时 SIGTERM 与 SIGKILL 之间的时间。";
    visibility =
        "all: users see all tasks; own: only their own.",
        "all：所有人可见全部任务；own：仅可见自己的。";
    one_name_on_each_line_at_most_500 = "one name on each line, at most 500", "每行一个用户名，最多 500 个";
    accounts = "Accounts", "账号";
    hand_over_passwords =
        "Hand over these passwords now: they are not shown again and must be changed at the first login.",
        "请立即转交这些密码：之后不再显示，首次登录时须修改。";
    tick_the_box_beside_remove_first = "tick the box beside “Remove” first", "请先勾选“删除”旁的方框";
    new_password = "A new password", "新密码";
    hand_over_password = "Hand it over now: it is not shown again.", "请立即转交：之后不再显示。";
    log_bytes_per_user =
        "Total bytes of logs kept per user; above it, submissions are refused. Empty or 0: no limit.",
        "每个用户保留的日志总字节数上限，达到后拒绝新任务；留空或 0 表示不限。";
}

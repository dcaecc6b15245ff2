//! Sentences of server/daemon.

messages! {
    then_danlu_notices_acknowledge_id(id) =
        "then: danlu notices --acknowledge {id}",
        "然后：danlu notices --acknowledge {id}";
    database_older(at, lost, known_events) =
        "The database was older than expected at {at}: the last {lost} of {known_events} events are lost. Unfinished tasks are held, unknown runs continue.",
        "{at} 发现数据库比预期旧：共 {known_events} 个事件，最后 {lost} 个已丢失。未结束的任务已被扣住，未知的运行会继续。";
    review_held_tasks(acknowledge) =
        "review the held tasks (danlu ls -a --state held) and release or cancel them; {acknowledge}",
        "请查看被扣住的任务（danlu ls -a --state held）并放行或取消；{acknowledge}";
    restored(at, backup_at) =
        "Restored at {at} from the backup of {backup_at}. Unfinished tasks are held, unknown runs continue.",
        "{at} 已从 {backup_at} 的备份恢复。未结束的任务已被扣住，未知的运行会继续。";
    scheduling_paused(at) =
        "Scheduling paused at {at}: internal error of the scheduler. No new tasks start; running tasks continue.",
        "自 {at} 起调度已暂停：调度器发生内部错误。不会启动新任务；正在运行的任务继续。";
    resume_queue(report) =
        "an admin can resume it: danlu resume-queue; report {report}",
        "管理员可恢复：danlu resume-queue；报告文件 {report}";
    machine_disabled(node, at) =
        "Machine {node} disabled at {at}: internal error while processing its message. It is retried later.",
        "自 {at} 起停用机器 {node}：处理其消息时发生内部错误。稍后会重试。";
    report_report_acknowledge(report, acknowledge) = "report {report}; {acknowledge}", "报告文件 {report}；{acknowledge}";
    notice_id_of_at_is_of_a_kind_that_this_version(id, at) =
        "Notice {id} of {at} is of a kind that this version of Danlu does not know.",
        "{at} 的通知 {id} 属于当前版本的 Danlu 无法识别的类型。";
    use_the_version_of_the_server_acknowledge(acknowledge) =
        "read it with the version of the server; {acknowledge}",
        "请用与服务器相同的版本查看；{acknowledge}";
    hint = "hint", "提示";
    colon = ": ", "：";
    channel_failing(channel, at) =
        "Messages over the channel `{channel}` cannot be delivered since {at}",
        "自 {at} 起，无法通过渠道 `{channel}` 发送消息";
    file_set_aside(file, at, aside) =
        "{file} could not be read at {at}: it is now {aside}, and a new one was begun",
        "{at} 时 {file} 无法读取：已改名为 {aside}，并新建了一个";
    delete_set_aside(aside, acknowledge) =
        "keep {aside} for a report, or delete it; {acknowledge}",
        "可保留 {aside} 用于报告问题，或将其删除；{acknowledge}";
    foreign_process(user, pid, gpu, node, task) =
        "A process outside Danlu ({user}, pid {pid}) uses GPU {gpu} of {node}, which is allocated to task {task}",
        "丹炉之外的进程（{user}，pid {pid}）在使用 {node} 的 GPU {gpu}，而它已分配给任务 {task}";
    end_it_or_ask(acknowledge) =
        "ask its user to end it; its user and the owner of the task have been told; {acknowledge}",
        "请其用户结束它；已告知其用户和任务的所有者；{acknowledge}";
    see_failed_messages =
        "`danlu notify list` shows what the other side says; messages are kept and tried again for 3 days",
        "`danlu notify list` 会显示对方的回应；消息会保留并在 3 天内重试";
    export_failing(target, at) =
        "Points cannot be written to InfluxDB {target} since {at}",
        "自 {at} 起，无法向 InfluxDB {target} 写入数据点";
    points_are_kept =
        "`danlu doctor` shows what the database says; points are kept and written later",
        "`danlu doctor` 会显示数据库的回应；数据点会保留，稍后写入";
}

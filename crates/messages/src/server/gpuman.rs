//! What gpuman's commands answer. Its own interface answers in Chinese.

messages! {
    done(what) = "done: {what}", "完成: {what}";
    nothing_to_do(why) = "nothing to do: {why}", "无需处理: {why}";
    added(name) = "added {name}", "已添加 {name}";
    os_password_not_kept =
        "; the password of the OS user is not needed and was not kept",
        ",系统用户的密码无需提供,未保存";
    one_time_password(password) = ", one-time password {password}", ",一次性密码 {password}";
    users_changed(words, names) = "{words}: {names}", "{words} {names}";
    now_administrators = "now administrators", "已设为管理员";
    no_longer_administrators = "no longer administrators", "已取消管理员权限";
    locked = "locked", "已锁定";
    unlocked = "unlocked", "已解锁";
    not_a_command(line) = "`{line}` is not a command", "没有命令 `{line}`";
    no_user_is_named = "no user is named", "没有指定用户";
    name_them = "name them after the command", "请在命令后写用户名";
    cannot_be_set(key, known) =
        "`{key}` cannot be set; known: {known}",
        "没有设置项 `{key}`,可用: {known}";
    own_settings = "danlu set lists Danlu's own settings", "danlu set 列出丹炉的设置";
    name_the_machine = "name the machine: add device gpu7:3", "请写 机器:编号，例如 add device gpu7:3";
    several_machines(index) =
        "there are several machines: write MACHINE:NUMBER, for example gpu7:{index}",
        "有多台机器,请写 机器:编号,例如 gpu7:{index}";
    no_gpu_is_named = "no GPU is named", "没有指定 GPU";
    example_devices = "add device 3, or add device gpu7:3", "例如 add device 3 或 add device gpu7:3";
    not_a_number(word) = "`{word}` is not a number", "`{word}` 不是数字";
    example_move = "as in move 12 0", "例如 move 12 0";
    not_json(error) = "the request is not a JSON object: {error}", "请求不是 JSON 对象: {error}";
    no_such_interface(act) = "there is no interface {act}", "没有接口 {act}";
    bad_priority(text) = "the priority `{text}` is not a number", "优先级 `{text}` 不是数字";
    example_priority = "for example 1.5", "例如 1.5";
    bad_field(field, what) = "{field}: {what}", "{field}: {what}";
    as_gpuman_writes = "as gpuman writes it", "写法与 gpuman 相同";
    expected_task_id = "the id of a task", "应为任务编号";
    expected_number = "a number", "应为数字";
    too_many = "too many", "过多";
    expected_numbers = "numbers such as 0,2", "应为编号,例如 0,2";
    seconds_or_none = "seconds, or None", "应为秒数或 None";
    removed(names) = "removed {names}", "已删除 {names}";
    queue_paused = "the queue is paused; running tasks continue", "队列已暂停,运行中的任务继续";
    queue_running = "the queue is running", "队列已恢复";
    queue_paused_requeued(count) = "the queue is paused; {count} running tasks were put back into it", "队列已暂停,{count} 个运行中的任务已放回队列";
    server_stops = "the server stops; running tasks continue", "服务器即将停止,运行中的任务继续";
    server_cancels_and_stops = "the server cancels all running tasks and stops", "服务器将取消所有运行中的任务并停止";
    task_is_at_position(task, position) = "task {task} is at position {position}", "任务 {task} 已移到位置 {position}";
    gpu_enabled(list) = "GPU {list} enabled", "GPU {list} 已启用";
    gpu_disabled_running_tasks_continue(list) = "GPU {list} disabled; running tasks continue", "GPU {list} 已停用,其上运行的任务继续";
    order_is(order) = "the order is {order}", "调度方式已设为 {order}";
    every_change_is_scheduled_at_once = "every change is scheduled at once", "每次变化都会立即重新调度";
    written_before_reply = "every change is on disk before it is answered", "每次变化都在答复之前写入磁盘";
    uses_data_on_disk = "the server works on what is on disk", "服务器始终使用磁盘上的数据";
    no_answer_is_ever_out_of_date = "no answer is ever out of date", "答复从不使用过期的数据";
    no_locks = "there are no locks", "没有需要处理的锁";
    tasks_archived(count) = "{count} tasks archived", "已归档 {count} 个任务";
    announcement_removed = "the announcement is removed", "公告已清除";
    announcement_shown = "the announcement is shown to everybody", "公告已发布";
    task_ids_are_never_reused = "task ids are never reused", "任务编号从不重复使用";
    no_super_password = "there is no super password", "没有超级密码";
    nothing_periodic = "nothing is polled, saved or cleaned up periodically", "没有定时轮询、保存或清理";
}

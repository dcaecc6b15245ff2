//! Sentences of refusals. They follow `error: `, so they begin with a small letter.

messages! {
    no_such_task(id) = "there is no task {id}", "没有任务 {id}";
    no_such_run(id) = "there is no run {id}", "没有运行 {id}";
    no_such_node(id) = "there is no machine {id}", "没有机器 {id}";
    no_such_gpu(index) = "there is no GPU {index} on that machine", "该机器上没有 GPU {index}";
    no_such_user = "there is no such user", "没有该用户";
    unknown_name(name) = "unknown name: {name}", "未知名称：{name}";
    bad_slots(most) = "a GPU has between 1 and {most} slots", "每块 GPU 的槽位数为 1 到 {most}";
    share_without_memory = "a shared task must say how much GPU memory it needs", "共享 GPU 的任务必须指定所需显存";
    bad_utilization = "the idle percentage must be between 0 and 100", "空闲百分比须在 0 到 100 之间";
    locked = "this account is locked", "该账号已锁定";
    oneself = "administrators cannot lock, remove or demote themselves", "管理员不能锁定、删除或降级自己";
    bad_user_name = "invalid user name", "用户名无效";
    bad_email = "invalid email address", "邮箱地址无效";
    bad_language = "invalid language", "语言无效";
    not_permitted =
        "permission denied: only the owner of the task or an administrator may do this",
        "没有权限：只有任务所有者或管理员可以执行此操作";
    admin_only = "permission denied: only administrators may do this", "没有权限：只有管理员可以执行此操作";
    wrong_state(task, state, wanted) = "task {task} is {state}: {wanted}", "任务 {task} {state}：{wanted}";
    run_ended(id) = "run {id} has ended", "运行 {id} 已结束";
    node_reachable(id) = "the machine of run {id} is connected: cancel the task instead", "运行 {id} 所在的机器已连接：请改为取消任务";
    node_heard(name) = "{name} is connected: no run there is lost", "{name} 已连接，其上没有失联的运行";
    may_still_run(name, away) =
        "{name} has been unreachable for {away}: its tasks may still be running",
        "{name} 已失联 {away}：其上的任务可能仍在运行";
    still_needed(task, by) = "task {by} still waits for task {task}", "任务 {by} 仍在等待任务 {task}";
    name_taken(name) = "the name {name} is already in use", "名称 {name} 已被使用";
    name_missing = "the name is empty", "名称为空";
    node_busy_with_one = "the machine still has 1 running task", "该机器上仍有 1 个运行中的任务";
    node_busy(runs) = "the machine still has {runs} running tasks", "该机器上仍有 {runs} 个运行中的任务";
    impossible(needs, largest) =
        "no node can ever run this: it needs {needs}; the most there is: {largest}",
        "没有机器能运行它。需要：{needs}；现有最多：{largest}";
    too_few_nodes_none(needs) =
        "no node can ever run this: it needs {needs}",
        "没有机器能运行它。需要：{needs}";
    too_few_nodes_one(needs) =
        "too few nodes can run this: it needs {needs}, only 1 node is large enough",
        "能运行它的机器不足。需要：{needs}；符合要求的只有 1 台";
    too_few_nodes(needs, nodes) =
        "too few nodes can run this: it needs {needs}, only {nodes} nodes are large enough",
        "能运行它的机器不足。需要：{needs}；符合要求的只有 {nodes} 台";
    unequal_nodes(nodes, gpus) =
        "{gpus} GPUs cannot be divided equally among {nodes} machines",
        "{gpus} 块 GPU 不能平均分配到 {nodes} 台机器";
    gang_names_one(nodes) =
        "a task on {nodes} machines cannot name a single machine or GPU numbers",
        "在 {nodes} 台机器上运行的任务不能指定单台机器或 GPU 编号";
    too_many(things, limit) = "too many {things}: at most {limit}", "{things}过多：最多 {limit}";
    too_long(text, limit) = "the {text} is too long: at most {limit} bytes", "{text}过长：最多 {limit} 字节";
    control_character(text) = "invalid {text}: it contains control characters", "{text}无效：含有控制字符";
    bad_variable(name) = "invalid variable name `{name}`", "变量名 `{name}` 无效";
    bad_time_limit = "invalid time limit: it must be more than zero and at most ten years", "时限无效：须大于零且不超过十年";
    no_time_limit(id) = "task {id} has no time limit", "任务 {id} 没有时限";
    kept_too_long(most) =
        "owners may keep idle GPUs for at most {most} at a time",
        "所有者每次最多可保留闲置的 GPU {most}";
    not_idle(run) = "run {run} is not to be stopped as idle", "运行 {run} 不应因闲置而停止";
    idle_order =
        "owners are told first, then asked, then their task is stopped: idle.tell_after, idle.ask_after and idle.release_after must not be shorter than the one before",
        "先告知所有者，再询问，最后才停止任务：idle.tell_after、idle.ask_after、idle.release_after 依次不得短于前一个";
    extended_too_far(most) =
        "owners may extend the time limit of a task by at most {most} in total",
        "所有者最多可将任务时限累计延长 {most}";
    passes_everybody =
        "permission denied: only administrators may set a priority below 5 or `urgent`",
        "没有权限：只有管理员可以设置低于 5 的优先级或加急";
    out_of_range(what, least, most) = "{what} must be a number between {least} and {most}", "{what}须为 {least} 到 {most} 之间的数";
    quota_exceeded(quota) = "over {quota}", "超出{quota}";
    logs_full(user, kept, most) =
        "the logs of user {user} use {kept} of {most}",
        "用户 {user} 的任务日志已占用 {kept}，上限为 {most}";
    key_reused = "this key was already used for a different task", "该键已用于另一个任务";
    circle(id) = "circular dependency: task {id} would wait for itself", "循环依赖：任务 {id} 会等待自己";
    no_room(id) = "task {id} cannot start now: not enough free resources", "任务 {id} 现在无法启动：空闲资源不足";
    bad_array =
        "invalid array: it is submitted and edited as a whole, with at least one index and none twice",
        "数组无效：须整体提交或修改，至少有一个序号且不重复";
    bad_axis(name, why) = "invalid sweep parameter `{name}`: {why}", "扫描参数 `{name}` 无效：{why}";
    axis_bad_character = "names consist of letters, digits, `_`, `-` and `.`", "名称只能包含字母、数字、`_`、`-` 和 `.`";
    axis_taken = "the name is already in use", "名称已被使用";
    axis_no_values = "it has no values", "没有取值";
    empty_command = "the command is empty", "命令为空";
    runs_unknown(task, run, node) =
        "run {run} of task {task}, started before the database was lost or restored, is still running on {node}",
        "任务 {task} 的运行 {run} 在数据库丢失或恢复前启动，仍在 {node} 上运行";
    no_unknown_runs(name) = "{name} has no unknown runs", "{name} 上没有未知的运行";
    epoch_goes_back = "the epoch of the database cannot go back", "数据库的纪元不能倒退";

    stage_held = "held", "已扣住";
    stage_blocked = "blocked", "受阻";
    stage_queued = "queued", "排队中";
    stage_active = "running", "运行中";
    stage_finished = "finished", "已结束";
    can_cancel = "only waiting or running tasks can be cancelled", "只能取消等待或运行中的任务";
    can_requeue = "only running tasks can be requeued", "只有运行中的任务可以重新排队";
    can_hold = "only waiting tasks can be held", "只能扣住等待中的任务";
    can_release = "only held tasks can be released", "只能放行被扣住的任务";
    can_retry = "only finished tasks can be retried", "只能重试已结束的任务";
    can_remove = "only finished tasks can be removed", "只能删除已结束的任务";
    can_move = "only queued tasks can be moved", "只能移动排队中的任务";
    can_pause = "only running tasks can be paused", "只能暂停运行中的任务";
    can_resume = "only paused tasks can be resumed", "只能继续已暂停的任务";
    can_extend = "only waiting or running tasks can be extended", "只能延长等待或运行中的任务的时限";
    can_keep = "only the GPUs of running tasks can be kept", "只能保留运行中任务的 GPU";
    can_edit = "only waiting tasks can be edited", "只能编辑等待中的任务";
    can_start = "only queued tasks can be started", "只能启动排队中的任务";

    text_name = "name", "名称";
    text_description = "description", "说明";
    text_project = "project", "项目名";
    text_label = "label", "标签";
    text_key = "key", "键";
    text_command = "command", "命令";
    text_node_name = "machine name", "机器名称";
    text_node_label = "machine label", "机器标签";
    text_gpu_model = "GPU model", "GPU 型号";
    text_resource_name = "resource name", "资源名称";
    text_sweep_name = "sweep parameter name", "扫描参数名称";
    text_sweep_value = "sweep value", "扫描取值";
    text_notify_target = "channel or e-mail address", "渠道或邮箱地址";
    text_path = "path", "路径";
    text_gpu_argument = "GPU argument", "GPU 参数";
    text_shell = "shell", "shell 路径";
    text_python_environment = "Python environment", "Python 环境名称";
    text_variable = "variable", "变量";
    text_variables = "list of variables", "变量列表";
    text_announcement = "announcement", "公告";
    text_group = "group", "用户组";
    text_os_user = "OS user", "系统用户";
    text_email = "email address", "邮箱地址";
    text_language = "language", "语言";
    text_template = "template", "模板";

    things_gpus = "GPUs", "GPU 数量";
    things_gpu_numbers = "GPU numbers", "GPU 编号";
    things_nodes = "machines", "机器";
    things_retries = "retries", "重试次数";
    things_named_resources = "named resources", "自定义资源";
    things_sweep_names = "sweep parameters", "扫描参数";
    things_combinations = "combinations", "参数组合";
    things_labels = "labels", "标签";
    things_array_tasks = "tasks in an array", "数组任务";
    things_open_tasks = "unfinished tasks", "未结束的任务";
    things_dependencies = "dependencies", "依赖";
    things_users = "users", "用户";
    things_groups = "groups", "用户组";
    things_user_quotas = "user quotas", "用户配额";
    things_project_quotas = "project quotas", "项目配额";
    things_recent_tasks = "ended tasks in memory", "留在内存中的已结束任务";
    things_exempt = "exceptions from the idle rule", "闲置规则的例外";
    things_notify_rules = "`--notify` rules", "`--notify` 规则";
    share_priority = "the priority", "优先级";
    share_weight = "the weight", "权重";

    largest_gpus(gpus, in_all) = "{gpus} GPUs on one machine ({in_all} in total)", "单台机器 {gpus} 块 GPU（共 {in_all} 块）";
    largest_cpus(cpus) = "{cpus} CPUs", "{cpus} 个 CPU";
    largest_memory(size) = "{size} of memory", "{size} 内存";
    in_bytes(bytes) = "{bytes} bytes", "{bytes} 字节";
}

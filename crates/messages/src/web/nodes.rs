//! Sentences of web/nodes.

messages! {
    same_machine(others) =
        "looks like the same machine as {others}; unless it is a container or a cloned disk, remove one of them",
        "与 {others} 似乎是同一台机器；若不是容器或克隆的磁盘，请移除其中一个";
    yes = "yes", "是";
    no = "no", "否";
    reached_by = "Connection", "连接方式";
    gets_tasks = "Accepts tasks", "接受任务";
    for_ = "Role", "用途";
    files_only = "files only", "仅文件";
    host_name = "Host name", "主机名";
    system = "System", "系统";
    danlu = "Danlu", "Danlu 版本";
    asks_gpus_by = "GPU probe", "GPU 查询方式";
    clock = "Clock", "时钟";
    traffic_since_boot(received, sent) =
        "{received} received, {sent} sent since boot",
        "开机以来接收 {received}，发送 {sent}";
    network = "Network", "网络";
    gpus_not_whole = "the number of GPUs is a whole number", "GPU 数量应为整数";
    go_back_and_correct = "go back and correct it", "请返回更正";
    back = "Back", "返回";
    unknown_machine_action = "unknown action for machines", "机器没有这项操作";
    choose_one_of_the_buttons = "choose one of the buttons", "请选择页面上的按钮";
    ready = "ready", "就绪";
    draining = "draining", "排空中";
    connecting = "connecting", "连接中";
    unfit = "unfit", "异常";
    not_reachable = "not reachable", "无法连接";
    server_machine = "it is the server's own machine", "服务器所在的机器";
    as_the_servers = "as the server's", "与服务器一致";
    off_ms_ahead_of_the_servers(off) = "{off} ms ahead of the server's", "比服务器快 {off} 毫秒";
    off_ms_behind_the_servers(off) = "{off} ms behind the server's", "比服务器慢 {off} 毫秒";
    reach_it = "Connect", "连接";
    bring_the_program = "Upload the program", "上传程序";
    start_it = "Start it", "启动";
    be_greeted = "Response", "应答";
    log_in = "Log-in", "登录身份";
    disk = "Disk", "磁盘";
    identity = "Identity", "机器标识";
    driver = "Driver", "驱动";
    step = "Step", "步骤";
    drain_name(name) = "Drain {name}?", "排空 {name}？";
    drain_consequences =
        "No new tasks start there; running tasks continue to their end.",
        "不再在其上启动新任务；正在运行的任务继续到结束。";
    drain = "Drain", "排空";
    give_name_tasks_again(name) = "Assign tasks to {name} again?", "恢复向 {name} 分配任务？";
    what_waits_for_it_may_start_at_once = "Tasks that wait for it may start at once.", "等待它的任务可能立即开始。";
    give_it_tasks = "Undrain", "恢复分配";
    accept_question(name) =
        "Accept the machine that responds now as {name}?",
        "把现在应答的机器当作 {name}？";
    accept_warning =
        "Only after the machine was replaced or reinstalled: from then on it is trusted like the old one.",
        "仅在机器更换或重装后使用：此后它将与原机器一样受信任。";
    accept_it = "Accept", "接受";
    take_name_out(name) = "Remove {name}?", "移除 {name}？";
    removal_consequences =
        "It gets no more tasks, and the keys that users gave for it are deleted. No task may be running there.",
        "它不再接受任务，用户为其提供的密钥将被删除。其上不能有任务运行。";
    take_it_out = "Remove", "移除";
}

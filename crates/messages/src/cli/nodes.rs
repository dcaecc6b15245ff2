//! Sentences of cli/nodes.

messages! {
    indented_hint(hint) = "  hint: {hint}\n", "  提示：{hint}\n";
    about = "The machines", "机器列表";
    danlu_nodes_options = "danlu nodes [OPTIONS]", "danlu nodes [选项]";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    node = "NODE", "机器";
    state = "STATE", "状态";
    free_gpus = "FREE GPUS", "空闲 GPU";
    memory = "MEMORY", "内存";
    tasks = "TASKS", "任务";
    version = "VERSION", "版本";
    name_unfit_since_at_problem(name, at, problem) =
        "{name}: unfit since {at}: {problem}\n",
        "{name}：自 {at} 起异常：{problem}\n";
    name_down_since_at_ago_problem(name, at, ago, problem) =
        "{name}: down since {at} ({ago}): {problem}\n",
        "{name}：自 {at} 起离线（{ago}）：{problem}\n";
    not_connected = "not connected", "未连接";
    name_problem(name, problem) = "{name}: {problem}\n", "{name}：{problem}\n";
    same_machine(name, others) =
        "{name} looks like the same machine as {others} (equal machine id, boot id or address). \
             Containers and cloned disks look like that, too; otherwise remove one of them: danlu node remove {name}",
        "{name} 与 {others} 似乎是同一台机器（机器标识、启动标识或地址相同）。\
             容器和克隆的磁盘也会如此；否则请移除其中一个：danlu node remove {name}";
}

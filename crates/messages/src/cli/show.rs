//! Sentences of cli/show.

messages! {
    everything_about_a_task = "Show all details of a task", "显示任务的全部信息";
    danlu_show_id_options = "danlu show ID [OPTIONS]", "danlu show 编号 [选项]";
    help =
        "Examples:\n  danlu show 12\n  danlu show @ --json",
        "示例：\n  danlu show 12\n  danlu show @ --json";
    task_id =
        "Task: its id, `@` for your last one, `@~1` for the one before",
        "任务：编号、`@`（最近的任务）或 `@~1`（再前一个）";
    with_environment = "Also the environment it was submitted with", "同时显示提交时的环境变量";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    task_id_name_state(id, name, state) = "task {id} ({name}): {state}\n", "任务 {id}（{name}）：{state}\n";
    why_where = "why / where", "原因 / 位置";
    user = "user", "用户";
    command = "command", "命令";
    submitted = "submitted", "提交";
    started = "started", "开始";
    ended = "ended", "结束";
    ran_for = "ran for", "用时";
    exit_code = "exit code", "退出码";
    failure = "failure", "失败原因";
    idle = "GPU use", "GPU 使用";
    kept_until = "kept until", "保留至";
    time_limit = "time limit", "时限";
    urgent = ", urgent", "，紧急";
    priority = "priority", "优先级";
    project = "project", "项目";
    labels = "labels", "标签";
    element_index_of_array_first(index, first) = "element {index} of array {first}", "数组 {first} 的第 {index} 个元素";
    array = "array", "数组";
    values = "values", "取值";
    description = "description", "说明";
    directory = "directory", "目录";
    needs = "needs", "所需资源";
    after = "after", "依赖";
    retries = "retries", "重试次数";
    not_before = "not before", "不早于";
    preemptible = "preemptible", "可抢占";
    yes = "yes", "是";
    environment = "environment", "环境";
    output = "output", "输出";
    variable = "variable", "环境变量";
    gpu_argument = "gpu argument", "GPU 参数";
    run = "RUN", "运行";
    state = "STATE", "状态";
    where_ = "WHERE", "位置";
    time = "TIME", "用时";
    end = "END", "结果";
    count_machines(count) = "{count} machines", "{count} 台机器";
    environment_head = "\nenvironment\n", "\n环境变量\n";
    environment_hidden = "  only visible to the owner and administrators\n", "  仅所有者和管理员可见\n";
    nodes_machines_at_once_on_each(nodes) = "{nodes} machines, each with", "{nodes} 台机器，每台";
    with_the_numbers_ids(ids) = "GPU numbers {ids}", "GPU 编号 {ids}";
    size_of_gpu_memory_each(size) = "{size} of GPU memory each", "每块显存 {size}";
    alone_on_its_gpus = "exclusive GPUs", "独占 GPU";
    shared_with_others = "shared GPUs", "共享 GPU";
    shared_where_idle(idle) = "shared GPUs at least {idle} % idle", "共享 GPU（空闲 ≥ {idle} %）";
    size_of_memory(size) = "{size} of memory", "内存 {size}";
    on_name(name) = "on {name}", "在 {name} 上";
    on_a_machine_with_key_value(key, value) = "on a machine with {key}={value}", "在 {key}={value} 的机器上";
    rather_on_name(name) = "preferably on {name}", "优先在 {name} 上";
    rather_where_key_value(key, value) = "preferably on machines with {key}={value}", "优先在 {key}={value} 的机器上";
    cpu = "CPU", "CPU 时间";
    memory = "MEMORY", "内存峰值";
}

//! Sentences of cli/status.

messages! {
    about = "Summary of machines, GPUs and tasks", "总览：机器、GPU、任务，以及正在运行的";
    danlu_status_options = "danlu status [OPTIONS]", "danlu status [选项]";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    count_other(count) = ", {count} other", "，{count} 块其他";
    none = "none", "无";
    comma = ", ", "，";
    totals(machines, total, free, held, foreign, other, tasks) =
        "machines  {machines}\nGPUs      {total}: {free} free, {held} held, {foreign} used outside Danlu{other}\ntasks     {tasks}\n",
        "机器  {machines}\nGPU   {total}：{free} 块空闲，{held} 块占用，{foreign} 块被外部进程使用{other}\n任务  {tasks}\n";
    node_line(name, free, all, state, ids) =
        "  {name}: {free}/{all} GPUs free, {state}, tasks {ids}\n",
        "  {name}：{free}/{all} 块 GPU 空闲，{state}，任务 {ids}\n";
    id = "ID", "编号";
    user = "USER", "用户";
    name = "NAME", "名称";
    state = "STATE", "状态";
    time = "TIME", "用时";
    where_ = "WHERE", "位置";
}

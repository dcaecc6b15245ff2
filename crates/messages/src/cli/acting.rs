//! Sentences of cli/acting.

messages! {
    usage_of(verb) = "danlu {verb} ID… [OPTIONS]", "danlu {verb} 编号… [选项]";
    examples(lines) = "Examples:\n  {lines}", "示例：\n  {lines}";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    cancelled_when_back(tasks, away) =
        "{tasks} will be cancelled when {away} is back\n",
        "{tasks} 将在 {away} 恢复连接后取消\n";
    no_matching_tasks = "no matching tasks", "没有符合条件的任务";
    likewise_for_others(others) = "; the same for {others}", "；{others}也是如此";
    task_list(list) = "task {list}", "任务 {list}";
    count_tasks_list(count, list) = "{count} tasks: {list}", "{count} 个任务：{list}";
    tasks_list(list) = "tasks {list}", "任务 {list}";
}

//! Sentences of cli/cascade.

messages! {
    also_cancel_all_tasks_that_wait_for_them = "Also cancel all tasks that depend on them", "同时取消所有依赖它们的任务";
    count_tasks_wait_for_them_and_stay_list(count, list) =
        "{count} dependent tasks are kept: {list} (--cascade cancels them too)",
        "保留 {count} 个依赖它们的任务：{list}（--cascade 可一并取消）";
    also_cancel_count_tasks_that_wait_for_them(count, list) =
        "also cancel {count} dependent tasks ({list})?",
        "同时取消 {count} 个依赖它们的任务（{list}）？";
}

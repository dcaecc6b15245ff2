//! Sentences of cli/cascade.

messages! {
    also_cancel_all_tasks_that_wait_for_them = "Also cancel all tasks that wait for them", "同时取消所有等待它们的任务";
    count_tasks_wait_for_them_and_stay_list(count, list) =
        "{count} tasks wait for them and stay: {list} (--cascade cancels them too)",
        "有 {count} 个任务在等待它们，将保留：{list}（--cascade 可一并取消）";
    also_cancel_count_tasks_that_wait_for_them(count, list) =
        "also cancel {count} tasks that wait for them ({list})?",
        "同时取消等待它们的 {count} 个任务（{list}）？";
}

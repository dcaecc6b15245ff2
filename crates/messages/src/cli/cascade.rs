//! Sentences of cli/cascade.

messages! {
    cascade = "Also cancel all tasks that depend on them", "同时取消所有依赖它们的任务";
    dependents_kept(count, list) =
        "{count} dependent tasks are kept: {list} (--cascade cancels them too)",
        "保留 {count} 个依赖它们的任务：{list}（--cascade 可一并取消）";
    confirm_dependents(count, list) =
        "also cancel {count} dependent tasks ({list})?",
        "同时取消 {count} 个依赖它们的任务（{list}）？";
}

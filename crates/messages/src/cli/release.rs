//! Sentences of cli/release.

messages! {
    let_held_tasks_go = "Release held tasks", "放行被扣住的任务";
    released_tasks(tasks) = "released {tasks}", "已放行 {tasks}";
}

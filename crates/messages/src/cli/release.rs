//! Sentences of cli/release.

messages! {
    let_held_tasks_go = "Let held tasks go", "放行被扣住的任务";
    released_tasks(tasks) = "released {tasks}", "已放行 {tasks}";
}

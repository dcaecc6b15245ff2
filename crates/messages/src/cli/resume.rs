//! Sentences of cli/resume.

messages! {
    let_paused_tasks_go_on = "Resume paused tasks", "继续暂停的任务";
    resumed_tasks(tasks) = "resumed {tasks}", "已继续 {tasks}";
}

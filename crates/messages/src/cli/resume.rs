//! Sentences of cli/resume.

messages! {
    about = "Resume paused tasks", "继续暂停的任务";
    resumed_tasks(tasks) = "resumed {tasks}", "已继续 {tasks}";
}

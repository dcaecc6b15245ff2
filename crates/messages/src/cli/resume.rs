//! Sentences of cli/resume.

messages! {
    let_paused_tasks_go_on = "Let paused tasks go on", "让暂停的任务继续";
    resumed_tasks(tasks) = "resumed {tasks}", "已继续 {tasks}";
}

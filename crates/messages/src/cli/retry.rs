//! Sentences of cli/retry.

messages! {
    about = "Queue ended tasks again, under the same id", "让已结束的任务以原编号重新排队";
    queued_again_tasks(tasks) = "queued again: {tasks}", "已重新排队：{tasks}";
}

//! Sentences of cli/pause.

messages! {
    about = "Pause running tasks; they keep their GPUs", "暂停运行中的任务；它们仍占有 GPU";
    paused_tasks(tasks) = "paused {tasks}", "已暂停 {tasks}";
}

//! Sentences of cli/start.

messages! {
    about =
        "Start tasks ahead of the queue, on free GPUs",
        "在有空闲 GPU 时不排队立即开始";
    starting_tasks(tasks) = "starting {tasks}", "正在开始 {tasks}";
}

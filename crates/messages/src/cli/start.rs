//! Sentences of cli/start.

messages! {
    start_tasks_ahead_of_the_queue_where_gpus_are =
        "Start tasks ahead of the queue, on free GPUs",
        "在有空闲 GPU 时不排队立即开始";
    starting_tasks(tasks) = "starting {tasks}", "正在开始 {tasks}";
}

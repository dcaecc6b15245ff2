//! Sentences of cli/hold.

messages! {
    about = "Hold waiting tasks until they are released", "扣住等待中的任务，直到放行";
    held_tasks(tasks) = "held {tasks}", "已扣住 {tasks}";
}

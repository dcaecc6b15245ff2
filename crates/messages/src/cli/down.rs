//! Sentences of cli/down.

messages! {
    about = "Stop the server; running tasks go on", "停止服务器；正在运行的任务继续";
    danlu_down_options = "danlu down [OPTIONS]", "danlu down [选项]";
    help =
        "Examples:\n  danlu down                   for an upgrade: tasks do not notice\n  \
           danlu down --cancel-tasks    end the running ones, keep the queue",
        "示例：\n  danlu down                   用于升级：任务不受影响\n  \
           danlu down --cancel-tasks    结束正在运行的任务，保留队列";
    cancel_tasks = "Cancel the running tasks; the queue is kept", "取消正在运行的任务；保留队列";
    still_stopping = "the server was asked to stop, and is still there", "已要求服务器停止，但它仍在运行";
    stopped = "the server has stopped\n", "服务器已停止\n";
}

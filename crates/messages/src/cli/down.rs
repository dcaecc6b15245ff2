//! Sentences of cli/down.

messages! {
    stop_the_server_running_tasks_go_on = "Stop the server; running tasks go on", "停止服务器；正在运行的任务继续";
    danlu_down_options = "danlu down [OPTIONS]", "danlu down [选项]";
    examples_danlu_down_for_an_upgrade_tasks_do =
        "Examples:\n  danlu down                   for an upgrade: tasks do not notice\n  \
           danlu down --cancel-tasks    end the running ones, keep the queue",
        "示例：\n  danlu down                   用于升级：任务不受影响\n  \
           danlu down --cancel-tasks    结束正在运行的任务，保留队列";
    cancel_the_running_tasks_the_queue_is_kept = "Cancel the running tasks; the queue is kept", "取消正在运行的任务；保留队列";
    the_server_was_asked_to_stop_and_is_still = "the server was asked to stop, and is still there", "已要求服务器停止，但它仍在运行";
    the_server_has_stopped = "the server has stopped\n", "服务器已停止\n";
}

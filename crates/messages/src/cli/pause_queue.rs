//! Sentences of cli/pause_queue.

messages! {
    about = "Start no more tasks until resume-queue", "暂停队列，直到 resume-queue";
    danlu_pause_queue_options = "danlu pause-queue [OPTIONS]", "danlu pause-queue [选项]";
    help =
        "What runs goes on, and tasks can be submitted. For admins.\n\n\
         Examples:\n  danlu pause-queue\n  danlu pause-queue --requeue-running",
        "运行中的任务继续，仍可提交任务。仅限管理员。\n\n\
         示例：\n  danlu pause-queue\n  danlu pause-queue --requeue-running";
    requeue_running =
        "Stop running tasks and put them back into the queue, in their old places",
        "停止运行中的任务并放回队列中原来的位置";
    queue_paused = "queue paused\n", "队列已暂停\n";
    put_back_tasks(tasks) = "put back {tasks}", "已放回 {tasks}";
}

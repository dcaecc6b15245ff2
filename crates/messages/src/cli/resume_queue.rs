//! Sentences of cli/resume_queue.

messages! {
    start_tasks_again_after_pause_queue = "Start tasks again after pause-queue", "恢复被暂停的队列";
    danlu_resume_queue = "danlu resume-queue", "danlu resume-queue";
    queue_resumed = "queue resumed\n", "队列已恢复\n";
}

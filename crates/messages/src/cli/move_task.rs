//! Sentences of cli/move_task.

messages! {
    move_a_task_within_my_queue = "Move a task within my queue", "调整任务在我的队列中的位置";
    danlu_move_id_position = "danlu move ID [POSITION]", "danlu move 编号 [位置]";
    help =
        "Examples:\n  danlu move 12        to the front of my queue\n  danlu move 12 3      behind three others",
        "示例：\n  danlu move 12        移到我的队首\n  danlu move 12 3      排在另外三个之后";
    task = "The task", "任务";
    tasks_ahead =
        "How many of my tasks stay ahead of it (default: 0)",
        "排在它前面的任务数（默认：0）";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    moved_tasks(tasks) = "moved {tasks}", "已移动 {tasks}";
}

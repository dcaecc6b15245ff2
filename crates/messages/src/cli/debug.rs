//! Sentences of cli/debug.

messages! {
    about = "Why a task could not be started, in full", "任务为何无法启动的详细信息";
    danlu_debug_id_options = "danlu debug ID [OPTIONS]", "danlu debug 编号 [选项]";
    help =
        "What was to be executed, as whom, where, and what the system answered.\n\nExamples:\n  danlu debug 12",
        "要执行什么、以谁的身份、在哪里，以及系统的回答。\n\n示例：\n  danlu debug 12";
    task_id =
        "Task: its id, `@` for your last one, `@~1` for the one before",
        "任务：编号、`@`（最近的任务）或 `@~1`（再前一个）";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    not_started_yet(id, name) =
        "task {id} ({name}) has not been started yet\n",
        "任务 {id}（{name}）尚未启动\n";
    could_not_be_started(id, name, attempt) =
        "task {id} ({name}), attempt {attempt}: could not be started\n",
        "任务 {id}（{name}）第 {attempt} 次：无法启动\n";
    was_started(id, name) =
        "task {id} ({name}) was started as follows\n",
        "任务 {id}（{name}）已按以下方式启动\n";
    shell_line = "shell line", "shell 命令";
    as_user = "as user", "用户";
    in_directory = "in directory", "目录";
    on = "on", "位置";
    system_answer = "system error", "系统返回";
    evidence = "evidence", "依据";
}

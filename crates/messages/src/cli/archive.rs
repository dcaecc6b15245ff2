//! Sentences of cli/archive.

messages! {
    about = "Move ended tasks from the lists to the archive", "将已结束的任务移入归档";
    danlu_archive_id_options = "danlu archive [ID…] [OPTIONS]", "danlu archive [编号…] [选项]";
    task_ids = "Tasks: 12, 3-9, 1,3,5", "任务：12、3-9、1,3,5";
    older_than =
        "Only tasks that ended at least this long ago, for example 30d",
        "仅限早于此时长结束的，如 30d";
    all_but_the_newest_n = "All but the newest N", "保留最新的 N 个";
    of_this_user_for_everybody = "Of this user; `*` for everybody", "该用户的；`*` 表示所有人";
    all_of_mine = "All of mine", "我的全部";
    do_not_ask = "Do not ask", "不询问";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    which_tasks = "no tasks given", "未指定任务";
    confirm = "move these ended tasks to the archive?", "将这些已结束的任务移入归档？";
    archived_count_tasks(count) = "archived {count} tasks\n", "已归档 {count} 个任务\n";
    help =
        "The archive is archive.jsonl in the server's data directory: one JSON document per line, as `danlu show --json` tells it.\n\
         Tasks that a waiting one needs stay. The logs of archived tasks are deleted. It happens by itself above `archive.above` ended tasks (danlu set).\n\n\
         Examples:\n  danlu archive 1-99\n  danlu archive --older-than 30d\n  danlu archive --keep 100\n  danlu archive --user ann --yes      (admins)",
        "归档是服务器数据目录中的 archive.jsonl：每行一个 JSON 文档，与 `danlu show --json` 相同。\n\
         仍被等待中的任务依赖的任务会保留。归档任务的日志会被删除。已结束任务超过 `archive.above` 时自动归档（danlu set）。\n\n\
         示例：\n  danlu archive 1-99\n  danlu archive --older-than 30d\n  danlu archive --keep 100\n  danlu archive --user ann --yes      （管理员）";
}

//! Sentences of cli/archive.

messages! {
    about = "Write ended tasks as JSON lines, and read such lines again", "将已结束的任务写成 JSON 行，或重新读入";
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
    confirm = "write these ended tasks to the server's archive?", "将这些已结束的任务写入服务器的归档？";
    output_file =
        "Write to this new file of mine instead of the server's archive",
        "写入我的这个新文件，而不是服务器的归档";
    import_file = "Take over the tasks of such a file (admins)", "导入这种文件中的任务（管理员）";
    could_not_write(file, error) = "could not write {file}: {error}", "无法写入 {file}：{error}";
    give_another_file = "give a new file in a directory of yours", "请指定自己目录下的新文件";
    could_not_read(file, error) = "could not read {file}: {error}", "无法读取 {file}：{error}";
    give_an_archive = "give a file that `danlu archive` has written", "请指定 `danlu archive` 写出的文件";
    line_too_long(file, number) = "line {number} of {file} is too long", "{file} 第 {number} 行过长";
    line_not_text(file, number) = "line {number} of {file} is not UTF-8", "{file} 第 {number} 行不是 UTF-8";
    read_count_lines(count) = "{count} lines", "{count} 行";
    imported_count_tasks(count, skipped) =
        "imported {count} tasks, skipped {skipped} that are here already\n",
        "已导入 {count} 个任务，跳过已存在的 {skipped} 个\n";
    archived_count_tasks(count) = "archived {count} tasks\n", "已归档 {count} 个任务\n";
    help =
        "The archive is a file of the server (archive.jsonl in its data directory, or [archive] path of its configuration): one JSON document per line, as `danlu show --json` tells it.\n\
         Archived tasks stay in the lists until a rule of `history.keep`, `history.max_tasks` or `history.log_bytes` removes them (danlu set). It happens by itself above `archive.above` ended tasks.\n\
         --import takes over tasks with their ids, without logs. Their users must have accounts here.\n\n\
         Examples:\n  danlu archive 1-99\n  danlu archive --older-than 30d\n  danlu archive --all --output mine.jsonl\n  danlu archive --user ann --yes      (admins)\n  danlu archive --import old.jsonl    (admins)",
        "归档是服务器上的文件（数据目录中的 archive.jsonl，或配置中 [archive] 的 path）：每行一个 JSON 文档，与 `danlu show --json` 相同。\n\
         归档后的任务仍在列表中，直到 `history.keep`、`history.max_tasks` 或 `history.log_bytes` 的规则删除它们（danlu set）。已结束任务超过 `archive.above` 时自动写入归档。\n\
         --import 按原编号导入任务，不含日志。任务的用户须在此已有账号。\n\n\
         示例：\n  danlu archive 1-99\n  danlu archive --older-than 30d\n  danlu archive --all --output mine.jsonl\n  danlu archive --user ann --yes      （管理员）\n  danlu archive --import old.jsonl    （管理员）";
}

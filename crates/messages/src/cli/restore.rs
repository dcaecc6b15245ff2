//! Sentences of cli/restore.

messages! {
    about = "Restore a backup; the server must be stopped", "恢复备份；须先停止服务器";
    danlu_restore_file_options = "danlu restore FILE [OPTIONS]", "danlu restore 文件 [选项]";
    help =
        "What was there is kept in before-restore-TIME of the data directory. At the next start, tasks that had not ended at the time\n\
         of the backup are held until their owner or an admin releases them: they may have run since. What runs goes on.\n\n\
         Examples:\n  danlu down\n  danlu restore /backup/danlu-2026-11-17.tar\n  danlu up",
        "原有内容保存在数据目录的 before-restore-时间 中。下次启动时，备份时尚未结束的任务会被扣住，\n\
         由其属主或管理员放行：它们此后可能已运行过。正在运行的任务继续。\n\n\
         示例：\n  danlu down\n  danlu restore /backup/danlu-2026-11-17.tar\n  danlu up";
    file =
        "A file of `danlu backup`; `-` is standard input",
        "`danlu backup` 的文件；`-` 为标准输入";
    data_directory = "The data directory", "数据目录";
    configuration_file = "The configuration file of the server", "服务器的配置文件";
    do_not_ask = "Do not ask", "不询问";
    could_not_open_shown_error(shown, error) = "could not open {shown}: {error}", "无法打开 {shown}：{error}";
    confirm(place) =
        "replace the database, keys and archive in {place}?",
        "替换 {place} 中的数据库、密钥和归档？";
    restored(backup_at, tasks, open) =
        "restored the backup of {backup_at}: {tasks} tasks, {open} of them open (held at the next start)\n",
        "已恢复 {backup_at} 的备份：{tasks} 个任务，其中 {open} 个未结束（下次启动时会被扣住）\n";
    what_was_there_is_in_aside(aside) = "previous data: {aside}\n", "原有数据：{aside}\n";
    configuration_of_the_backup_file(file) = "configuration of the backup: {file}\n", "备份中的配置：{file}\n";
}

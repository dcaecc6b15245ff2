//! Sentences of cli/backup.

messages! {
    back_up_the_server_while_it_runs = "Back up the server while it runs", "在服务器运行时备份";
    danlu_backup_file_options = "danlu backup FILE [OPTIONS]", "danlu backup 文件 [选项]";
    help =
        "The file is a tar archive with the database, keys and configuration: keep it as secret as the server itself.\n\
         It is readable by its owner alone. `danlu restore` puts it back.\n\n\
         Examples:\n  danlu backup /backup/danlu-$(date +%F).tar\n  danlu backup --logs full.tar\n  danlu backup - | ssh other 'cat > danlu.tar'",
        "该文件是 tar 归档，包含数据库、密钥和配置：请像服务器本身一样保密。\n\
         仅属主可读。用 `danlu restore` 恢复。\n\n\
         示例：\n  danlu backup /backup/danlu-$(date +%F).tar\n  danlu backup --logs full.tar\n  danlu backup - | ssh other 'cat > danlu.tar'";
    output_file = "The file to create; `-` is standard output", "要创建的文件；`-` 为标准输出";
    include_what_tasks_have_printed = "Include what tasks have printed", "包含任务的输出日志";
    shown_exists_already(shown) = "{shown} exists already", "{shown} 已存在";
    give_another_name = "choose another file name", "请换一个文件名";
    backed_up_to_shown_megabytes_mb(shown, megabytes) =
        "backed up to {shown} ({megabytes} MB)\n",
        "已备份到 {shown}（{megabytes} MB）\n";
    could_not_write_shown_error(shown, error) = "could not write {shown}: {error}", "无法写入 {shown}：{error}";
    give_a_file_that_you_may_create = "choose a file that can be created", "请指定可以创建的文件";
    incomplete_backup(error) = "incomplete backup: {error}", "备份不完整：{error}";
}

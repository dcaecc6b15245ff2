//! Sentences of cli/reset.

messages! {
    delete_all_data_of_a_stopped_server = "Delete all data of a stopped server", "删除已停止的服务器的全部数据";
    danlu_reset_options = "danlu reset [OPTIONS]", "danlu reset [选项]";
    help =
        "Tasks, accounts, keys, logs and backups in the data directory are gone for good; the configuration file stays.\n\n\
         Examples:\n  danlu down --cancel-tasks\n  danlu reset",
        "数据目录中的任务、账号、密钥、日志和备份将永久删除；配置文件保留。\n\n\
         示例：\n  danlu down --cancel-tasks\n  danlu reset";
    data_directory = "The data directory", "数据目录";
    configuration_file = "The configuration file of the server", "服务器的配置文件";
    do_not_ask = "Do not ask", "不询问";
    force =
        "Even while tasks are running; they continue without a record",
        "即使有任务在运行；它们会继续，但不再有记录";
    shown_has_no_data_of_a_server(shown) = "{shown} contains no server data", "{shown} 中没有服务器的数据";
    name_the_data_directory_with_data = "name the data directory with --data", "请用 --data 指明数据目录";
    running_tasks_still_run(running) = "{running} tasks are still running", "仍有 {running} 个任务在运行";
    delete_all_data_in_shown(shown) = "delete all data in {shown}?", "删除 {shown} 中的全部数据？";
    could_not_remove_name_error(name, error) = "could not remove {name}: {error}", "无法删除 {name}：{error}";
    removed_name(name) = "removed {name}\n", "已删除 {name}\n";
    shown_has_other_files_which_stay(shown) = "{shown} has other files, which stay\n", "{shown} 中还有其他文件，予以保留\n";
    configuration_kept(file) = "the configuration stays: {file}\n", "配置文件保留：{file}\n";
}

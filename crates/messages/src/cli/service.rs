//! Sentences of cli/service.

messages! {
    about = "Run the server as a systemd service", "将服务器作为 systemd 服务运行";
    help =
        "Examples:\n  danlu service install --print        show the unit, change nothing\n  \
           danlu service install --nice 5\n  danlu service uninstall               tasks and data stay",
        "示例：\n  danlu service install --print        只显示单元文件\n  \
           danlu service install --nice 5\n  danlu service uninstall               任务和数据保留";
    about_install = "Write the unit, enable and start it", "写入单元文件，启用并启动";
    danlu_service_install_options = "danlu service install [OPTIONS]", "danlu service install [选项]";
    about_uninstall =
        "Stop it and remove the unit; tasks and data stay",
        "停止并删除单元文件；任务和数据保留";
    danlu_service_uninstall_options = "danlu service uninstall [OPTIONS]", "danlu service uninstall [选项]";
    for_this_user_alone_without_root = "For this user alone, without root", "仅为当前用户，无需 root";
    write_below_directory = "Write below this directory, and start nothing", "写入该目录之下，且不启动任何服务";
    show_the_unit_and_change_nothing = "Show the unit, and change nothing", "只显示单元文件，不做任何更改";
    nice_level =
        "Nice level of the server and its tasks, -20 to 19",
        "服务器及其任务的 nice 值，-20 到 19";
    io_class =
        "I/O scheduling class of the server and its tasks: best-effort, idle or realtime",
        "服务器及其任务的 I/O 调度类别：best-effort、idle 或 realtime";
    as_for_danlu_up = "As for `danlu up`", "同 `danlu up`";
    installed_and_started(shown, user) =
        "installed and started: {shown}; status: systemctl{user} status danlu\n",
        "已安装并启动：{shown}；查看状态：systemctl{user} status danlu\n";
    wrote_unit(shown, user) =
        "wrote {shown}; systemd is not running here, start it with: systemctl{user} enable --now danlu\n",
        "已写入 {shown}；此处没有运行 systemd，请用以下命令启动：systemctl{user} enable --now danlu\n";
    enable_linger =
        "to keep it while nobody is logged in: loginctl enable-linger\n",
        "要在未登录时也保持运行：loginctl enable-linger\n";
    removed_shown_tasks_and_data_stay(shown) = "removed {shown}; tasks and data stay\n", "已删除 {shown}；任务和数据保留\n";
    home_is_not_set = "HOME is not set", "未设置 HOME";
    systemctl_words_failed(words) = "systemctl {words} failed", "systemctl {words} 失败";
    could_not_action_path_cause(action, path, cause) = "could not {action} {path}: {cause}", "无法处理 {path}：{cause}";
    run_it_as_root = "run it as root", "请以 root 运行";
}

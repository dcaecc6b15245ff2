//! Sentences of cli/node_import.

messages! {
    file =
        "gpu_slaver_info.json of the master/slave training manager",
        "主从训练管理系统的 gpu_slaver_info.json";
    identity_file = "A private key on the server, for all of them", "服务器上的私钥文件，用于所有机器";
    accept_new_keys =
        "Trust the host keys that they show the first time",
        "信任它们首次出示的主机密钥";
    sudo =
        "Become root there by sudo without a password",
        "在这些机器上用免密 sudo 成为 root";
    dry_run = "Show what would be added, and change nothing", "只显示将添加的机器，不做更改";
    would_add(name, ssh, gpus) =
        "would add {name}: ssh {ssh}, {gpus} GPUs expected\n",
        "将添加 {name}：ssh {ssh}，应有 {gpus} 块 GPU\n";
    added_name_ssh_ssh(name, ssh) = "added {name}: ssh {ssh}\n", "已添加 {name}：ssh {ssh}\n";
    failed_machines_were_not_added(failed) = "{failed} machines were not added", "{failed} 台机器未能添加";
    correct_them_and_import_again = "correct them, and import again", "改正后再次导入";
    expected_list =
        "it is a list of {\"name\", \"ip\", \"user_name\", \"gpu_count\", \"gpu_info\"}",
        "应为 {\"name\", \"ip\", \"user_name\", \"gpu_count\", \"gpu_info\"} 的列表";
    file_too_large = "file too large", "文件过大";
}

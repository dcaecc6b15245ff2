//! Sentences of cli/node.

messages! {
    machines_that_work_for_this_server = "Manage the machines of this server", "管理本服务器的机器";
    usage =
        "danlu node [list | add | import | edit | remove | label | drain | undrain | end-unknown | check | accept | token | revoke | declare-lost] NAME…",
        "danlu node [list | add | import | edit | remove | label | drain | undrain | end-unknown | check | accept | token | revoke | declare-lost] 名称…";
    help =
        "Nothing need be installed on a machine: the server logs in by SSH and brings its own program.\n\
         A machine that it cannot reach dials in by itself: add it with --dial-in.\n\n\
         Examples:\n  \
           danlu node add gpu7 --ssh root@gpu7 --accept-new-key\n  \
           danlu node add gpu8 --ssh ops@10.0.0.8:2222 --identity /etc/danlu/id_ed25519 --sudo --label room=b12\n  \
           danlu node add gpu9 --dial-in\n  \
           danlu node check gpu7\n  \
           danlu node label gpu7 room=b12 old-\n  \
           danlu node drain gpu7",
        "机器上无需预先安装任何东西：服务器通过 SSH 登录，并自带程序。\n\
         服务器无法到达的机器可以主动连接：添加时用 --dial-in。\n\n\
         示例：\n  \
           danlu node add gpu7 --ssh root@gpu7 --accept-new-key\n  \
           danlu node add gpu8 --ssh ops@10.0.0.8:2222 --identity /etc/danlu/id_ed25519 --sudo --label room=b12\n  \
           danlu node add gpu9 --dial-in\n  \
           danlu node check gpu7\n  \
           danlu node label gpu7 room=b12 old-\n  \
           danlu node drain gpu7";
    all_machines_as_danlu_nodes = "All machines, as `danlu nodes`", "列出所有机器，同 `danlu nodes`";
    about_add =
        "Add a machine: reached by SSH, or one that dials in",
        "添加一台机器：通过 SSH 访问，或由其主动连接";
    usage_add =
        "danlu node add NAME --ssh USER@HOST[:PORT] | --dial-in [OPTIONS]",
        "danlu node add 名称 --ssh 用户@主机[:端口] | --dial-in [选项]";
    about_edit =
        "Change how a machine is reached; running tasks continue",
        "改变机器的连接方式；运行中的任务继续";
    danlu_node_edit_name_options = "danlu node edit NAME [OPTIONS]", "danlu node edit 名称 [选项]";
    about_import =
        "Add the machines of the master/slave training manager",
        "导入主从训练管理系统的机器";
    usage_import =
        "danlu node import gpu_slaver_info.json [OPTIONS]",
        "danlu node import gpu_slaver_info.json [选项]";
    about_remove = "Remove a machine; no task may be running there", "移除机器；其上不能有任务运行";
    danlu_node_remove_name = "danlu node remove NAME…", "danlu node remove 名称…";
    about_label =
        "Set labels, or take them away with a dash: room=b12 old-",
        "设置标签，或用减号去掉：room=b12 old-";
    danlu_node_label_name_key_value_key = "danlu node label NAME KEY=VALUE… KEY-…", "danlu node label 名称 键=值… 键-…";
    about_declare_lost =
        "Mark the tasks of an unreachable machine as failed and requeue them",
        "将失联机器上的任务标记为失败并重新排队";
    danlu_node_declare_lost_name_force =
        "danlu node declare-lost NAME [--force]",
        "danlu node declare-lost 名称 [--force]";
    help_declare_lost =
        "What ran there may still be running. When the machine comes back, it is ended before anything else starts there;\n\
         until then it may write to the same files as its next run. Without --force the machine must have been away for as\n\
         long as the setting `lost_after` says (never, unless set), which also does this by itself.",
        "其上的任务可能仍在运行。机器恢复后会先结束它们，再运行其他任务；在此之前，它可能与重新运行的任务写同一批文件。\n\
         不带 --force 时，机器须已离线达到设置 `lost_after` 的时长（默认从不）；该设置到时也会自动执行。";
    about_drain = "Stop assigning tasks; running tasks continue", "不再分配新任务；运行中的任务继续";
    danlu_node_drain_name = "danlu node drain NAME…", "danlu node drain 名称…";
    give_it_tasks_again = "Assign tasks again", "恢复分配任务";
    danlu_node_undrain_name = "danlu node undrain NAME…", "danlu node undrain 名称…";
    about_end_unknown =
        "End unknown runs on a machine (after data loss or a restore)",
        "结束机器上未知的运行（数据丢失或恢复之后）";
    danlu_node_end_unknown_name = "danlu node end-unknown NAME…", "danlu node end-unknown 名称…";
    about_check = "Check the connection to a machine step by step", "逐步检查与机器的连接";
    danlu_node_check_name = "danlu node check NAME…", "danlu node check 名称…";
    about_accept =
        "Accept another machine that now has this address",
        "接受现在使用该地址的另一台机器";
    danlu_node_accept_name = "danlu node accept NAME", "danlu node accept 名称";
    about_token =
        "Issue a new token to a machine that dials in; the old one is revoked",
        "为主动连接的机器换新令牌；旧令牌作废";
    danlu_node_token_name = "danlu node token NAME", "danlu node token 名称";
    about_revoke = "Revoke its token", "作废其令牌";
    danlu_node_revoke_name = "danlu node revoke NAME…", "danlu node revoke 名称…";
    what_it_is_called_here = "Name of the machine", "机器名称";
    how_it_is_reached_names_of_your_ssh =
        "SSH address; names of the ssh configuration work too",
        "SSH 地址；也可用 ssh 配置中的名称";
    dial_in = "It dials in, with the token that is printed", "由其主动连接，使用打印出的令牌";
    identity_file =
        "A private key on the server, readable by its user alone",
        "服务器上的私钥文件，仅其用户可读";
    label_option =
        "For `submit --node KEY=VALUE`; several times",
        "供 `submit --node 键=值` 选择；可多次";
    accept_new_key = "Trust the host key that it shows the first time", "信任首次出示的主机密钥";
    sudo =
        "Become root there by sudo without a password",
        "在该机器上用免密 sudo 成为 root";
    run_directory = "Run directory, on a local disk", "运行目录，须在本地磁盘";
    nvidia_smi_path = "nvidia-smi, if it is at an unusual place", "nvidia-smi 的路径，若不在常规位置";
    warn_when_it_has_fewer = "Expected number of GPUs; fewer give a warning", "应有的 GPU 数，少于此数时警告";
    role_data = "`data`: only stores files and runs no tasks", "`data`：仅存放文件，不运行任务";
    shared_log_directory =
        "Logs go to this directory, which it shares with the server",
        "日志写入此目录，须与服务器共享";
    simulate_so_many_gpus_there = "Simulate this many GPUs there", "模拟的 GPU 数";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    which_machine = "Which machine", "哪台机器";
    label_argument = "A label to set, or one to take away", "要设置或去掉的标签";
    force = "Even if they may still be running", "即使可能仍在运行";
    key_value_sets_it_key_takes_it_away = "KEY=VALUE sets it, KEY- takes it away", "键=值 设置，键- 去掉";
    which = "Which", "哪一台";
    how_it_is_reached = "SSH address", "SSH 地址";
    run_directory_edit = "Run directory; no task may be running there", "运行目录；其上不能有任务运行";
    which_machines = "Which", "哪些";
    print_one_json_document_for_each = "Print one JSON document for each", "每台输出一个 JSON 文档";
    added_connecting(name) =
        "added {name}; the server is connecting. Progress: danlu node check {name}\n",
        "已添加 {name}，服务器正在连接。查看进展：danlu node check {name}\n";
    nothing_is_to_be_changed = "nothing to change", "没有要更改的内容";
    changed_reconnecting(name) =
        "changed {name}; the server is reconnecting. Progress: danlu node check {name}\n",
        "已更改 {name}，服务器正在重新连接。查看进展：danlu node check {name}\n";
    listens_locally_only =
        "\nThis server listens on its own machine only. For others: danlu up --listen 0.0.0.0:8787\n",
        "\n本服务器只在本机监听。若要供其他机器连接：danlu up --listen 0.0.0.0:8787\n";
    dial_in_token(name, address, token, warning) =
        "{name} may dial in with this token, which is shown this once. On {name}:\n\n  \
         danlu agent install {address} --token {token}\n{warning}",
        "{name} 可用此令牌连接；令牌只显示这一次。在 {name} 上运行：\n\n  \
         danlu agent install {address} --token {token}\n{warning}";
    name_cannot_dial_in_any_more(name) = "{name} can no longer dial in\n", "{name} 不能再连接\n";
    removed_name(name) = "removed {name}\n", "已移除 {name}\n";
    name_has_no_labels(name) = "{name} has no labels\n", "{name} 没有标签\n";
    name_labels(name, labels) = "{name}: {labels}\n", "{name}：{labels}\n";
    nothing_ran_on_name(name) = "nothing ran on {name}\n", "{name} 上没有任务在运行\n";
    still_running_there(name) =
        "tasks still running on {name} are ended when it comes back; until then they may write to the same files as their next runs",
        "{name} 上仍在运行的任务会在其恢复后结束；在此之前，它可能与重新运行的任务写同一批文件";
    lost_on_name_tasks_tasks(name, tasks) = "lost on {name}: tasks {tasks}\n", "{name} 上失联的任务：{tasks}\n";
    drained_but_running(name, tasks) =
        "{name} is draining; {tasks} tasks are still running there\n",
        "{name} 正在排空；其上仍有 {tasks} 个任务在运行\n";
    name_gets_nothing_new(name) = "{name} is drained\n", "{name} 已排空\n";
    name_gets_tasks_again(name) = "{name} accepts tasks again\n", "{name} 恢复接受任务\n";
    ending_unknown_runs(name) = "ending unknown runs on {name}\n", "正在结束 {name} 上未知的运行\n";
    accepted(name) =
        "the machine that answers at {name}'s address is {name} from now on\n",
        "此后在 {name} 的地址应答的机器即为 {name}\n";
}

//! Sentences of cli/doctor.

messages! {
    check_this_machine_and_say_what_to_fix = "Check this machine, and say what to fix", "检查本机并说明如何修复";
    danlu_doctor_options = "danlu doctor [OPTIONS]", "danlu doctor [选项]";
    the_exit_code_is_1_when_something_has_to_be =
        "The exit code is 1 when something has to be fixed.",
        "有需要修复的问题时退出码为 1。";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    fine = "fine ", "正常";
    note = "note ", "提示";
    wrong = "wrong", "问题";
    an_admin = "an admin", "管理员";
    a_user = "a user", "普通用户";
    the_server_answers_at_at_you_are_user_role(at, user, role) =
        "the server answers at {at}; you are {user}, {role}",
        "服务器 {at} 可用；当前用户 {user}，{role}";
    open_is_not_encrypted_plain_http_passwords(open) =
        "{open} is not encrypted (plain_http): passwords and tokens can be read on the network",
        "{open} 未加密（plain_http）：网络上可以读到密码和令牌";
    leave_plain_http_out_for_https_or_listen_on =
        "remove plain_http to use HTTPS, or listen on 127.0.0.1 behind an encrypting proxy",
        "去掉 plain_http 以使用 HTTPS，或只监听 127.0.0.1 并由代理加密";
    machine_name_takes_no_tasks_state(name, state) =
        "machine {name} accepts no tasks: {state}",
        "机器 {name} 不接受任务：{state}";
    the_server_has_found_no_gpus_only_g_0_tasks =
        "the server has found no GPUs: only -g 0 tasks can run",
        "服务器没有发现 GPU：只能运行 -g 0 的任务";
    nvidia_smi_shows_whether_the_driver_works = "nvidia-smi shows whether the driver works", "nvidia-smi 可查看驱动是否正常";
    the_server_has_found_count_gpus(count) = "the server has found {count} GPUs", "服务器发现 {count} 块 GPU";
    gpu_place_is_not_given_out_state(place, state) =
        "GPU {place} is not assigned to tasks: {state}",
        "GPU {place} 不参与分配：{state}";
    the_nvidia_driver_is_there = "the NVIDIA driver is installed", "NVIDIA 驱动已安装";
    there_is_an_nvidia_driver_but_no_nvidia_smi =
        "there is an NVIDIA driver, but no nvidia-smi",
        "有 NVIDIA 驱动，但没有 nvidia-smi";
    install_the_tools_of_the_driver_nvidia_utils =
        "install the tools of the driver (nvidia-utils)",
        "请安装驱动工具（nvidia-utils）";
    control_groups_v2_are_there = "cgroup v2 is available", "cgroup v2 可用";
    no_control_groups_v2_tasks_are_ended_by =
        "no cgroup v2: tasks are stopped process by process, and memory limits are not enforced",
        "没有 cgroup v2：只能逐个结束任务的进程，且无法限制内存";
    boot_with_systemd_unified_cgroup_hierarchy_1 =
        "boot with systemd.unified_cgroup_hierarchy=1",
        "启动参数：systemd.unified_cgroup_hierarchy=1";
    shown_is_on_a_network_file_system_kind(shown, kind) =
        "{shown} is on a network file system ({kind})",
        "{shown} 位于网络文件系统（{kind}）";
    danlu_up_data_dir_with_a_directory_on_a_local =
        "danlu up --data DIR with a directory on a local disk",
        "danlu up --data 目录，选用本地磁盘上的目录";
    room_free_for_data_in_shown(room, shown) = "{room} free for data in {shown}", "数据目录 {shown} 可用空间 {room}";
    make_room_submits_are_refused_when_it_is_full =
        "free some space: submissions are refused when it is full",
        "请清理磁盘：空间不足时无法提交";
    at_most_most_files_can_be_open_at_once(most) = "at most {most} files can be open at once", "最多同时打开 {most} 个文件";
    a_server_of_your_own_would_end_when_you_log =
        "a server run by this user ends when the user logs out",
        "当前用户启动的服务器会在注销时结束";
}

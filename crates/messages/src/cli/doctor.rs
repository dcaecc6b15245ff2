//! Sentences of cli/doctor.

messages! {
    about = "Check this machine, and say what to fix", "检查本机并说明如何修复";
    danlu_doctor_options = "danlu doctor [OPTIONS]", "danlu doctor [选项]";
    help =
        "The exit code is 1 when something has to be fixed.",
        "有需要修复的问题时退出码为 1。";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    fine = "fine ", "正常";
    note = "note ", "提示";
    wrong = "wrong", "问题";
    role_admin = "an admin", "管理员";
    role_user = "a user", "普通用户";
    server_answers(at, user, role) =
        "the server answers at {at}; you are {user}, {role}",
        "服务器 {at} 可用；当前用户 {user}，{role}";
    not_encrypted(open) =
        "{open} is not encrypted (plain_http): passwords and tokens can be read on the network",
        "{open} 未加密（plain_http）：网络上可以读到密码和令牌";
    encrypt_or_localhost =
        "remove plain_http to use HTTPS, or listen on 127.0.0.1 behind an encrypting proxy",
        "去掉 plain_http 以使用 HTTPS，或只监听 127.0.0.1 并由代理加密";
    machine_name_takes_no_tasks_state(name, state) =
        "machine {name} accepts no tasks: {state}",
        "机器 {name} 不接受任务：{state}";
    no_gpus_found =
        "the server has found no GPUs: only -g 0 tasks can run",
        "服务器没有发现 GPU：只能运行 -g 0 的任务";
    try_nvidia_smi = "nvidia-smi shows whether the driver works", "nvidia-smi 可查看驱动是否正常";
    gpus_found(count) = "the server has found {count} GPUs", "服务器发现 {count} 块 GPU";
    gpu_place_is_not_given_out_state(place, state) =
        "GPU {place} is not assigned to tasks: {state}",
        "GPU {place} 不参与分配：{state}";
    driver_installed = "the NVIDIA driver is installed", "NVIDIA 驱动已安装";
    no_nvidia_smi =
        "there is an NVIDIA driver, but no nvidia-smi",
        "有 NVIDIA 驱动，但没有 nvidia-smi";
    install_nvidia_utils =
        "install the tools of the driver (nvidia-utils)",
        "请安装驱动工具（nvidia-utils）";
    control_groups_v2_are_there = "cgroup v2 is available", "cgroup v2 可用";
    no_cgroup_v2 =
        "no cgroup v2: tasks are stopped process by process, and memory limits are not enforced",
        "没有 cgroup v2：只能逐个结束任务的进程，且无法限制内存";
    boot_with_cgroup_v2 =
        "boot with systemd.unified_cgroup_hierarchy=1",
        "启动参数：systemd.unified_cgroup_hierarchy=1";
    network_file_system(shown, kind) =
        "{shown} is on a network file system ({kind})",
        "{shown} 位于网络文件系统（{kind}）";
    use_local_disk =
        "danlu up --data DIR with a directory on a local disk",
        "danlu up --data 目录，选用本地磁盘上的目录";
    room_free_for_data_in_shown(room, shown) = "{room} free for data in {shown}", "数据目录 {shown} 可用空间 {room}";
    free_disk_space =
        "free some space: submissions are refused when it is full",
        "请清理磁盘：空间不足时无法提交";
    most_open_files(most) = "at most {most} files can be open at once", "最多同时打开 {most} 个文件";
    ends_at_logout =
        "a server run by this user ends when the user logs out",
        "当前用户启动的服务器会在注销时结束";
}

//! Sentences of cli/doctor.

messages! {
    about = "Check this machine and the server, and say what to fix", "检查本机和服务器并说明如何修复";
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
    server_clock_right = "the clock of the server agrees with this one", "服务器时钟与本机一致";
    server_clock_apart(length) =
        "the clock of the server and the one here differ by {length}",
        "服务器时钟与本机相差 {length}";
    server_clock_unknown(now) = "the server says that it is `{now}`", "服务器报告的时间是 `{now}`";
    machine_clock_apart(name, length) =
        "the clocks of machine {name} and of the server differ by {length}",
        "机器 {name} 与服务器的时钟相差 {length}";
    synchronise_clocks = "timedatectl set-ntp true, on both", "在两边执行：timedatectl set-ntp true";
    compare_versions = "compare the versions: danlu version", "请比较版本：danlu version";
    machine_disk(room, name) = "{room} free on machine {name}", "机器 {name} 可用空间 {room}";
    disk_unknown(path) = "the disk of {path} does not answer", "{path} 所在的磁盘没有响应";
    look_at_the_disk = "df and dmesg tell more", "可用 df 和 dmesg 查看";
    listens_at(addresses) = "the server listens at {addresses}", "服务器监听 {addresses}";
    does_not_listen_at(addresses) =
        "the server does not listen at {addresses}, which the configuration names",
        "配置中的 {addresses} 没有被监听";
    see_who_has_the_port = "ss -ltnp shows who has the port; then restart the server", "ss -ltnp 可查看谁占用端口；然后重启服务器";
    certificate_ends(path, date) = "the certificate {path} is valid until {date}", "证书 {path} 有效期至 {date}";
    certificate_ended(path, date) =
        "the certificate {path} has been invalid since {date}",
        "证书 {path} 已于 {date} 失效";
    certificate_unreadable(path) = "the certificate {path} cannot be read", "无法读取证书 {path}";
    renew_certificate =
        "renew it, and restart the server; one of Danlu's own is made anew when its file is removed",
        "请更新证书并重启服务器；删除 Danlu 自己的证书文件后会重新生成";
    mail_is_taken(server) = "the mail server {server} accepts mail from Danlu", "邮件服务器 {server} 接受 Danlu 的邮件";
    mail_is_not_taken(server, problem) =
        "no mail can be sent through {server}: {problem}",
        "无法通过 {server} 发送邮件：{problem}";
    mend_mail =
        "correct [notify.email] in the configuration file, then: danlu reload && danlu notify test",
        "请修正配置文件中的 [notify.email]，然后执行：danlu reload && danlu notify test";
    server_open_files(most) =
        "the server can have {most} files open at most",
        "服务器最多同时打开 {most} 个文件";
    raise_limit_nofile = "LimitNOFILE=1024:524288 in its unit", "在其 unit 中设置 LimitNOFILE=1024:524288";
    unit_is_right = "the systemd unit lets tasks live on while the server restarts", "systemd unit 设置正确：服务器重启时任务继续运行";
    kill_mode =
        "the systemd unit has another KillMode than process: tasks end when the server restarts",
        "systemd unit 的 KillMode 不是 process：服务器重启时任务会被结束";
    no_delegation =
        "the systemd unit has no Delegate=yes: tasks have no control groups of their own",
        "systemd unit 没有 Delegate=yes：任务没有自己的 cgroup";
    oom_policy =
        "the systemd unit has another OOMPolicy than continue: one task without memory ends all others",
        "systemd unit 的 OOMPolicy 不是 continue：一个任务内存不足会结束其他所有任务";
    install_the_unit = "danlu service install writes it anew", "danlu service install 会重新生成";
    ends_at_logout =
        "a server run by this user ends when the user logs out",
        "当前用户启动的服务器会在注销时结束";
    influxdb_fine(target) = "InfluxDB {target} takes points", "InfluxDB {target} 正常接收数据点";
    influxdb_failing(target, answer, waiting) =
        "InfluxDB {target} does not take points: {answer}; {waiting} wait",
        "InfluxDB {target} 不接收数据点：{answer}；{waiting} 个在等待";
    check_influxdb =
        "see that it runs, that the database or bucket exists, and that user or token may write",
        "请确认它在运行、数据库或 bucket 存在，且用户或令牌有写权限";
    influxdb_lost(target, count) =
        "InfluxDB {target}: {count} points were refused, or dropped because too many waited",
        "InfluxDB {target}：{count} 个数据点被拒绝，或因等待过多而丢弃";
    see_server_log = "danlu logs server shows why", "danlu logs server 可查看原因";
}

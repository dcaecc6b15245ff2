//! Sentences about machines.

messages! {
    ssh_not_started(error) = "ssh could not be started: {error}", "无法启动 ssh：{error}";
    host_key_unknown = "the machine's host key is not known", "机器的主机密钥未知";
    host_key_changed = "the machine shows another host key than before", "机器出示的主机密钥与以前不同";
    log_in_refused(said) = "the log-in was refused: {said}", "登录被拒绝：{said}";
    sudo_refused(said) = "sudo was refused: {said}", "sudo 被拒绝：{said}";
    name_not_resolved(said) = "its host name cannot be resolved: {said}", "无法解析主机名：{said}";
    sshd_unreachable(said) = "its sshd cannot be reached: {said}", "无法连接其 sshd：{said}";
    ssh_failed(said) = "ssh failed: {said}", "ssh 出错：{said}";
    connection_closed = "the connection was closed", "连接已关闭";
    machine_silent = "the machine does not answer", "机器没有应答";
    account_unknown = "the machine does not report which user was logged in", "机器没有说明登录的账户";
    other_architecture(theirs, ours) =
        "the machine is a {theirs}, but this server's program is for {ours}",
        "机器架构是 {theirs}，而服务器的程序用于 {ours}";
    no_program_directory = "no directory for the program could be made there", "无法在该机器上创建程序目录";
    program_not_written = "the program could not be written there", "无法在该机器上写入程序";
    program_damaged = "the program arrived damaged", "程序在传输中损坏";
    program_unreadable(error) =
        "the server cannot read its own program: {error}",
        "服务器无法读取自己的程序：{error}";
    not_dialled_in = "its agent has not dialled in yet", "其代理尚未连接";
    agent_silent = "its agent does not answer", "其代理没有应答";
    agent_invalid(said) = "its agent sent an invalid message: {said}", "其代理发来无效的消息：{said}";
    agent_anonymous = "its agent does not identify itself", "其代理没有说明自己的身份";
    other_protocol(version, theirs, ours) =
        "its agent ({version}) speaks protocol {theirs}, but this server speaks {ours}",
        "其代理（{version}）使用协议 {theirs}，而服务器使用 {ours}";
    other_machine(host_name) =
        "another machine ({host_name}) answers at this address",
        "在此地址应答的是另一台机器（{host_name}）";
    identity_not_stored = "the identity of the machine could not be stored", "无法保存该机器的标识";
    same_run_directory(other) =
        "{other} is the same machine with the same directory for its runs",
        "{other} 是同一台机器，且使用相同的运行目录";
    reconnecting = "reconnecting", "正在重新连接";
    connection_silent = "the connection went silent", "连接没有响应";
    user_connection_lost = "a user's own connection was lost", "某位用户自己的连接已断开";
    user_connection_lost_because(why) =
        "a user's own connection was lost: {why}",
        "某位用户自己的连接已断开：{why}";
    user_key_changed = "the key was changed", "密钥已更换";
    user_key_unusable = "the key cannot be used", "密钥无法使用";
    user_key_of_other_route =
        "the key was given when the machine was reached in another way",
        "给出密钥后，机器的连接方式已改变";
    not_reached_by_ssh = "the machine is not reached by SSH", "该机器不通过 SSH 连接";
    ssh_route_unknown(said) =
        "ssh does not say where the machine is: {said}",
        "ssh 没有给出机器的地址：{said}";
    ssh_route_silent =
        "ssh does not say where the machine is: it does not answer",
        "ssh 没有给出机器的地址：没有应答";
    proxy_jump_invalid(jumps) =
        "the ssh configuration has an invalid ProxyJump: {jumps}",
        "ssh 配置中的 ProxyJump 无效：{jumps}";
    key_of_root =
        "this key logs in as root, and tasks of users never run as root",
        "此密钥以 root 登录，而用户的任务不能以 root 运行";
    key_of_server(login) = "{login} is the server's own login there", "{login} 是服务器自己在该机器上的登录名";
    key_of_other_login(login, wanted) =
        "this key logs in as {login}, not as {wanted}",
        "此密钥登录的账户是 {login}，而不是 {wanted}";
    login_taken(login) =
        "another user is already connected as {login} there",
        "已有其他用户以 {login} 的身份连接该机器";
    key_of_other_machine(host_name) =
        "another machine ({host_name}) answers to this key",
        "接受此密钥的是另一台机器（{host_name}）";
    too_few_gpus(found, expected) =
        "has {found} GPUs, and should have {expected}",
        "有 {found} 块 GPU，应有 {expected} 块";
    unfit(detail) = "it cannot start tasks: {detail}", "无法启动任务：{detail}";

    install_ssh =
        "install the OpenSSH client on the server",
        "请在服务器上安装 OpenSSH 客户端";
    let_host_key_in =
        "log in once as the server's user with ssh, or add the node with --accept-new-key",
        "请先以服务器的用户用 ssh 登录一次，或添加机器时使用 --accept-new-key";
    remove_old_host_key(remove) =
        "if the machine was replaced, remove its old key with {remove}",
        "若机器已更换，请删除旧密钥：{remove}";
    check_authorized_keys =
        "check that the key is in authorized_keys there, and give it with --identity",
        "请确认公钥已在该机器的 authorized_keys 中，并用 --identity 指定私钥文件";
    allow_sudo =
        "allow it without a password: USER ALL=(root) NOPASSWD: /home/USER/.cache/danlu/*",
        "请允许免密码使用：USER ALL=(root) NOPASSWD: /home/USER/.cache/danlu/*";
    check_name = "check the name of the machine", "请检查机器名称";
    check_sshd =
        "check that the machine is on and that its sshd can be reached",
        "请确认机器已开机且可以连接其 sshd";
    read_sshd_log = "read the log of its sshd", "请查看其 sshd 日志";
    check_load = "check whether it is overloaded", "请检查它是否过载";
    check_id_program = "check that it has the command `id`", "请确认该机器上有命令 `id`";
    install_and_dial_in =
        "install danlu there and let it dial in: danlu agent join",
        "请在该机器上安装 danlu，并让它主动连接：danlu agent join";
    check_home_directory =
        "check that its home directory exists and has room",
        "请确认主目录存在且有空间";
    sent_again = "it is sent again with the next try", "下次尝试时会重新发送";
    check_proc = "check that /proc is mounted on the server", "请确认服务器上已挂载 /proc";
    join_from_there =
        "run there: danlu agent join URL --token TOKEN",
        "请在该机器上运行：danlu agent join URL --token TOKEN";
    check_dial_in_agent =
        "check its agent: it dials in again by itself",
        "请检查其代理；它会自动重新连接";
    check_what_runs_there =
        "check what runs there under the name of danlu",
        "请检查该机器上以 danlu 为名运行的程序";
    same_release = "bring both to the same release", "请让两者使用同一版本";
    accept_machine(node) =
        "if it has replaced the old one: danlu node accept {node}",
        "若它已替换原机器：danlu node accept {node}";
    check_server_disk = "check the disk of the server", "请检查服务器的磁盘";
    remove_or_move(node) =
        "remove one of them: danlu node remove {node}; or: danlu node edit {node} --data DIR",
        "请移除其中一个：danlu node remove {node}；或：danlu node edit {node} --data 目录";
    check_network = "check the network", "请检查网络";
    reconnects_by_itself = "it reconnects by itself", "会自动重新连接";
    give_key_again(node) =
        "give it again: danlu user ssh {node} --user USER --key FILE",
        "请重新给出：danlu user ssh {node} --user 用户 --key 文件";
    check_ssh_configuration =
        "check the ssh configuration of the server's user",
        "请检查服务器用户的 ssh 配置";
    give_own_account =
        "give the name and the key of an account of your own",
        "请给出您自己账户的名称和密钥";
    one_account_each = "each user needs an account of their own", "每位用户都需要自己的账户";
    run_nvidia_smi = "run nvidia-smi there", "请在该机器上运行 nvidia-smi 检查";
    raise_open_files =
        "raise the limit of open files there: ulimit -n",
        "请提高该机器的打开文件数限制：ulimit -n";
    check_process_limit =
        "check the limit of processes there: ulimit -u, pids.max",
        "请检查该机器的进程数限制：ulimit -u, pids.max";
    free_memory = "free memory there", "请释放该机器的内存";
    make_room = "make room there", "请清理磁盘空间";
    check_disk = "check the disk there: dmesg", "请检查该机器的磁盘：dmesg";
    read_agent_log = "read the log of its agent", "请查看其代理的日志";

    server_machine = "it is the machine that the server runs on", "它是服务器所在的机器";
    reached(route) = "reached: {route}", "已连接：{route}";
    has_program = "has the program", "已有程序";
    agent_runs = "its agent runs", "代理程序已运行";
    speaks(version) = "speaks version {version}", "版本 {version}";
    login_of_root(login) =
        "the agent is {login}: tasks can run as any user",
        "代理以 {login} 运行：任务可以任何用户的身份运行";
    login_of_one(login) =
        "the agent is {login}: tasks can run as this login, and as users who have given a key of their own",
        "代理以 {login} 运行：任务可以该账户的身份运行，或以给出自己密钥的用户的身份运行";
    clock_off(off_ms) = "its clock is {off_ms} ms off", "时钟相差 {off_ms} 毫秒";
    use_ntp = "let it use NTP, as chrony does", "请使用 NTP 校时，如 chrony";
    disk_free(free_gb, directory, file_system) =
        "{free_gb} GB free in {directory} ({file_system}), where runs are kept",
        "运行目录 {directory}（{file_system}）剩余 {free_gb} GB";
    no_driver = "no driver of GPUs is loaded", "未加载 GPU 驱动";
    gpu_probe(probe) = "GPUs are asked by: {probe}", "GPU 查询方式：{probe}";
    same_machine(others) = "looks like the same machine as {others}", "与以下机器似乎是同一台：{others}";
    metric_not_started(name, error) = "metric {name}: its command cannot be started: {error}", "指标 {name}：命令无法启动：{error}";
    metric_timed_out(name) = "metric {name}: its command did not end in time and was ended", "指标 {name}：命令超时，已终止";
    metric_status(name, status) = "metric {name}: its command failed: {status}", "指标 {name}：命令失败：{status}";
    metric_output(name, line) = "metric {name}: its command did not print numbers, but: {line}", "指标 {name}：命令输出的不是数字：{line}";
}

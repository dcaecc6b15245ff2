//! What the server answers when it refuses or fails, and what to do about it.

messages! {
    dependency_failed(on) = "task {on} did not end as required", "任务 {on} 没有按要求结束";
    archived_dependency(task) = "task {task} did not end as required", "任务 {task} 没有按要求结束";
    drop_archived_dependency = "it is in the archive; remove that dependency", "它已归档；请去掉这个依赖";
    gave_up(attempts) = "its machine failed in {attempts} attempts", "{attempts} 次尝试均因机器故障中断";
    for_data_only(name) = "{name} only stores data and runs no tasks", "{name} 仅存放数据，不运行任务";
    give_it_tasks(name) =
        "danlu nodes lists the machines; danlu node edit {name} --role tasks",
        "用 danlu nodes 查看机器；danlu node edit {name} --role tasks 让它运行任务";
    too_few_run_tasks(asked, count, name) =
        "it needs {asked} machines, but only {count} run tasks ({name} only stores data)",
        "需要 {asked} 台机器，可运行任务的有 {count} 台（{name} 仅存放数据）";
    see_server_log = "see danlu logs server", "详见 danlu logs server";
    tasks_run_there(name, list) = "tasks are running on {name}: {list}", "{name} 上有任务在运行：{list}";
    more_tasks_run_there(name, list, rest, all) =
        "tasks are running on {name}: {list} and {rest} more",
        "{name} 上有任务在运行：{list} 等共 {all} 个";
    wait_or_declare_lost(name) =
        "{name} is unreachable: wait until it is back, or give the tasks up: danlu node declare-lost {name} --force",
        "{name} 已失联：请等待其恢复，或放弃这些任务：danlu node declare-lost {name} --force";
    wait_or_cancel(ids) =
        "wait until they have ended, or cancel them: danlu cancel {ids}",
        "请等待其结束，或取消：danlu cancel {ids}";
    disk_nearly_full(directory, free, kept) =
        "the disk of {directory} is nearly full: {free} MB free, {kept} MB reserved for running tasks",
        "{directory} 所在磁盘几乎已满：剩余 {free} MB，其中 {kept} MB 留给运行中的任务";
    make_room = "free some space on that disk; running tasks are not affected", "请清理该磁盘；运行中的任务不受影响";
    stopping = "the server is stopping", "服务器正在停止";
    start_again = "start it again: danlu up", "请重新启动：danlu up";
    internal_error(report) =
        "internal error: the request could not be processed; see the report {report}",
        "内部错误：无法处理该请求；报告在 {report}";
    send_report =
        "nothing was changed; ask an administrator to send that report to the authors of Danlu",
        "没有任何改动；请管理员把该报告发给丹炉的作者";
    database_behind(path, found, known) =
        "{path} is older than expected: it has {found} events instead of {known}; a file beside it (danlu.db-wal) was lost, or an older copy was put in its place",
        "{path} 比预期旧：现有 {found} 个事件，应有 {known} 个；旁边的文件（danlu.db-wal）丢失，或被换成了较旧的副本";
    name_twice = "duplicate name", "名称重复";
    name_of_its_own = "give each machine a unique name", "请给每台机器一个不同的名称";
    too_many_bytes_of_requests(most) =
        "too much request data at once: at most {most} bytes",
        "同时处理的请求数据过多：最多 {most} 字节";
    too_many_bytes_of_answers(most) =
        "too much unread response data: at most {most} bytes",
        "尚未读取的响应数据过多：最多 {most} 字节";
    too_slow = "the request arrived too slowly", "请求发送得太慢";
    no_directory(path) = "there is no directory {path}", "没有目录 {path}";
    no_directory_on(path, node) = "there is no directory {path} on {node}", "{node} 上没有目录 {path}";
    no_directory_for(directory, file) =
        "there is no directory {directory} for {file}",
        "没有存放 {file} 的目录 {directory}";
    no_directory_for_on(directory, file, node) =
        "there is no directory {directory} for {file} on {node}",
        "{node} 上没有存放 {file} 的目录 {directory}";
    is_a_directory(path) = "{path} is a directory", "{path} 是目录";
    directory_on(path, node) = "{path} is a directory on {node}", "{node} 上的 {path} 是目录";
    still_not_reached(name, problem) = "{name} still cannot be reached: {problem}", "仍然无法连接 {name}：{problem}";
    no_user_of_line(name) =
        "there is no user `{name}` here; add them first: danlu user add {name}",
        "没有用户 `{name}`；请先添加：danlu user add {name}";
    not_an_ended_task = "this is not an ended task", "这不是已结束的任务";
    no_such_archive_line(number) = "no archive has a line {number}", "归档文件不会有第 {number} 行";
    too_many_archive_lines(most) = "too many lines: at most {most}", "行数过多：最多 {most} 行";
    bad_archive_line(number, what) = "line {number}: {what}", "第 {number} 行：{what}";
    correct_archive_line =
        "correct or delete that line and import the file again; what is here already is skipped",
        "请修正或删除该行后重新导入该文件；已导入的会跳过";
    archive_not_written(error) = "the archive cannot be written: {error}", "无法写入归档：{error}";
    see_that_there_is_room_on_the_disk = "check the free space on the disk", "请检查磁盘剩余空间";
    try_again_in_a_moment = "try again in a moment", "请稍后重试";
    make_room_on_that_disk = "free some space on that disk", "请清理该磁盘";
    see_log_of_server = "see the server's log: danlu logs server", "请查看服务器日志：danlu logs server";
    must_be_private =
        "it must belong to the user who starts the server and be writable by no one else; remove it, or choose another data directory with --data",
        "它必须属于启动服务器的用户，且其他人不能写入；请删除它，或用 --data 指定其他数据目录";
    free_space_then_start =
        "free some space on that disk, then start the server again",
        "请清理该磁盘，然后重新启动服务器";
    choose_data_directory = "choose another data directory with --data", "请用 --data 指定其他数据目录";
    choose_local_data_directory =
        "choose a directory on a local disk with --data",
        "请用 --data 指定本地磁盘上的目录";
    stop_it_first_danlu_down = "stop it first: danlu down", "请先停止它：danlu down";
    name_a_backup =
        "nothing was changed; name a file made by `danlu backup`",
        "没有任何改动；请指定 `danlu backup` 生成的文件";
    run_the_newer_release = "run the newer release", "请使用较新的版本";
    check_space_and_permission = "check the free space and the write permission", "请检查剩余空间和写权限";
    name_config_file =
        "name an existing, readable file, or leave --config out",
        "请指定存在且可读的文件，或去掉 --config";
    correct_the_line =
        "correct the line, or remove it to use the default",
        "请修正该行，或去掉它以使用默认值";
    one_local_data_directory =
        "the data directory must be on a local disk and used by one server only",
        "数据目录须在本地磁盘上，且只供一个服务器使用";
    choose_listen_address =
        "choose another address with --listen, for example 127.0.0.1:0",
        "请用 --listen 指定其他地址，例如 127.0.0.1:0";
    check_tls_files =
        "check certificate and key in [tls] of the configuration file",
        "请检查配置文件 [tls] 中的证书和密钥";
    see_the_message_above = "see the message above", "见上面的消息";
    password_too_short = "the password is too short: at least 8 characters", "密码太短：至少 8 个字符";
    password_too_long = "the password is too long: at most 1024 bytes", "密码太长：最多 1024 字节";
    password_is_name = "the password must differ from the user name", "密码不能与用户名相同";
    unknown_page_action = "unknown action", "未知操作";
    choose_one_from_the_list = "choose one from the list", "请从列表中选择";
    ids_are_numbers = "task ids are numbers", "任务编号是数字";
    choose_tasks_from_the_list = "choose tasks from the list", "请从列表中选择任务";
    go_back_and_send_it_again = "go back and send it again", "请返回并重新提交";
    gpus_and_slots_are_numbers = "GPUs and slots are numbers", "GPU 编号和槽位数是数字";
    go_back_and_choose_again = "go back and choose again", "请返回重新选择";
    too_many_anonymous_requests(wait) =
        "too many requests without logging in: wait {wait} s",
        "未登录的请求过多：请等待 {wait} 秒";
    log_in = "log in", "请登录";
    page_not_rendered(error) = "the page could not be rendered: {error}", "页面无法生成：{error}";
    report_this = "please report this", "请报告此问题";
    pair_is_not_machine_user(pair) = "invalid `{pair}`: expected MACHINE=USER", "`{pair}` 无效：应为 机器=用户";
    such_as_gpu7_asmith = "for example gpu7=asmith", "例如 gpu7=asmith";
    field_is_a_number(field) = "`{field}` must be a number", "`{field}` 须为数字";
    example_number = "for example 1 or 0.5", "例如 1 或 0.5";
    see_the_token = "check the token", "请检查令牌";
    issue_new_token =
        "an administrator can issue a new one: danlu node token NAME",
        "管理员可换发令牌：danlu node token 名称";
    no_machine_has_this_token = "no machine has this token", "没有机器使用此令牌";
    path_is_not_a_whole_path(path) = "{path} is not an absolute path", "{path} 不是绝对路径";
    begin_it_with = "it must begin with /", "须以 / 开头";
    give_ssh_or_dial_in =
        "give --ssh USER@HOST, or --dial-in if the server cannot reach the machine",
        "请用 --ssh 用户@主机；若服务器无法连接该机器，请用 --dial-in";
    leave_out_ssh_fields =
        "leave out identity, sudo and accept_new_key",
        "请去掉 identity、sudo 和 accept_new_key";
    dial_in_needs_no_login =
        "identity, sudo and accept_new_key are for SSH only: this machine dials in",
        "identity、sudo 和 accept_new_key 只用于 SSH，而此机器主动连入";
    ssh_or_dial_in =
        "a machine is either reached by SSH or dials in, not both",
        "机器要么通过 SSH 连接，要么主动连入，不能同时";
    no_way_to_machine = "how to reach the machine is missing", "缺少机器的连接方式";
    bad_machine_name(name) = "invalid machine name: {name}", "机器名无效：{name}";
    machine_name_letters = "use letters, digits, dots and dashes: gpu7", "请使用字母、数字、点和连字符：gpu7";
    for_example_ssh_alice_gpu7_22 = "for example: --ssh alice@gpu7:22", "例如：--ssh alice@gpu7:22";
    port_is_not_a_port(port) = "invalid port: {port}", "端口无效：{port}";
    host_is_not_the_name_of_a_machine(host) = "invalid host name: {host}", "主机名无效：{host}";
    user_is_not_the_name_of_a_user(user) = "invalid user name: {user}", "用户名无效：{user}";
    give_private_key_file =
        "give a private key file that only the server's user can read: chmod 600",
        "请指定只有服务器用户可读的私钥文件：chmod 600";
    display_is_not_a_whole_path(display) = "{display} is not an absolute path", "{display} 不是绝对路径";
    key_problem(display, error) = "the key {display}: {error}", "密钥 {display}：{error}";
    others_may_read_the_key_display(display) =
        "the key {display} is readable by other users",
        "密钥 {display} 可被其他用户读取";
    send_less_or_raise(setting) =
        "send less at once, or ask an administrator to raise {setting}",
        "请减小单次请求，或请管理员提高 {setting}";
    send_the_request_again = "send the request again", "请重新发送请求";
    closed_for_others =
        "the connection was closed to make room for other connections",
        "为给其他连接让位，该连接已关闭";
    try_again = "try again", "请重试";
    too_many_connections_of_user(uid, most) =
        "too many connections of OS user {uid}: at most {most}",
        "操作系统用户 {uid} 的连接过多：最多 {most} 个";
    close_clients_user =
        "close some clients, or ask an administrator to raise limits.connections_per_user",
        "请关闭一些客户端，或请管理员提高 limits.connections_per_user";
    too_many_connections_from(address, most) =
        "too many connections from {address}: at most {most}",
        "来自 {address} 的连接过多：最多 {most} 个";
    close_clients_address =
        "close some clients, or ask an administrator to raise limits.connections_per_address",
        "请关闭一些客户端，或请管理员提高 limits.connections_per_address";
    too_many_connections_at_most_most(most) = "too many connections: at most {most}", "连接过多：最多 {most} 个";
    retry_or_raise_connections =
        "try again later, or ask an administrator to raise limits.connections",
        "请稍后重试，或请管理员提高 limits.connections";
    send_json =
        "send a JSON document with content-type: application/json",
        "请发送 JSON 文档，并带 content-type: application/json";
    not_declared_json = "the request does not declare a JSON body", "请求没有声明 JSON 请求体";
    not_a_json_object = "the body is not a JSON object", "请求体不是 JSON 对象";
    request_too_large_mb(most) = "the request is larger than {most} MB", "请求超过 {most} MB";
    send_less =
        "send less at once: a smaller array, a shorter command, fewer variables",
        "请减小单次请求：更小的数组、更短的命令、更少的变量";
    token_not_for_accounts = "permission denied: this token may not change accounts", "没有权限：此令牌不能修改账号";
    use_admin_token = "use a token with scope admin, or log in", "请使用 admin 范围的令牌，或登录";
    token_read_only = "permission denied: this token is read-only", "没有权限：此令牌为只读";
    make_submit_token =
        "create one with scope submit: danlu token new NAME --scope submit",
        "请创建 submit 范围的令牌：danlu token new 名称 --scope submit";
    change_password_first = "the password must be changed first", "须先修改密码";
    choose_a_new_one_on_the_page_me = "choose a new one on the page `me`", "请在“我的”页面设置新密码";
    not_run_as_root =
        "this server does not run as root and serves only its own user",
        "此服务器未以 root 启动，只为启动它的用户服务";
    use_root_server =
        "start a server of your own, or use one that runs as root",
        "请启动自己的服务器，或使用以 root 运行的服务器";
    account_of_another(name, os_name) =
        "permission denied: the account {name} belongs to the OS user {os_name}",
        "没有权限：账号 {name} 属于系统用户 {os_name}";
    ask_for_another_account = "ask an administrator for an account with another name", "请联系管理员另建账号";
    no_account_could_be_made = "the account could not be created", "无法创建账号";
    internal = "internal error", "内部错误";
    see_the_servers_log = "see the server log", "请查看服务器日志";
    several_machines = "there are several machines", "有多台机器";
    say_which_one_node_name = "choose one: --node NAME", "请指定机器：--node 名称";
    no_such_machine(name) = "there is no machine {name}", "没有机器 {name}";
    gpu_not_known(name) = "there is no GPU `{name}`", "没有 GPU“{name}”";
    danlu_gpus_lists_them = "danlu gpus lists the GPUs, as MACHINE:INDEX", "用 danlu gpus 查看，写作 机器:编号";
    danlu_nodes_lists_them = "danlu nodes lists the machines", "用 danlu nodes 查看";
    configuration_kept =
        "correct the file; the server keeps its previous configuration",
        "请修正该文件；服务器继续按原配置运行";
    not_from_our_page =
        "the request did not come from a page of this server",
        "该请求不是来自本服务器的页面";
    reload_page =
        "reload the page (plain HTTP needs JavaScript) or log in again; programs use a token or send X-CSRF-Token",
        "请重新加载页面（未加密的连接需要启用 JavaScript）或重新登录；程序请使用令牌，或发送 X-CSRF-Token";
    no_such_page = "there is no such page", "没有这个页面";
    see_menu =
        "see where the menu leads; /docs/api has the API",
        "请使用上方菜单；API 见 /docs/api";
    who_asks_is_not_known = "authentication required", "需要登录";
    log_in_or_token =
        "log in, or send a token: danlu token new NAME on the machine, then DANLU_TOKEN",
        "请登录，或使用令牌：在服务器上运行 danlu token new 名称，再设置 DANLU_TOKEN";
    try_again_or_ask_an_administrator = "try again, or ask an administrator", "请重试，或联系管理员";
    then_try_again = "then try again", "然后重试";
    type_them_again = "type them again", "请重新输入";
    choose_another = "choose another one", "请换一个密码";
    ask_an_administrator = "ask an administrator", "请联系管理员";
    revoke_some_that_are_not_used = "revoke some that are not used", "请吊销不用的";
    danlu_token_list_lists_them = "danlu token list lists them", "用 danlu token list 查看";
    see_the_list_of_them = "see the list of them", "请查看列表";
    see_that_dev_urandom_is_there = "see that /dev/urandom is there", "请检查 /dev/urandom 是否存在";
    that_is_not_the_id_of_a_task = "that is not the id of a task", "这不是任务编号";
    ids_are_numbers_danlu_ls_lists_them = "ids are numbers: danlu ls lists them", "编号是数字，用 danlu ls 查看";
    see_parameters = "see the names and values of the parameters", "请检查参数的名称和取值";
    name_is_not_a_state(name) = "`{name}` is not a state", "`{name}` 不是任务状态";
    one_of_known(known) = "one of {known}", "可选：{known}";
    log_in_or_send_a_token = "log in, or send a token", "请登录或使用令牌";
    task_id_has_not_run_yet(id) = "task {id} has not run yet", "任务 {id} 尚未运行";
    danlu_why_id_tells_why_it_waits = "danlu why ID tells why it waits", "用 danlu why 编号 查看等待原因";
    task_id_has_no_attempt_attempt(id, attempt) = "task {id} has no attempt {attempt}", "任务 {id} 没有第 {attempt} 次尝试";
    danlu_show_id_lists_them = "danlu show ID lists them", "用 danlu show 编号 查看";
    did_not_run_on(name) = "it did not run on {name}", "它没有在 {name} 上运行";
    danlu_show_id_lists_where_it_ran = "danlu show ID lists where it ran", "用 danlu show 编号 查看运行过的机器";
    no_log_yet = "the log is not there (yet)", "还没有日志";
    see_task_state = "danlu show ID tells the state of the task", "用 danlu show 编号 查看任务状态";
    log_of_another_owner =
        "permission denied: the log file does not belong to the owner of the task",
        "没有权限：日志文件不属于任务所有者";
    look_at_the_file_itself = "open the file itself", "请直接查看该文件";
    log_file_system_stuck = "the file system of the log does not respond", "日志所在的文件系统没有响应";
    check_log_disk =
        "check whether the disk or its server responds: ls -l FILE",
        "请检查磁盘或其服务器是否可用：ls -l 文件";
    log_machine_unreachable = "the machine with the log is unreachable", "无法连接保存日志的机器";
    log_after_reconnect =
        "danlu nodes shows since when; the log is available once it is back",
        "用 danlu nodes 查看离线时间；恢复连接后即可查看日志";
    log_unreadable(error) = "the log cannot be read: {error}", "无法读取日志：{error}";
    see_that_the_disk_is_in_order = "check the disk", "请检查磁盘";
    see_task_fields = "see the fields of POST /tasks", "可用字段见 POST /tasks";
    tasks_use_login(count, name) =
        "{count} of your tasks are running on {name} with this login",
        "有 {count} 个任务正以此登录在 {name} 上运行";
    wait_or_cancel_first(first) =
        "wait for them or cancel them first: danlu wait {first}",
        "请先等待其结束或取消：danlu wait {first}";
    set_os_user_on(name) =
        "an administrator can set your OS user there: danlu user set NAME --os-user-on {name}=USER",
        "管理员可以指定该机器上的系统用户：danlu user set 用户名 --os-user-on {name}=系统用户";
    not_by_ssh(name) =
        "{name} is not reached by SSH and needs no key",
        "{name} 不通过 SSH 连接，无需密钥";
    root_needs_no_key(name) =
        "the server is root on {name} and needs no key",
        "服务器在 {name} 上是 root，无需密钥";
    key_need_unknown(name) =
        "{name} is not connected: whether it needs your key is unknown",
        "{name} 未连接，目前无法确定是否需要密钥";
    retry_when_ready(name) =
        "try again when danlu nodes lists {name} as ready",
        "请在 danlu nodes 显示 {name} 就绪后再试";
    use_login_name =
        "use your login name on that machine, for example ann",
        "请填写该机器上的登录名，例如 ann";
    use_own_account = "use your own account on that machine", "请填写自己在该机器上的账户";
    give_key_too =
        "give the private key as well: --key ~/.ssh/id_ed25519",
        "请同时给出私钥：--key ~/.ssh/id_ed25519";
    remove_some_that_are_not_used = "remove unused ones", "请删除不再使用的项";
    check_data_permissions =
        "ask an administrator to check the permissions of the data directory: chmod 700",
        "请管理员检查数据目录的权限：chmod 700";
    give_keygen_file =
        "give the file written by ssh-keygen, without .pub",
        "请给出 ssh-keygen 生成的文件（不带 .pub）";
    file_without_pub = "it is in the file without .pub", "私钥在不带 .pub 的文件中";
    make_key_without_passphrase =
        "create a separate key without one: ssh-keygen -t ed25519 -N '' -f danlu-key",
        "请另建一个无口令的密钥：ssh-keygen -t ed25519 -N '' -f danlu-key";
    write_it_anew_ssh_keygen_p_n_f_file =
        "convert it: ssh-keygen -p -N '' -f FILE",
        "请转换格式：ssh-keygen -p -N '' -f 文件";
    give_whole_key =
        "it begins with -----BEGIN OPENSSH PRIVATE KEY-----; give the whole file",
        "私钥以 -----BEGIN OPENSSH PRIVATE KEY----- 开头，请给出整个文件";
    no_such_address = "unknown address", "未知地址";
    api_v1_openapi_json_lists_them = "/api/v1/openapi.json lists them", "地址列表见 /api/v1/openapi.json";
    method_not_allowed = "method not allowed", "此地址不支持该方法";
    get_it = "use GET", "请使用 GET";
    no_such_notice = "there is no such notice", "没有这条通知";
    danlu_notices_lists_them = "danlu notices lists them", "用 danlu notices 查看全部通知";
    request_too_large_kb(most) = "the request is larger than {most} KB", "请求超过 {most} KB";
    name_and_password_limits =
        "a name has at most 256 bytes, a password 1024",
        "用户名最长 256 字节，密码最长 1024 字节";
    cookie_not_sent = "the cookie cannot be sent", "无法发送 cookie";
    key_cannot_be_text(key, text) = "invalid value for `{key}`: `{text}`", "`{key}` 的值无效：`{text}`";
    give_duration = "give a duration: 10s, 5m, 1h30m, 2d", "请写时长：10s、5m、1h30m、2d";
    a_size_512m_20g_1_5t =
        "give a size: 512M, 20G, 1.5T or a number of bytes",
        "请写大小：512M、20G、1.5T，或字节数";
    key_cannot_be_that_error(key, error) = "invalid value for `{key}`: {error}", "`{key}` 的值无效";
    danlu_set_shows_the_values = "danlu set shows the values", "用 danlu set 查看取值";
    one_of_join(join) = "one of {join}", "可选：{join}";
    no_such_setting(key) = "there is no setting `{key}`", "没有设置 `{key}`";
    no_account_was_made = "the account was not created", "没有创建账号";
    link_expired = "this link has expired or was already used", "该链接无效或已被使用";
    add_admin_on_server =
        "log in; if there is no administrator, run danlu user add NAME --admin on the server",
        "请登录；没有管理员时，在服务器上运行 danlu user add 名称 --admin";
    needed_by_hidden_task = "another task still waits for it", "另一个任务仍在等待它";
    keep_it_until_that_has_ended = "keep it until that task has ended", "请保留到该任务结束";
    too_many_streams(most) = "too many open streams: at most {most}", "打开的数据流过多：最多 {most} 个";
    retry_or_raise_streams =
        "try again later, or ask an administrator to raise limits.streams",
        "请稍后重试，或请管理员提高 limits.streams";
    too_many_streams_of_user(most_each) =
        "too many open streams of one user: at most {most_each}",
        "单个用户打开的数据流过多：最多 {most_each} 个";
    close_streams =
        "close some pages, logs or waits, or ask an administrator to raise limits.streams_per_user",
        "请关闭一些页面、日志或等待，或请管理员提高 limits.streams_per_user";
    bad_task_description(error) = "invalid task description: {error}", "任务描述无效：{error}";
    see_task_help =
        "see danlu submit --help, or the fields in /api/v1/openapi.json",
        "见 danlu submit --help，或 /api/v1/openapi.json 中的字段";
    unexpected_reply = "unexpected response to a submission", "提交得到了意外的响应";
    no_os_user(name, account) =
        "there is no OS user `{name}` to run the tasks of {account} as",
        "没有可用来运行 {account} 的任务的系统用户 `{name}`";
    set_os_user =
        "an administrator can set one: danlu user set NAME --os-user USER",
        "管理员可以指定：danlu user set 账号 --os-user 系统用户";
    write_variables =
        "write variables as NAME=VALUE, without zero bytes",
        "变量的写法是 名称=值，不能含零字节";
    bad_umask(given) =
        "invalid umask {given}: only permission bits are allowed",
        "umask {given} 无效：只能包含权限位";
    umask_range = "use a number from 0 to 511 (0o777)", "请使用 0 到 511（即 0o777）之间的数";
    shared_and_exclusive =
        "a task uses its GPUs either exclusively or shared, not both",
        "任务要么独占 GPU，要么共享，不能同时";
    shared_or_exclusive = "use --shared or --exclusive", "请用 --shared 或 --exclusive";
    idle_needs_sharing =
        "an idle percentage is for shared tasks only",
        "只有共享 GPU 的任务才能要求空闲比例";
    this_is_no_websocket_handshake_error(error) =
        "not a WebSocket handshake: {error}",
        "不是 WebSocket 握手：{error}";
    it_is_for_agents_danlu_agent = "this address is for agents: danlu agent --help", "此地址供代理使用：danlu agent --help";
    given_is_not_a_time(given) = "invalid time: `{given}`", "时间无效：`{given}`";
    use_rfc_3339 =
        "use RFC 3339: 2026-11-20T22:00:00+08:00",
        "请按 RFC 3339 书写：2026-11-20T22:00:00+08:00";
    directory_not_absolute = "the working directory is not an absolute path", "工作目录不是绝对路径";
    dir_path = "--dir /path", "--dir /路径";
    create_it_or_give_another_with_dir = "create it, or choose another with --dir", "请创建它，或用 --dir 指定其他目录";
    create_it_or_choose_another_file = "create it, or choose another file", "请创建它，或改用其他文件";
    name_file_inside = "name a file in it", "请指定其中的一个文件";
    tasks_cannot_be_asked_to_act(act) = "unknown action for tasks: `{act}`", "任务没有操作 `{act}`";
    bad_act_arguments(error) = "invalid arguments of the action: {error}", "操作的参数无效：{error}";
    act_arguments =
        "{\"position\": 0} for move, {\"more\": 3600} for extend and keep, nothing for the others",
        "move 用 {\"position\": 0}，extend 和 keep 用 {\"more\": 3600}，其他操作不需要参数";
    more_than_most_ids(most) = "too many ids: at most {most}", "编号过多：最多 {most} 个";
    ask_for_fewer_at_once = "send fewer at once", "请减少单次请求的数量";
    cascade_not_allowed = "only `cancel` and `remove` can cascade", "只有 `cancel` 和 `remove` 可以级联";
    leave_cascade_out = "leave `cascade` out", "请去掉 `cascade`";
    search_too_long(most) = "a search has at most {most} letters", "搜索内容最多 {most} 个字";
    too_many_words(most) = "a search has at most {most} words", "搜索最多 {most} 个词";
    search_fewer_words = "search for fewer words", "请减少搜索词";
    not_a_moment(given) = "`{given}` is neither a time nor a length of time", "`{given}` 不是时间，也不是时长";
    moment_examples = "7d, 12h or 2026-11-18T09:00:00Z", "例如 7d、12h 或 2026-11-18T09:00:00Z";
    range_ends_before_it_begins(from, to) =
        "the range ends before it begins: from {from} to {to}",
        "时间范围的终点早于起点：从 {from} 到 {to}";
    earlier_first = "give the earlier time first", "请把较早的时间放在前面";
    range_examples =
        "7d, 2026-11-18, 2026-11 or 2026-11-18T09:00:00Z, the earlier one first",
        "例如 7d、2026-11-18、2026-11 或 2026-11-18T09:00:00Z，较早的在前";
    no_such_time_zone(given) = "`{given}` is not a time zone that the server knows", "服务器不认识时区 `{given}`";
    time_zone_examples = "Asia/Shanghai, UTC or +08:00", "例如 Asia/Shanghai、UTC 或 +08:00";
    bad_grouping(given) =
        "`{given}`: reports are by user, project, node, model and one of day, week, month; at most three, each once",
        "`{given}`：报表可按 user、project、node、model 以及 day、week、month 之一分组；最多三项，不可重复";
    grouping_examples = "user, node or user,day", "例如 user、node 或 user,day";
    user_not_known(name) = "no user `{name}`", "没有用户 `{name}`";
    names_of_users = "danlu report --by user lists them", "用 danlu report --by user 查看";
    reports_unavailable =
        "reports are not available: the file reports.db cannot be used",
        "报表不可用：无法使用文件 reports.db";
    see_the_server_log = "the server's log says why: danlu logs server", "原因见服务器日志：danlu logs server";
    report_too_long = "the report would be too long", "报表太长";
    shorter_report =
        "choose a shorter time, or group by less: danlu report --by month --since 365d",
        "请缩短时间范围，或减少分组：danlu report --by month --since 365d";
    not_a_cursor(given) = "`{given}` is no place in this list", "`{given}` 不是此列表中的位置";
    cursor_of_an_answer =
        "give `next_cursor` of an answer with the same `sort`, or none",
        "请使用相同 `sort` 的回复中的 `next_cursor`，或不填";
    ids_is_a_list_of_numbers = "`ids` must be a list of numbers", "`ids` 须为数字列表";
    name_token_purpose =
        "say what it is for, in at most 100 bytes: danlu token new ci",
        "请写明用途，最多 100 字节：danlu token new ci";
    token_without_name = "a token needs a name", "令牌需要名称";
    admin_scope_for_admins =
        "permission denied: only administrators may create tokens with scope admin",
        "没有权限：只有管理员可以创建 admin 范围的令牌";
    use_scope_submit =
        "use scope submit: it covers everything you may do with your tasks",
        "请使用 submit 范围：它允许对自己的任务执行全部操作";
    text_is_not_a_length_of_time(text) = "invalid duration: `{text}`", "时长无效：`{text}`";
    such_as_12h_or_30d = "for example 12h or 30d", "例如 12h 或 30d";
    is_server_machine(name) =
        "{name} is the machine of the server itself",
        "{name} 是服务器所在的机器";
    see_config_show = "danlu config show shows its settings", "用 danlu config show 查看";
    name_stands_in_a_file(name) = "{name} is defined in the node file", "{name} 由节点文件定义";
    change_node_file = "change it there; changes take effect automatically", "请在该文件中修改；修改会自动生效";
    files_stay_where_started(name) =
        "tasks are running on {name}, and their files stay where they started",
        "{name} 上有任务在运行，它们的文件留在开始时的位置";
    drain_first(name) =
        "drain it first: danlu node drain {name}",
        "请先排空：danlu node drain {name}";
    no_machine_was_added = "the machine was not added", "没有添加机器";
    see_the_systems_randomness = "check the system's random number source", "请检查系统的随机数来源";
    no_token_without_dial_in(name) =
        "{name} does not dial in and has no token",
        "{name} 不是主动连入的机器，没有令牌";
    see_connections =
        "danlu nodes shows how each machine is reached",
        "用 danlu nodes 查看各机器的连接方式";
    drain_instead(name) =
        "drain it to stop assigning tasks: danlu node drain {name}",
        "若不再分配任务，请排空它：danlu node drain {name}";
    name_is_for_files_only(name) = "{name} only stores files", "{name} 仅存放文件";
    add_without_data_role =
        "to run tasks on it, remove it and add it without --role data",
        "若要在其上运行任务，请移除后不带 --role data 重新添加";
    machines_cannot_be_asked_to_act(act) = "unknown action for machines: {act}", "机器没有操作 {act}";
    machine_acts =
        "actions: drain, undrain, accept, check, end-unknown, token, revoke",
        "可用的操作：drain、undrain、accept、check、end-unknown、token、revoke";
    restore_or_check =
        "nothing was changed; restore a backup with `danlu restore FILE`, or inspect it with `danlu db check`",
        "没有任何改动；请用 `danlu restore 文件` 恢复备份，或用 `danlu db check` 检查";
    newer_release_or_directory =
        "run the newer release, or choose another data directory with --data",
        "请使用较新的版本，或用 --data 指定其他数据目录";
    database_behind_hint =
        "nothing was changed; put danlu.db and danlu.db-wal back, restore a backup with `danlu restore FILE`, or continue with the present data: danlu up --accept-loss",
        "没有任何改动；请放回 danlu.db 和 danlu.db-wal，用 `danlu restore 文件` 恢复备份，或接受现状继续：danlu up --accept-loss";
    stop_other_server = "stop the other server first: danlu down", "请先停止另一个服务器：danlu down";
    free_space_then_retry = "free some space on that disk, then try again", "请清理该磁盘，然后重试";
    check_owner_of_file =
        "check that this user owns and may write the file and its directory",
        "请确认该文件及其目录属于此用户且可写";
    gpuman_commands =
        "useradd, addusers, userdel, suadd, sudel, lockuser, unlockuser, stop, force stop, start, exit, force exit, dump, dumpuser, dumptask, move, add device, remove device, set, schedule, prompt",
        "可用：useradd、addusers、userdel、suadd、sudel、lockuser、unlockuser、stop、force stop、start、exit、force exit、dump、dumpuser、dumptask、move、add device、remove device、set、schedule、prompt";
    backup_in_progress = "another backup or check is in progress", "正在进行另一次备份或检查";
    no_space_for_copy(path, megabytes) =
        "not enough space on the disk of {path} for a copy of the database ({megabytes} MB)",
        "{path} 所在磁盘没有空间存放数据库副本（{megabytes} MB）";
    could_not_copy_database(it) = "could not copy the database: {it}", "无法复制数据库：{it}";
    could_not_read_path_error(path, error) = "could not read {path}: {error}", "无法读取 {path}：{error}";
    bad_gpu_slots(path, key) =
        "{path}: [gpus] {key}: expected a GPU number and 1 to 64 tasks",
        "{path}：[gpus] {key}：应为 GPU 编号和 1 到 64 的任务数";
    bad_log_setting(path, key, value, expect) =
        "{path}: [log] {key}: `{value}` is not {expect}",
        "{path}：[log] {key}：`{value}` 不是{expect}";
    an_absolute_path = "an absolute path", "绝对路径";
    a_log_size = "a size from 64K to 1G", "64K 到 1G 的大小";
    kept_logs = "a number of files from 0 to 100", "0 到 100 的文件数";
    bad_log_level(given) = "`{given}` is not a level of the log", "`{given}` 不是日志级别";
    log_levels = "error, warn, info, debug or trace", "error、warn、info、debug 或 trace";
    bad_auth_duration(path, key, value) =
        "{path}: [auth] {key}: invalid duration `{value}`; for example 12h or 30d",
        "{path}：[auth] {key}：时长 `{value}` 无效；例如 12h 或 30d";
    name_is_value_error(name, value, error) = "{name} is `{value}`: {error}", "{name} 的值为 `{value}`：{error}";
    bad_server_directory(path, error) =
        "could not use {path} as the server's data directory: {error}",
        "无法把 {path} 用作服务器的目录：{error}";
    disk_full(path) = "the disk of {path} is full", "{path} 所在磁盘已满";
    could_not_action_path_error(action, path, error) =
        "could not {action} {path}: {error}",
        "{path}：操作失败（{action}）：{error}";
    on_network_file_system(path, kind) =
        "{path} is on a network file system ({kind})",
        "{path} 在网络文件系统上（{kind}）";
    used_by_another_server(it) = "{it} is in use by another server", "另一个服务器正在使用 {it}";
    incomplete_backup(it) = "incomplete backup: {it}", "备份不完整：{it}";
    backup_of_newer_release(it, format) =
        "the backup was made by a newer release (format {it}; this release supports up to {format})",
        "备份由较新的版本生成（格式 {it}；此版本最高支持 {format}）";
    could_not_listen_on_address_error(address, error) =
        "could not listen on {address}: {error}",
        "无法监听 {address}：{error}";
    not_in_template(it) = "`{it}` is not allowed in a template", "`{it}` 不能用于模板";
    could_not_make_certificate(it) = "could not create a certificate: {it}", "无法生成证书：{it}";
    certificate_mismatch(certificate, key, error) =
        "{certificate} and {key} do not match: {error}",
        "{certificate} 与 {key} 不匹配：{error}";
    key_too_large = "too large for a private key", "内容过大，不是私钥";
    key_is_public = "this is the public key; the private key is needed", "这是公钥，需要私钥";
    key_has_passphrase =
        "the key has a passphrase, which cannot be entered here",
        "密钥设有口令，此处无法输入";
    key_not_openssh = "the key is not in OpenSSH format", "密钥不是 OpenSSH 格式";
    not_a_private_key = "not an OpenSSH private key", "不是 OpenSSH 私钥";
    bad_user_there(it) = "invalid user name: {it}", "用户名无效：{it}";
    no_root_by_own_key =
        "tasks cannot run as root with a personal key",
        "不能用自己的密钥以 root 运行任务";
    server_login_there(it) = "{it} is the server's own login on that machine", "{it} 是服务器自己在该机器上的登录名";
    no_key_yet = "there is no key yet", "还没有密钥";
    too_many_of_them_at_most_most(most) = "too many: at most {most}", "数量过多：最多 {most}";
    no_login_for(it) = "no login is set for {it}", "{it} 没有登录设置";
    could_not_save_key(path, error) =
        "could not save the key in {path}: {error}",
        "无法把密钥保存到 {path}：{error}";
    wrong_name_or_password = "wrong user name or password", "用户名或密码错误";
    too_many_attempts(value) = "too many attempts: wait {value} seconds", "尝试次数过多：请等待 {value} 秒";
    name_or_password_too_long(name_bytes, value) =
        "user name or password too long: at most {name_bytes} and {value} bytes",
        "用户名或密码过长：最多 {name_bytes} 和 {value} 字节";
    account_locked = "this account is locked", "该账号已锁定";
    too_many_tokens(it) = "too many: at most {it}", "数量过多：最多 {it}";
    no_such_session = "there is no such session", "没有这个登录会话";
    no_such_token = "there is no such token", "没有这个令牌";
    no_randomness_is_to_be_had = "no random numbers available", "无法获得随机数";
    name_of_server_machine = "this name belongs to the server's own machine", "这是服务器自己所在机器的名称";
    added_by_command =
        "a machine with this name was added with a command: danlu node remove NAME",
        "已用命令添加过同名机器：danlu node remove 名称";
    not_saved = "could not be saved", "无法保存";
    database_damaged(path, what) = "{path} is damaged: {what}", "{path} 已损坏：{what}";
    not_our_database(path) =
        "{path} is a database, but not a Danlu database",
        "{path} 是数据库，但不是丹炉的数据库";
    database_of_newer_release(path, version, known) =
        "{path} was written by a newer release (format {version}; this release supports up to {known})",
        "{path} 由较新的版本写入（格式 {version}；此版本最高支持 {known}）";
    history_too_slow = "the history of ended tasks takes too long to answer", "查询历史任务耗时过长";
    narrow_the_search = "narrow it down with a user, a state or a time, or try again in a moment", "请用用户、状态或时间缩小范围，或稍后再试";
    path_is_in_use_by_another_process(path) = "{path} is in use by another process", "{path} 正被另一个进程使用";
}

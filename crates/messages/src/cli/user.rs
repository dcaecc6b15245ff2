//! Sentences of cli/user.

messages! {
    account = "The account", "用户名";
    may_do_everything = "Administrator", "管理员";
    os_user_option =
        "OS user for their tasks on the machines (default: the OS user of the same name)",
        "任务在机器上的系统用户（默认：同名系统用户）";
    for_messages = "For notifications", "用于通知";
    password_stdin =
        "Read the password from the first line of the input",
        "从标准输入的第一行读取密码";
    no_password =
        "Without a password: for the socket and tokens alone",
        "不设密码：仅用于套接字和令牌";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    added_name(name) = "added {name}\n", "已添加 {name}\n";
    accounts = "The accounts", "用户名";
    do_not_ask = "Do not ask", "不询问";
    confirm_removal(names) =
        "remove {names}? Their tasks are cancelled, their history is kept",
        "删除 {names}？将取消其任务，保留历史";
    removed_name(name) = "removed {name}\n", "已删除 {name}\n";
    name_is_locked(name) = "{name} is locked\n", "{name} 已锁定\n";
    name_is_not_locked(name) = "{name} is not locked\n", "{name} 未锁定\n";
    name_is_an_admin(name) = "{name} is an admin\n", "{name} 是管理员\n";
    name_is_a_user(name) = "{name} is a user\n", "{name} 是普通用户\n";
    about =
        "Accounts: who may do what, and their shares of the GPUs",
        "账号：权限与 GPU 份额";
    usage =
        "danlu user [list | add | del | lock | unlock | grant | revoke | passwd | ssh | set] …",
        "danlu user [list | add | del | lock | unlock | grant | revoke | passwd | ssh | set] …";
    help =
        "What can be set:\n  \
           os_user    whom their tasks run as on the machines; empty for the OS user of the same name\n  \
           email, language (en or zh)\n  \
           priority   for `balance`: 2 is twice the share of 1; 0 before all above it; below 0 before everybody\n  \
           weight     for `fair`: 2 is twice the share of 1\n  \
           group      for `fair`: its members share what the group's weight gives them; empty for none\n  \
           running_tasks, running_gpus, queued_tasks, gpu_hours\n  \
                      quotas, where they differ from quota.user; `default` for the same\n\n\
         Examples:\n  \
           danlu user list\n  \
           danlu user add ann --email ann@lab.example\n  \
           danlu user add boss --admin --password-stdin < secret\n  \
           danlu user passwd ann\n  \
           danlu user lock ann\n  \
           danlu user set ann priority=2\n  \
           danlu user set ann --weight 1.5 --group vision\n  \
           danlu user set ann running_gpus=8\n  \
           danlu user set ann --os-user-on gpu7=asmith\n  \
           danlu user ssh gpu8 --user asmith --key ~/.ssh/gpu8\n  \
           danlu set fair.groups.vision 3",
        "可以设置：\n  \
           os_user    其任务在机器上以哪个系统用户运行；留空表示同名的系统用户\n  \
           email, language（en 或 zh）\n  \
           priority   用于 `balance`：2 的份额是 1 的两倍；0 排在所有正数之前；负数排在所有人之前\n  \
           weight     用于 `fair`：2 的份额是 1 的两倍\n  \
           group      用于 `fair`：组内成员分享该组权重所得；留空表示不属于任何组\n  \
           running_tasks, running_gpus, queued_tasks, gpu_hours\n  \
                      配额，与 quota.user 不同时设置；`default` 表示相同\n\n\
         示例：\n  \
           danlu user list\n  \
           danlu user add ann --email ann@lab.example\n  \
           danlu user add boss --admin --password-stdin < secret\n  \
           danlu user passwd ann\n  \
           danlu user lock ann\n  \
           danlu user set ann priority=2\n  \
           danlu user set ann --weight 1.5 --group vision\n  \
           danlu user set ann running_gpus=8\n  \
           danlu user set ann --os-user-on gpu7=asmith\n  \
           danlu user ssh gpu8 --user asmith --key ~/.ssh/gpu8\n  \
           danlu set fair.groups.vision 3";
    show_all_users = "Show all users", "列出所有用户";
    add_an_account = "Add an account", "添加账号";
    danlu_user_add_name_options = "danlu user add NAME [OPTIONS]", "danlu user add 用户名 [选项]";
    about_del =
        "Remove an account; its tasks are cancelled, its history is kept",
        "删除账号；取消其任务，保留历史";
    danlu_user_del_name_yes = "danlu user del NAME… [--yes]", "danlu user del 用户名… [--yes]";
    about_lock =
        "Lock the account; its sessions and tokens end at once",
        "锁定账号；会话与令牌立即失效";
    danlu_user_lock_name = "danlu user lock NAME…", "danlu user lock 用户名…";
    let_its_owner_in_again = "Unlock the account", "解锁账号";
    danlu_user_unlock_name = "danlu user unlock NAME…", "danlu user unlock 用户名…";
    make_somebody_an_admin = "Make a user an administrator", "授予管理员权限";
    danlu_user_grant_name = "danlu user grant NAME…", "danlu user grant 用户名…";
    make_an_admin_a_user_again = "Revoke administrator rights", "收回管理员权限";
    danlu_user_revoke_name = "danlu user revoke NAME…", "danlu user revoke 用户名…";
    about_passwd =
        "Set a password: your own, or as an admin somebody's",
        "设置密码：自己的，管理员也可为他人设置";
    danlu_user_passwd_name_options = "danlu user passwd [NAME] [OPTIONS]", "danlu user passwd [用户名] [选项]";
    about_ssh =
        "Your identity on each machine; your SSH user name and key where the server is not root",
        "在各机器上的身份；服务器不是 root 的机器需要自己的 SSH 用户名与密钥";
    usage_ssh =
        "danlu user ssh [MACHINE --user NAME --key FILE | MACHINE --remove] [--json]",
        "danlu user ssh [机器 --user 用户名 --key 文件 | 机器 --remove] [--json]";
    change_what_a_user_has_at_once = "Change a user; takes effect at once", "修改用户的设置，立即生效";
    usage_set =
        "danlu user set NAME [KEY=VALUE…] [OPTIONS]",
        "danlu user set 用户名 [名称=值…] [选项]";
    user_argument = "The user", "用户名";
    setting_example = "Such as priority=2", "如 priority=2";
    for_balance = "For `balance`", "用于 `balance`";
    for_fair = "For `fair`", "用于 `fair`";
    os_user = "OS user for their tasks on the machines", "任务在机器上的系统用户";
    os_user_on =
        "OS user on one machine; empty: as on all others; can be repeated",
        "在某台机器上的系统用户；留空：与其他机器相同；可重复";
    pair_is_not_key_value(pair) = "invalid `{pair}`: expected KEY=VALUE", "`{pair}` 无效：应为 名称=值";
    nothing_to_change_was_given = "nothing to change", "未指定要修改的内容";
    user = "USER", "用户";
    role = "ROLE", "角色";
    priority = "PRIORITY", "优先级";
    weight = "WEIGHT", "权重";
    group = "GROUP", "组";
    running = "RUNNING", "运行中";
    gpus = "GPUS", "GPU";
    used_gpu_hours = "USED GPU-HOURS", "已用 GPU 小时";
    locked = "locked", "已锁定";
    admin = "admin", "管理员";
    role_user = "user", "用户";
    whose_your_own_unless_told = "The user (default: yourself)", "用户名（默认：自己）";
    password_from_stdin = "Read it from the first line of the input", "从标准输入的第一行读取";
    one_time_password_option =
        "Make one that has to be changed at the first log-in, and print it",
        "生成一次性密码并显示，首次登录须修改";
    password_set(name) = "the password of {name} is set\n", "已设置 {name} 的密码\n";
    one_time_password(made) =
        "one-time password, to be changed at the first log-in: {made}\n",
        "一次性密码，首次登录后须修改：{made}\n";
    could_not_read_the_password_cause(cause) = "could not read the password: {cause}", "无法读取密码：{cause}";
    no_terminal = "no terminal to ask for the password", "没有可以询问密码的终端";
    new_password = "new password: ", "新密码：";
    once_more = "once more: ", "再输入一次：";
    passwords_differ = "the passwords do not match", "两次输入的密码不同";
    machine_argument = "The machine (default: show all)", "机器（默认：全部列出）";
    your_user_name_there = "Your user name on that machine", "在该机器上的用户名";
    private_key =
        "Your private key for it, without a passphrase; the server keeps a copy that only it can read",
        "用于该机器的私钥，不带口令；服务器保存一份只有它可读的副本";
    take_both_away = "Remove both", "删除两者";
    no_such_machine(node) = "there is no machine {node}", "没有机器 {node}";
    could_not_read_the_key_file_cause(file, cause) = "could not read the key {file}: {cause}", "无法读取密钥 {file}：{cause}";
    machine = "MACHINE", "机器";
    tasks_run_as = "TASKS RUN AS", "任务运行身份";
    ssh_user = "SSH USER", "SSH 用户";
    key = "KEY", "密钥";
    nobody_yet = "not set", "尚未设置";
    own_connection_failed(name, problem) =
        "{name}: your own connection failed: {problem}",
        "{name}：自己的连接未建立：{problem}";
}

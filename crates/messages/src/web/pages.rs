//! Sentences of web/pages.

messages! {
    not_all_was_done = "Not everything was done", "部分未完成";
    done = "done.", "个已完成。";
    back = "Back", "返回";
    audit_log = "Audit log", "审计日志";
    about = "Target", "对象";
    show = "Show", "筛选";
    nothing_has_been_done_yet = "No entries yet.", "还没有记录。";
    when = "When", "时间";
    who = "Who", "用户";
    did_what = "Action", "操作";
    to_what = "Target", "对象";
    details = "Details", "详情";
    from = "From", "来源";
    older_ones = "Older entries", "更早的记录";
    commands = "Commands", "命令";
    command = "Command", "命令";
    one_line_in_gpumans_words = "A gpuman command", "一行 gpuman 命令";
    run = "Run", "执行";
    what_there_is = "Available commands", "可用命令";
    line = "Line", "命令";
    what_it_does = "What it does", "作用";
    quotas = "Quotas", "配额";
    everybody = "All users", "所有人";
    quota_per_user = "limits per user; empty: no limit", "每位用户的上限；留空表示不限";
    gpu_hours_are_counted_anew_every = "Period of GPU-hours:", "GPU 小时的统计周期：";
    no_project_limits =
        "No project has a limit yet. Enter one below.",
        "还没有项目设置上限：请在下方填写项目名。";
    name = "Name", "名称";
    running_tasks = "Running tasks", "运行任务";
    running_gpus = "Running GPUs", "运行 GPU";
    waiting_tasks = "Waiting tasks", "等待任务";
    gpu_hours = "GPU-hours", "GPU 小时";
    running = "running", "运行";
    waiting = "waiting", "等待";
    change = "Change", "修改";
    limit_a_project = "Limit a project", "限制一个项目";
    project = "Project", "项目";
    settings = "Settings", "设置";
    policy = "Policy", "调度策略";
    order_of_the_queue = "Order of the queue", "队列顺序";
    set = "Set", "设置";
    resume_the_queue = "Resume the queue", "恢复队列";
    pause_the_queue = "Pause the queue", "暂停队列";
    announcement = "Announcement", "公告";
    shown_on_every_page = "Shown at the top of every page", "所有页面顶部显示";
    announce = "Announce", "发布";
    all_settings = "All settings", "全部设置";
    no_limit = "no limit", "不限";
    admin = "Admin", "管理";
    users = "Users", "用户";
    reports = "Reports", "报表";
    machines = "Machines", "机器";
    user_name = "Name", "用户名";
    runs_as = "Runs as", "运行身份";
    running_heading = "Running", "运行中";
    waiting_heading = "Waiting", "等待中";
    priority_weight = "Priority · weight", "优先级 · 权重";
    is_admin = "admin", "管理员";
    locked = "locked", "已锁定";
    runs_as_inline = "runs as ", "运行身份 ";
    task = "task,", "个任务，";
    tasks = "tasks,", "个任务，";
    elsewhere = "on other machines", "其他机器上";
    machines_with_other_os_user = "Machines with another OS user, separated by spaces", "系统用户不同的机器，以空格分隔";
    mail = "Mail", "邮箱";
    group = "Group", "组";
    priority = "Priority", "优先级";
    weight = "Weight", "权重";
    most_running_tasks = "Most running tasks", "最多运行任务";
    most_running_gpus = "Most running GPUs", "最多运行 GPU";
    most_waiting_tasks = "Most waiting tasks", "最多等待任务";
    most_gpu_hours = "Most GPU-hours", "最多 GPU 小时";
    save = "Save", "保存";
    unlock = "Unlock", "解锁";
    lock = "Lock", "锁定";
    no_admin_any_more = "Revoke admin", "取消管理员";
    make_admin = "Make admin", "设为管理员";
    new_password = "New password", "重置密码";
    sure = "sure", "确认";
    remove = "Remove", "删除";
    add_users = "Add users", "添加用户";
    names = "Names", "用户名";
    names_one_per_line =
        "One per line, optionally followed by a mail address. Each gets a password that must be changed at the first login.",
        "每行一个，可在后面加邮箱。每人会得到一个首次登录须修改的密码。";
    add = "Add", "添加";
    as_admins = "as admins", "设为管理员";
    cancel_dependents_too = "Also cancel dependent tasks:", "同时取消依赖它的任务：";
    logged_in = "Logged in", "已登录";
    read_only_without_javascript =
        "This connection is not encrypted: without JavaScript, pages are read-only. Enable JavaScript for this page, or use HTTPS.",
        "此连接未加密：不启用 JavaScript 时只能查看，不能修改。请为本页面启用 JavaScript，或使用 HTTPS。";
    continue_ = "Continue", "继续";
    gpus = "GPUs", "GPU";
    no_gpus_here =
        "No GPUs found on this machine; it runs CPU tasks.",
        "这台机器上没有发现 GPU：可运行 CPU 任务。";
    model = "Model", "型号";
    holder = "Holder", "占用者";
    memory = "Memory", "显存";
    use_ = "Use", "利用率";
    last_10_minutes = "Last 10 minutes", "最近 10 分钟";
    manage = "Manage", "管理";
    outside_danlu = "outside Danlu", "外部占用";
    give_out = "Enable", "启用";
    take_out = "Disable", "停用";
    slots = "Slots", "槽位";
    no_machine_yet = "No machines yet.", "还没有机器。";
    skip_to_content = "Skip to content", "跳到正文";
    main = "Main", "主导航";
    overview = "Overview", "总览";
    tasks_heading = "Tasks", "任务";
    zh = "zh", "en";
    mark = "中文", "English";
    colours_as_the_system_says = "Colours: system", "颜色：跟随系统";
    auto = "Auto", "自动";
    colours_dark = "Colours: dark", "颜色：深色";
    dark = "Dark", "深色";
    colours_light = "Colours: light", "颜色：浅色";
    light = "Light", "浅色";
    new_task = "New task", "新建任务";
    queue_paused_banner =
        "The queue is paused: no new tasks start until an administrator resumes it.",
        "队列已暂停：管理员恢复前不会启动新任务。";
    acknowledge = "Acknowledge", "确认";
    server_silent_retrying = "The server does not respond; retrying …", "服务器没有应答，正在重试……";
    session_ended = "Your session has ended.", "登录已失效。";
    log_in_again = "Log in again", "重新登录";
    log_in = "Log in", "登录";
    password = "Password", "密码";
    no_account_yet = "No account yet? An administrator can add one with", "还没有账号？管理员可用以下命令添加：";
    programs_use_tokens =
        "Programs use a token: create one on your account page, or with",
        "程序使用令牌：在“我的”页面创建，或运行";
    browsers_use_sessions =
        "Browsers use a session and send X-CSRF-Token with every change.",
        "浏览器使用会话，每次修改须带 X-CSRF-Token。";
    answers_are_json =
        "Responses are JSON with \"v\": 1; errors have a status and",
        "响应为带 \"v\": 1 的 JSON；出错时有状态码和";
    machine_readable = "Machine-readable description:", "供程序读取的说明：";
    nothing = "", "（字段说明为英文）";
    contents = "Contents", "目录";
    who_may_ask = "access:", "权限：";
    fields_and_an_example = "Fields and an example", "字段与示例";
    in_the_address_and_headers = "URL parameters and headers", "地址与请求头";
    required = "required", "必填";
    in_the_body = "Request body", "请求体";
    in_the_answer = "Response", "响应";
    log_out = "Log out", "退出登录";
    password_set_by_other =
        "Your password was set by someone else: choose a new one first.",
        "密码由他人设定：请先修改密码。";
    old_password = "Old password", "旧密码";
    new_password_label = "New password", "新密码";
    once_more = "Repeat", "再次输入";
    change_password = "Change password", "修改密码";
    account = "Account", "账号";
    tasks_run_as = "Tasks run as", "任务运行身份";
    admin_can_change_it = "can be changed by an administrator", "可由管理员修改";
    language = "Language", "语言";
    as_the_browser_says = "browser setting", "跟随浏览器";
    notifications = "Notifications", "通知";
    mail_address = "Mail address", "邮箱";
    tell_me_when_a_task = "Notify me when a task", "任务在以下情况时通知我";
    starts = "starts", "开始";
    succeeds = "succeeds", "成功";
    fails = "fails", "失败";
    is_requeued_or_runs_out = "is queued again, is lost, or reaches its time limit soon", "重新排队、失联或快到时限";
    tell_me_also_of = "Notify me also of", "另外通知我";
    trouble_with_my_tasks = "held tasks, broken GPUs under my tasks, used-up quotas", "被扣住的任务、任务所在 GPU 故障、配额用完";
    announcements = "announcements", "公告";
    tell_me_over = "Over these channels", "通过以下渠道";
    no_channel_configured =
        "Saved with your account. Nothing is sent until an administrator has configured a channel for this lab.",
        "设置会保存。管理员配置渠道之前不会发送消息。";
    quiet_hours = "Quiet hours", "免打扰时段";
    quiet_from = "From", "从";
    quiet_to = "To", "到";
    time_zone = "Time zone", "时区";
    quiet_help =
        "What happens meanwhile comes in one message afterwards. Empty time zone: that of the server.",
        "其间的消息会在之后合并为一条。时区留空则按服务器的时区。";
    save_and_test = "Save and send a test message", "保存并发送测试消息";
    test_message = "Test message", "测试消息";
    was_sent = "sent", "已发送";
    was_not_sent = "not sent", "未发送";
    channels = "Channels", "渠道";
    channel_kind = "Kind", "类型";
    channel_works = "no failures", "无失败";
    failures_in_a_row(count) = "{count} failures in a row", "连续失败 {count} 次";
    add_channels = "Channels are added under [notify] in the configuration file; `danlu reload` takes them over.", "渠道在配置文件的 [notify] 中添加；用 `danlu reload` 生效。";
    send_test = "Send a test message", "发送测试消息";
    failed_messages = "Messages that failed", "发送失败的消息";
    waiting_messages = "Messages that wait", "等待发送的消息";
    no_failed_messages = "None.", "没有。";
    message_to = "To", "发往";
    message_answer = "Answer", "回应";
    message_tries = "Tries", "次数";
    mail_not_configured =
        "Saved with your account. No mail is sent until an administrator has configured mail for this lab.",
        "设置保存在账号中。管理员为实验室配置邮件之前不会发送邮件。";
    template = "Template", "任务模板";
    template_introduction =
        "Common settings of your tasks can be filled in automatically: fill in the form of a",
        "任务的共同设置可自动填入：请填写";
    new_task_link = "new task", "新任务";
    and_keep_it_as_your_template = " and save it as your template.", "表单并存为模板。";
    change_it_in_the_form = "Change it in the form", "在表单中修改";
    clear_mine = "Clear my template", "清除我的模板";
    on_the_machines = "On the machines", "在各机器上";
    os_user_of_my_tasks = "OS user of my tasks", "我的任务的系统用户";
    with_my_key = "with my key", "使用我的密钥";
    not_connected = "not connected:", "未连接：";
    needs_my_own_key =
        "the server is not root there and needs my own SSH user name and key",
        "服务器在此机器上不是 root，需要我自己的 SSH 用户名和密钥";
    machine = "Machine", "机器";
    ssh_user_name = "SSH user name", "SSH 用户名";
    private_key = "Private key", "私钥";
    private_key_help =
        "Without a passphrase; best created for this purpose: ssh-keygen -t ed25519 -N '' -f danlu-key. It is stored on the server, readable only by the server, and never shown again. Empty: keep the present one.",
        "不带口令；建议专门生成：ssh-keygen -t ed25519 -N '' -f danlu-key。密钥保存在服务器上，仅服务器可读，之后不再显示。留空则保留已有密钥。";
    tokens = "Tokens", "令牌";
    tokens_for_programs =
        "for programs and for danlu on other machines",
        "供程序及其他机器上的 danlu 使用";
    made = "created", "创建于";
    until = "until", "有效至";
    revoke = "Revoke", "吊销";
    what_it_is_for = "What it is for", "用途";
    scope = "Scope", "权限";
    submit_and_act_on_my_tasks = "submit and manage my tasks", "提交和管理我的任务";
    only_read = "read-only", "只读";
    scope_everything = "all my permissions", "我的全部权限";
    good_for = "Valid for", "有效期";
    make_a_token = "Create a token", "创建令牌";
    sessions = "Sessions", "登录会话";
    current = "current", "当前";
    since = "since", "自";
    end_it = "End", "结束";
    edit_task = "Edit task", "编辑任务";
    copy_of_task = "Copy of task", "复制任务";
    what_to_run = "Command", "运行内容";
    paste_or_upload_a_script_instead = "Paste or upload a script instead", "改为粘贴或上传脚本";
    from_a_file = "From a file", "从文件读取";
    what_it_needs = "Resources", "所需资源";
    sharing_memory_machine = "Sharing, memory, machine", "共享、内存、机器";
    one_gpu_or_slot = "one GPU or slot each", "独占一块 GPU 或一个槽位";
    share_by_memory = "share by memory", "按显存共享";
    whole_gpus_only = "whole GPUs only", "必须整卡";
    many_at_once = "Several tasks", "批量";
    array_or_parameter_sweep = "Array or parameter sweep", "数组或参数扫描";
    values_separated_by_commas = "Values, separated by commas", "取值，以逗号分隔";
    add_a_parameter = "Add a parameter", "添加参数";
    combinations = "combinations", "种组合";
    when_heading = "Scheduling", "调度";
    order_start_retries = "Order, start, retries", "顺序、开始时间、重试";
    how = "Execution", "运行方式";
    environment_output_labels = "Environment, output, labels", "环境、输出、标签";
    taken_from_the_script = "Taken from the script:", "取自脚本：";
    dry_run_hint =
        "Shows where and when it would start before you submit it.",
        "提交前，这里会显示它将在何处、何时开始。";
    submit = "Submit", "提交";
    check_only = "Check only", "仅检查";
    template_hint =
        "The fields, except command and name, are filled in next time.",
        "除命令和名称外，下次将自动填入这些内容。";
    keep_as_my_template = "Save as my template", "存为我的模板";
    acts = "Actions", "操作";
    check = "Check", "检查";
    give_it_tasks = "Undrain …", "恢复分配……";
    drain = "Drain …", "排空……";
    replaced = "Replaced …", "机器已更换……";
    remove_machine = "Remove …", "移除……";
    what_is_wrong = "Problems", "问题";
    facts = "Facts", "信息";
    load = "Load", "负载";
    cores = "Cores", "CPU 核数";
    memory_heading = "Memory", "内存";
    disk = "Disk", "磁盘";
    last_contact = "Last contact", "最近联系";
    never = "never", "从未";
    free = "free", "空闲";
    nothing_is_known_of_its_gpus_yet = "Its GPUs are not known yet.", "尚不知道它有哪些 GPU。";
    all_gpus_in_full = "All GPU details", "全部 GPU 详情";
    tasks_there = "Tasks on this machine", "其上的任务";
    no_visible_tasks_there = "No visible tasks are running there.", "目前没有可见的任务在其上运行。";
    what_ran_there = "Past tasks", "曾在其上运行的任务";
    also_what_ran_there = "Include past tasks", "包括曾运行的任务";
    check_of = "Check of", "检查";
    good = "passed", "通过";
    failed = "failed", "失败";
    all_is_well = "All checks passed.", "检查全部通过。";
    that_is_how_far_one_gets = "The check stopped here.", "检查到此为止。";
    add_one_below = "Add one below.", "请在下方添加。";
    state = "State", "状态";
    free_gpus = "Free GPUs", "空闲 GPU";
    since_time = "since", "始于";
    tasks_word = "tasks", "任务";
    load_word = "load", "负载";
    memory_word = "memory", "内存";
    disk_word = "disk", "磁盘";
    last_contact_word = "last contact", "最近联系";
    add_a_machine = "Add a machine", "添加机器";
    by_ssh_nothing_to_install = "by SSH; nothing needs to be installed there", "通过 SSH 连接，无需预先安装";
    ssh_address = "SSH address", "SSH 地址";
    root_or_sudo =
        "With root or sudo, tasks run as their owners.",
        "以 root 登录或用 sudo 时，任务以其所有者的身份运行。";
    key_file_on_the_server = "Key file on the server", "服务器上的私钥文件";
    labels = "Labels", "标签";
    directory_for_runs = "Directory for runs", "运行目录";
    on_a_local_disk_empty_as_usual = "On a local disk. Empty: default location.", "须在本地磁盘。留空：默认位置。";
    warn_below_so_many_gpus = "Warn below this number of GPUs", "GPU 少于此数时警告";
    path_of_nvidia_smi = "Path of nvidia-smi", "nvidia-smi 路径";
    unusual_place_only = "Only if it is not in the usual place.", "仅当不在常规位置时填写。";
    become_root_there_by_sudo = "Become root with sudo", "用 sudo 成为 root";
    trust_first_host_key = "Trust the host key it shows the first time", "信任首次出示的主机密钥";
    of = "of", "/";
    gpus_free = "GPUs free", "块 GPU 空闲";
    used_outside_danlu = "used outside Danlu", "块被外部占用";
    needs_attention = "needs attention", "块需要处理";
    mine_using = "mine, using", "我的任务，使用";
    gpu = "GPU", "块 GPU";
    gpus_word = "GPUs", "块 GPU";
    my_next_start = "my next start", "我的下一个任务开始";
    colours = "Colours", "颜色含义";
    mine = "mine", "我的";
    others = "others", "他人";
    needs_attention_legend = "needs attention", "需要处理";
    my_tasks = "My tasks", "我的任务";
    you_have_no_tasks_yet = "No tasks yet.", "还没有任务。";
    submit_first_task = "Submit the first one", "提交第一个任务";
    or_type = "or type", "或输入";
    all_my_tasks = "All my tasks", "我的全部任务";
    queue = "Queue", "队列";
    of_everybody = "all users", "全部用户";
    nobody_waiting =
        "No waiting tasks: a new task starts at once if a GPU is free.",
        "没有等待的任务：有空闲 GPU 时提交即可开始。";
    all_that_wait = "All waiting tasks", "全部等待任务";
    choose_all = "Select all", "全选";
    task_heading = "Task", "任务";
    user = "User", "用户";
    why_progress = "Why / progress", "原因 / 进度";
    time = "Time", "时间";
    choose = "Select", "选择";
    log = "log", "日志";
    expected_start = "expected start", "预计开始";
    submitted = "submitted", "提交于";
    to_the_overview = "Back to overview", "回到总览";
    not_made = "Not created", "未创建";
    finished = "Done", "完成";
    first_admin = "First administrator", "首位管理员";
    choose_name_and_password =
        "Choose a user name and a password. Add others on the admin page.",
        "请设置用户名和密码。其他用户可在管理页添加。";
    make_this_account = "Create account", "创建账号";
    release = "Release", "放行";
    hold = "Hold", "扣住";
    to_the_front = "To the front", "移到最前";
    pause = "Pause", "暂停";
    resume = "Resume", "恢复";
    run_again = "Run again", "重新运行";
    edit = "Edit", "编辑";
    clone = "Clone", "复制";
    remove_with_question = "Remove …", "删除……";
    cancel = "Cancel …", "取消……";
    why_it_failed = "Why it failed", "失败原因";
    why_it_waits = "Why it waits", "等待原因";
    waits(why) = "Waiting: {why}", "原因：{why}";
    expected_start_label = "Expected start:", "预计开始：";
    at_the_latest = "at the latest, according to time limits.", "之前（根据时间上限推算）。";
    who_has_which_gpu = "Show GPU usage", "查看 GPU 占用";
    paths_not_answering = "The file system of these paths does not respond:", "以下路径所在的文件系统没有响应：";
    owner = "Owner", "所有者";
    submitted_heading = "Submitted", "提交";
    running_time = "Running time", "运行时长";
    ended = "Ended", "结束";
    code = "code", "退出码";
    array = "Array", "数组";
    all_its_tasks = "all its tasks", "全部任务";
    after = "After", "依赖";
    environment_variables = "Environment variables", "环境变量";
    runs = "Runs", "运行记录";
    attempt = "Attempt", "次数";
    where_ = "Where", "位置";
    started = "Started", "开始";
    duration_heading = "Time", "时长";
    result = "Result", "结果";
    log_heading = "Log", "日志";
    attempt_number(number) = "Attempt {number}", "第 {number} 次运行";
    server_log = "Server log", "服务器日志";
    log_level = "Level", "级别";
    log_since = "Since", "起始时间";
    nothing_in_the_log = "Nothing in the log matches.", "日志中没有符合的内容。";
    log_is_at = "The log is kept at", "日志保存在";
    search_the_log = "Search the log", "搜索日志";
    search = "Search", "搜索";
    next = "Next", "下一个";
    follow = "Follow", "跟随";
    download = "Download", "下载";
    what_it_printed = "Output", "输出内容";
    live = "live", "实时";
    ended_word = "ended", "已结束";
    beginning_not_shown =
        "The beginning is not shown; download the complete log.",
        "开头未显示，可下载完整日志。";
    logs_are_private = "Only the owner and administrators can see logs.", "日志仅所有者和管理员可见。";
    no_output_yet = "No output: it has not run yet.", "还没有输出：尚未运行。";
    states = "States", "状态";
    filters = "Filters", "筛选";
    all_users = "all users", "所有人";
    me = "me", "我";
    any = "any", "任意";
    more_filters = "More filters", "更多筛选";
    label = "Label", "标签";
    no_matching_tasks = "No matching tasks.", "没有符合条件的任务。";
    show_all = "Show all", "查看全部";
    tasks_count = "tasks", "个任务";
    search_tasks = "Search", "搜索";
    search_placeholder = "Name, command or description", "名称、命令或说明";
    ended_within = "Ended", "结束时间";
    sorted_by = "Sorted by", "排序";
    pages_of_list = "Pages", "翻页";
    first_page = "First page", "首页";
    previous_page = "← Previous page", "← 上一页";
    next_page = "Next page →", "下一页 →";
    chosen_tasks = "Selected tasks:", "所选任务：";
    retry = "Retry", "重试";
    needs(needs) = "Needs {needs}.", "需要：{needs}。";
    needs_but_short(needs, short) = "Needs {needs} – {short}.", "需要：{needs}，{short}。";
    place_in_queue(needs, place) = "{needs} {place}.", "{needs}{place}。";
    starts_when = "It starts when all of these conditions hold:", "以下条件全部满足后开始：";
    start_unknown = "The start cannot be predicted.", "无法预计开始时间。";
    has_reservation = "It has the reservation.", "已为它预留。";
    would_start_with = "It would start now with:", "改为以下选项可立即开始：";
}

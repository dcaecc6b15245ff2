//! Sentences of cli/notify.

messages! {
    about = "Messages: test them, see what became of them, be told when GPUs are free", "通知：测试、查看发送情况、GPU 空闲时提醒";
    usage = "danlu notify test|list|channels|when-free [OPTIONS]", "danlu notify test|list|channels|when-free [选项]";
    help =
        "What you are told of tasks that do not say `--notify` is set on the page Me.\n\n\
         Examples:\n  danlu notify test\n  danlu notify test ops\n  danlu notify list --failed\n  danlu notify when-free -g 4 --model A100\n  danlu notify when-free --list",
        "未写 `--notify` 的任务按“我的”页面的设置通知。\n\n\
         示例：\n  danlu notify test\n  danlu notify test ops\n  danlu notify list --failed\n  danlu notify when-free -g 4 --model A100\n  danlu notify when-free --list";
    about_test = "Send a test message now and show what the other side answers", "立即发送测试消息并显示对方的回应";
    usage_test = "danlu notify test [CHANNEL|ADDRESS] [--json]", "danlu notify test [渠道|邮箱] [--json]";
    test_target = "A channel or an e-mail address (default: where you are told)", "渠道或邮箱地址（默认：您接收通知的地方）";
    about_list = "Messages that were sent, wait or failed, newest first (admins: everybody's)", "已发送、等待或失败的消息，最新的在前（管理员可见所有人的）";
    usage_list = "danlu notify list [--failed] [-n N] [--json]", "danlu notify list [--failed] [-n 数量] [--json]";
    only_failed = "Only those that were refused, given up or dropped", "只显示被拒绝、放弃或丢弃的";
    how_many = "At most so many (default: 100)", "最多显示的条数（默认：100）";
    about_channels = "Names of the channels for --notify", "可用于 --notify 的渠道名称";
    usage_channels = "danlu notify channels [--json]", "danlu notify channels [--json]";
    about_when_free = "Be told when so many GPUs are free on one machine", "某台机器空出指定数量的 GPU 时通知我";
    usage_when_free =
        "danlu notify when-free -g N [--model MODEL] [--node NAME] [--always] | --list | --cancel ID",
        "danlu notify when-free -g N [--model 型号] [--node 机器] [--always] | --list | --cancel ID";
    gpus = "This many GPUs", "GPU 数量";
    model = "Of this model, such as A100", "型号，例如 A100";
    node = "On this machine", "在这台机器上";
    always = "Each time they become free (default: once)", "每次空出都通知（默认：一次）";
    list_alerts = "Show your alerts", "显示您的提醒";
    cancel_alert = "Cancel this alert", "取消该提醒";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    sent(to, answer) = "sent to {to}: {answer}\n", "已发送到 {to}：{answer}\n";
    not_sent(to, answer) = "could not send to {to}: {answer}", "无法发送到 {to}：{answer}";
    check_channel = "an administrator checks [notify] in the configuration file", "请管理员检查配置文件的 [notify]";
    no_messages = "no messages\n", "没有消息\n";
    no_channels = "no channels\n", "没有渠道\n";
    no_alerts = "no alerts\n", "没有提醒\n";
    failing(count, answer) = "{count} failures in a row: {answer}", "连续失败 {count} 次：{answer}";
    cancelled(id) = "cancelled alert {id}\n", "已取消提醒 {id}\n";
    will_be_told(id, wanted) = "alert {id}: you are told when they are free ({wanted})\n", "提醒 {id}：空闲时会通知您（{wanted}）\n";
    time = "TIME", "时间";
    state = "STATE", "状态";
    to = "TO", "发往";
    kind = "KIND", "类型";
    task = "TASK", "任务";
    attempts = "TRIES", "次数";
    answer = "ANSWER", "回应";
    name = "NAME", "名称";
    wanted = "WANTED", "需要";
    how_often = "HOW OFTEN", "频率";
    once = "once", "一次";
    each_time = "each time", "每次";
}

//! What is said about channels, deliveries and alerts.

messages! {
    connection_refused = "the mail server has closed the connection", "邮件服务器关闭了连接";
    no_such_channel(name) = "there is no channel `{name}`", "没有渠道 `{name}`";
    channels_are(names) = "channels: {names}", "可用渠道：{names}";
    no_channels =
        "no channel is configured; an administrator adds one under [notify] in the configuration file",
        "尚未配置渠道；管理员可在配置文件的 [notify] 中添加";
    no_mail_server =
        "this server sends no mail",
        "此服务器不发送邮件";
    configure_mail =
        "an administrator adds [notify.email] to the configuration file",
        "管理员可在配置文件中添加 [notify.email]";
    no_address = "your account has no e-mail address", "您的账户没有邮箱地址";
    set_address = "danlu user set NAME email=me@example.org, or the page Me", "danlu user set 用户 email=me@example.org，或在“我的”页面设置";
    bad_zone(zone) = "`{zone}` is not a time zone", "`{zone}` 不是时区";
    zone_example = "Asia/Shanghai, Europe/Berlin, UTC", "Asia/Shanghai、Europe/Berlin、UTC";
    bad_hours = "quiet hours are two times such as 22:00 and 07:00", "免打扰时段为两个时间，例如 22:00 和 07:00";
    too_many_channels(most) = "choose at most {most} channels", "最多选择 {most} 个渠道";
    channel_gone = "the channel is no longer configured", "该渠道已不在配置中";
    gave_up = "given up after 3 days", "3 天后放弃";
    dropped_full = "dropped: too many messages wait", "已丢弃：等待发送的消息过多";
    check_channel = "see [notify] in the configuration file and `danlu notify list --failed`", "请检查配置文件的 [notify] 和 `danlu notify list --failed`";
    http_status(status) = "HTTP {status}", "HTTP {status}";
    timed_out = "no answer in time", "超时未回应";
    command_failed(status) = "the command failed: {status}", "命令失败：{status}";
    command_too_long(seconds) = "the command took longer than {seconds}s", "命令超过 {seconds} 秒";
    redirected = "the address redirects elsewhere", "该地址重定向到别处";
    too_many_tests = "too many test messages", "测试消息过多";
    wait_a_minute = "wait a minute", "请稍等一分钟";
    too_many_watches(most) = "you have {most} alerts already", "您已有 {most} 个提醒";
    cancel_some = "danlu notify when-free --list", "danlu notify when-free --list";
    no_such_watch(id) = "there is no alert {id}", "没有提醒 {id}";
    watch_needs_gpus = "say how many GPUs: -g 4", "请写明 GPU 数量：-g 4";
    no_way_to_tell = "there is no way to tell you: neither an e-mail address nor a channel", "无法通知您：既没有邮箱也没有渠道";
    outbox_unavailable = "notifications are not available: the file notify.db cannot be used", "通知不可用：无法使用文件 notify.db";
    see_the_log = "danlu logs server", "danlu logs server";
    waiting = "waiting", "等待";
    sent = "sent", "已发送";
    failed = "failed", "失败";
    dropped = "dropped", "已丢弃";
}

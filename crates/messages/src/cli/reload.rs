//! Sentences of cli/reload.

messages! {
    about = "Reload the server's configuration file", "重新加载服务器的配置文件";
    help =
        "A file with errors is rejected and changes nothing.",
        "有错误的文件会被拒绝，设置保持不变。";
    reloaded_unchanged = "configuration reloaded: no changes\n", "已重新读取配置：没有变化\n";
    reloaded_after_restart(keys) =
        "configuration reloaded; these settings take effect after a restart:\n{keys}",
        "已重新读取配置；以下设置在服务器重启后生效：\n{keys}";
}

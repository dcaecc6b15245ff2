//! Sentences of cli/reload.

messages! {
    let_the_server_read_its_configuration_file = "Reload the server's configuration file", "重新加载服务器的配置文件";
    a_file_with_a_mistake_is_refused_and_nothing =
        "A file with errors is rejected and changes nothing.",
        "有错误的文件会被拒绝，设置保持不变。";
    the_configuration_was_read_again_nothing_has = "configuration reloaded: no changes\n", "已重新读取配置：没有变化\n";
    the_configuration_was_read_again_this_takes(keys) =
        "configuration reloaded; these settings take effect after a restart:\n{keys}",
        "已重新读取配置；以下设置在服务器重启后生效：\n{keys}";
}

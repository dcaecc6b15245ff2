//! Sentences of cli/reload.

messages! {
    let_the_server_read_its_configuration_file = "Let the server read its configuration file again", "让服务器重新读取配置文件";
    a_file_with_a_mistake_is_refused_and_nothing =
        "A file with a mistake is refused, and nothing changes.",
        "有错误的文件会被拒绝，设置保持不变。";
    the_configuration_was_read_again_nothing_has =
        "the configuration was read again: nothing has changed\n",
        "已重新读取配置：没有变化\n";
    the_configuration_was_read_again_this_takes(keys) =
        "the configuration was read again; this takes effect when the server is started again:\n{keys}",
        "已重新读取配置；以下设置在服务器重启后生效：\n{keys}";
}

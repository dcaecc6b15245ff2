//! Sentences of cli/client.

messages! {
    the_socket_path_belongs_to_another_user(path) = "the socket {path} belongs to another user", "套接字 {path} 属于其他用户";
    name_the_server_you_mean_with_server = "name the server you mean with --server", "请用 --server 指明要用的服务器";
    the_connection_to_the_server_broke_cause(cause) =
        "the connection to the server broke: {cause}",
        "与服务器的连接中断：{cause}";
    see_whether_it_was_done_danlu_ls = "see whether it was done: danlu ls", "请确认是否已完成：danlu ls";
    the_servers_answer_makes_no_sense_words(words) =
        "the server's answer makes no sense: {words}",
        "无法理解服务器的回答：{words}";
    are_server_and_command_of_the_same_version =
        "are server and command of the same version? danlu version",
        "服务器与命令的版本是否一致？danlu version";
    there_is_no_such_socket = "there is no such socket", "没有该套接字";
    nobody_answers_there = "nobody answers there", "无人应答";
    could_not_reach_the_server_at_at_cause(at, cause) =
        "could not reach the server at {at}: {cause}",
        "无法连接服务器 {at}：{cause}";
    danlu_up_starts_one_server_names_another =
        "danlu up starts one; --server names another",
        "danlu up 可启动服务器；--server 可指明另一个";
    you_may_not_use_the_socket_path(path) = "you may not use the socket {path}", "您无权使用套接字 {path}";
    it_belongs_to_somebody_elses_server_start =
        "it belongs to somebody else's server: start your own with danlu up, or name another with --server",
        "它属于他人的服务器：请用 danlu up 启动自己的，或用 --server 指明另一个";
    the_server_is_away_trying_again = "the server is away; trying again", "服务器暂时不可用，正在重试";
    the_task_may_have_been_queued_danlu_ls = "the task may have been queued: danlu ls", "任务可能已经提交：danlu ls";
    could_not_read_dev_urandom_cause(cause) = "could not read /dev/urandom: {cause}", "无法读取 /dev/urandom：{cause}";
    is_dev_mounted = "is /dev mounted?", "/dev 是否已挂载？";
    there_are_no_certificates_to_trust = "there are no certificates to trust", "没有可信任的证书";
    could_not_read_shown_cause(shown, cause) = "could not read {shown}: {cause}", "无法读取 {shown}：{cause}";
}

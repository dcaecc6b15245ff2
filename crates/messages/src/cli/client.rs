//! Sentences of cli/client.

messages! {
    socket_of_another_user(path) = "the socket {path} belongs to another user", "套接字 {path} 属于其他用户";
    choose_server = "choose the server with --server", "请用 --server 指定服务器";
    connection_lost(cause) =
        "the connection to the server was lost: {cause}",
        "与服务器的连接中断：{cause}";
    see_whether_it_was_done_danlu_ls = "check whether it was done: danlu ls", "请确认是否已完成：danlu ls";
    unexpected_response(words) =
        "unexpected response from the server: {words}",
        "服务器的响应异常：{words}";
    compare_versions =
        "check that client and server have the same version: danlu version",
        "请检查客户端与服务器的版本是否一致：danlu version";
    no_such_socket = "no such socket", "没有该套接字";
    nobody_answers_there = "connection refused", "连接被拒绝";
    could_not_reach_server(at, cause) =
        "could not reach the server at {at}: {cause}",
        "无法连接服务器 {at}：{cause}";
    start_or_choose_server =
        "start one with danlu up, or choose another with --server",
        "请用 danlu up 启动服务器，或用 --server 指定另一个";
    you_may_not_use_the_socket_path(path) = "permission denied: socket {path}", "没有权限：套接字 {path}";
    foreign_server =
        "it belongs to another user's server: start your own with danlu up, or choose another with --server",
        "它属于其他用户的服务器：请用 danlu up 启动自己的，或用 --server 指定另一个";
    server_away_retrying = "the server is unavailable; retrying", "服务器暂时不可用，正在重试";
    maybe_queued = "the task may already be queued: danlu ls", "任务可能已经提交：danlu ls";
    could_not_read_dev_urandom_cause(cause) = "could not read /dev/urandom: {cause}", "无法读取 /dev/urandom：{cause}";
    is_dev_mounted = "is /dev mounted?", "/dev 是否已挂载？";
    no_certificates = "no trusted certificates found", "找不到可信任的证书";
    could_not_read_shown_cause(shown, cause) = "could not read {shown}: {cause}", "无法读取 {shown}：{cause}";
}

//! Sentences of cli/agent.

messages! {
    print_unit = "Show the unit file, and change nothing", "只显示单元文件，不做任何更改";
    write_below_directory = "Write below this directory, and start nothing", "写入该目录之下，且不启动任何服务";
    installed_and_started =
        "installed and started; status: systemctl status danlu-agent\n",
        "已安装并启动；查看状态：systemctl status danlu-agent\n";
    wrote_unit(shown) =
        "wrote {shown}; systemd is not running here, start it with: systemctl enable --now danlu-agent\n",
        "已写入 {shown}；此处没有运行 systemd，请用以下命令启动：systemctl enable --now danlu-agent\n";
    unknown_token = "unknown token", "未知令牌";
    on_the_server_danlu_node_token_name = "on the server: danlu node token NAME", "在服务器上：danlu node token 名称";
    danlu_host_port_why_trying_again(host, port, why) =
        "danlu: {host}:{port}: {why}; retrying",
        "danlu：{host}:{port}：{why}；将重试";
    work_for_a_server_elsewhere = "Work for a server elsewhere", "为另一台机器上的服务器工作";
    help =
        "A machine that the server cannot reach dials in by itself. On the server:\n  \
           danlu node add gpu9 --dial-in\n\n\
         and on the machine, with the address and the token that this prints:\n  \
           danlu agent join https://server:8787 --token TOKEN        # to try\n  \
           danlu agent install https://server:8787 --token TOKEN     # as a service",
        "服务器无法到达的机器可以主动连接。在服务器上：\n  \
           danlu node add gpu9 --dial-in\n\n\
         然后在该机器上，使用打印出的地址和令牌：\n  \
           danlu agent join https://server:8787 --token TOKEN        # 试用\n  \
           danlu agent install https://server:8787 --token TOKEN     # 作为服务";
    dial_in_to_a_server_and_stay = "Dial in to a server, and stay", "连接到服务器并保持连接";
    usage_join =
        "danlu agent join URL --token TOKEN [OPTIONS]",
        "danlu agent join 地址 --token 令牌 [选项]";
    install_as_service = "The same as a service of this machine", "同上，作为本机的服务";
    usage_install =
        "danlu agent install URL --token TOKEN [OPTIONS]",
        "danlu agent install 地址 --token 令牌 [选项]";
    server_url = "The server: https://HOST:PORT", "服务器地址：https://主机:端口";
    token_from_node_add =
        "What `danlu node add --dial-in` printed (DANLU_AGENT_TOKEN)",
        "`danlu node add --dial-in` 打印的令牌（DANLU_AGENT_TOKEN）";
    token_file =
        "A file with the token, readable by its owner alone",
        "存放令牌的文件，仅属主可读";
    trusted_certificate = "A certificate to trust (DANLU_CA)", "要信任的证书（DANLU_CA）";
    allow_plain =
        "Allow http:// to another machine: anyone on the network can read all traffic",
        "允许以 http:// 连接其他机器：网络上的任何人都能读到内容";
    no_token = "no token given", "未提供令牌";
    get_token_from_server =
        "on the server, `danlu node add NAME --dial-in` prints one: give it with --token",
        "在服务器上运行 `danlu node add 名称 --dial-in` 可得到令牌，用 --token 给出";
    url_not_encrypted(url) =
        "{url} is not encrypted: anyone on the network could read the token",
        "{url} 未加密：网络上的任何人都能读到令牌";
    use_https_or_plain =
        "use https://, or --plain in a trusted network",
        "请用 https://，或在可信网络中加 --plain";
    unreadable_token_file = "it is readable by other users, or contains no token", "其他用户可读，或不含令牌";
    bad_token = "not a machine token, or incomplete", "不是机器令牌，或不完整";
    url_is_not_the_address_of_a_server(url) = "invalid server address: `{url}`", "服务器地址无效：`{url}`";
}

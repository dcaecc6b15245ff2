//! Sentences of cli/up.

messages! {
    run_the_server_in_the_foreground = "Run the server in the foreground", "在前台运行服务器";
    help =
        "Examples:\n  \
           danlu up                               serve this machine\n  \
           danlu up --data ./try --sim-gpus 4     try it with four simulated GPUs\n\n\
         Ctrl-C or `danlu down` stops the server; running tasks go on.",
        "示例：\n  \
           danlu up                               为本机服务\n  \
           danlu up --data ./try --sim-gpus 4     用四块模拟的 GPU 试一试\n\n\
         Ctrl-C 或 `danlu down` 会停止服务器；正在运行的任务继续运行。";
    listen =
        "Address to listen on; port 0 picks a free one (default: 127.0.0.1:8787 and [::1]:8787)",
        "监听地址；端口 0 表示任选空闲端口（默认：127.0.0.1:8787 和 [::1]:8787）";
    data_directory = "Data directory, on a local disk", "数据目录，须在本地磁盘上";
    simulated_gpus =
        "Simulate this many GPUs instead of using real ones",
        "模拟 N 块 GPU，而不查找真实的 GPU";
    configuration_file = "The configuration file", "配置文件";
    accept_loss =
        "Continue with a database that is older than expected; unfinished tasks are held",
        "接受较旧的数据库并继续；未结束的任务会被扣住";
    not_encrypted(address) =
        "warning: {address} is not encrypted: passwords and tokens can be read on the network",
        "警告：{address} 未加密：网络上可以读到密码和令牌";
    encrypt_or_localhost =
        "remove plain_http to use HTTPS, or listen on 127.0.0.1 behind an encrypting proxy",
        "去掉 plain_http 以使用 HTTPS，或只监听 127.0.0.1 并由代理加密";
    not_root =
        "not root: serving this user only, tasks run as this user",
        "不是 root：只为当前用户服务，任务以当前用户身份运行";
    first_admin =
        "no administrator yet; create the first one here (works once):",
        "尚无管理员；请在此创建第一个（一次有效）：";
}

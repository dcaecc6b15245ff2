//! Mistakes in `[metrics]` and `[[influxdb]]`.

messages! {
    token_twice = "give the token in a file or in a variable, not in both", "令牌只能来自文件或环境变量之一";
    bad_address(text) =
        "`{text}` is not an address such as 127.0.0.1 or a network such as 10.0.0.0/8",
        "`{text}` 不是地址（如 127.0.0.1）或网段（如 10.0.0.0/8）";
    too_many_addresses(most) = "there are at most {most} addresses", "地址最多 {most} 个";
    too_many_databases(most) = "there are at most {most} databases", "数据库最多 {most} 个";
    database_twice = "another entry names the same database", "已有条目写入同一个数据库";
    bad_url =
        "expected an address such as http://localhost:8086, without a user and without `?`",
        "应为 http://localhost:8086 这样的地址，不含用户名和 `?`";
    bad_version = "expected 1 or 2", "应为 1 或 2";
    needs_database =
        "version 1 needs `database`, and has no `org`, `bucket` or token",
        "版本 1 需要 `database`，不使用 `org`、`bucket` 和令牌";
    needs_bucket =
        "version 2 needs `org`, `bucket` and `token_file` or `token_env`, and has no `database`, `user` or password",
        "版本 2 需要 `org`、`bucket` 以及 `token_file` 或 `token_env`，不使用 `database`、`user` 和密码";
    user_and_password =
        "`user` and `password_file` (or `password_env`) belong together",
        "`user` 与 `password_file`（或 `password_env`）须同时给出";
    bad_interval = "expected a length of time from 1s to 1h", "应为 1s 到 1h 的时长";
    no_answer = "no answer", "没有回应";
}

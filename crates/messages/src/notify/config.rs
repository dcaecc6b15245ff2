//! Mistakes in `[notify]`.

messages! {
    language = "expected en or zh", "应为 en 或 zh";
    http_address = "expected an address that begins with http:// or https://", "应为以 http:// 或 https:// 开头的地址";
    smtp_address = "expected smtp://HOST:PORT or smtps://HOST:PORT", "应为 smtp://主机:端口 或 smtps://主机:端口";
    name_twice = "another channel has the same name", "已有同名渠道";
    bad_name =
        "a name has letters, digits, `-`, `_` and `.`, and is not `email`",
        "名称只能含字母、数字、`-`、`_`、`.`，且不能是 `email`";
    command_empty = "the command is empty", "命令为空";
    too_many(most) = "there are at most {most} channels", "渠道最多 {most} 个";
    no_such_channel(name) = "there is no channel `{name}`", "没有渠道 `{name}`";
    default_goes_nowhere(name) =
        "notify: there is no channel `{name}`, or no [notify.email] for an address",
        "notify：没有渠道 `{name}`，或填写了邮箱地址却没有 [notify.email]";
    secret_twice = "give a secret in a file or in a variable, not in both", "密钥只能来自文件或环境变量之一";
    secret_unused =
        "webhook, feishu and dingtalk take secret_file, ntfy takes token_file, others take none",
        "webhook、feishu 和 dingtalk 用 secret_file，ntfy 用 token_file，其他渠道不用密钥";
    url_missing = "`url` is missing", "缺少 `url`";
    user_and_password =
        "`user` and `password_file` (or `password_env`) belong together",
        "`user` 与 `password_file`（或 `password_env`）须同时给出";
    password_in_the_open =
        "the password would be sent unencrypted: use tls = \"required\" or smtps://",
        "密码会以明文发送：请用 tls = \"required\" 或 smtps://";
    bad_from = "`from` is not an e-mail address", "`from` 不是邮箱地址";
    unreadable_secret(path, error) = "could not read the secret in {path}: {error}", "无法读取 {path} 中的密钥：{error}";
    secret_open_to_others(path) =
        "{path} can be read by others: chmod 600 {path}",
        "其他用户可以读取 {path}：请执行 chmod 600 {path}";
    secret_empty(path) = "{path} is empty", "{path} 为空";
    variable_unset(name) = "the variable {name} is not set", "未设置环境变量 {name}";
    bad_certificates(path) = "there is no certificate in {path}", "{path} 中没有证书";
}

//! Sentences of web/manual.

messages! {
    anybody = "anybody", "任何人";
    any_account_any_token = "any account, any token", "任何账号和令牌";
    accounts_and_submit_tokens = "any account, tokens from submit on", "任何账号，submit 及以上令牌";
    oneself_and_admin_tokens = "any account by itself, tokens of scope admin", "账号本人，或 admin 令牌";
    administrators = "administrators", "管理员";
    administrators_and_metrics_readers =
        "administrators, and who `[metrics]` lets in",
        "管理员，以及 `[metrics]` 放行的读取者";
    name_count(name, count) = "/{name} ({count})", "/{name}（{count}）";
}

//! Sentences of web/me.

messages! {
    read = "read", "只读";
    submit = "submit", "提交";
    everything = "everything", "全部";
    passwords_differ = "the new passwords do not match", "两次输入的新密码不同";
    new_token = "A new token", "新令牌";
    copy_it_now_it_is_not_shown_again = "Copy it now: it is not shown again.", "请立即复制：之后不再显示。";
}

//! Sentences of web/page.

messages! {
    this_is_not_here = "Not found", "找不到";
    you_may_not_do_this = "Permission denied", "没有权限";
    this_was_not_understood = "Invalid request", "请求无效";
    this_was_refused = "Request refused", "请求被拒绝";
    too_often = "Too many requests", "请求过于频繁";
    not_now = "Temporarily unavailable", "暂时不可用";
    something_is_broken_here = "Server error", "服务器出错";
}

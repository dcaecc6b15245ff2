//! Sentences of web/page.

messages! {
    not_found = "Not found", "找不到";
    permission_denied = "Permission denied", "没有权限";
    invalid_request = "Invalid request", "请求无效";
    request_refused = "Request refused", "请求被拒绝";
    too_often = "Too many requests", "请求过于频繁";
    not_now = "Temporarily unavailable", "暂时不可用";
    something_is_broken_here = "Server error", "服务器出错";
}

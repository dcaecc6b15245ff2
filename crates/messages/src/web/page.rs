//! Sentences of web/page.

messages! {
    this_is_not_here = "This is not here", "找不到";
    you_may_not_do_this = "You may not do this", "没有权限";
    this_was_not_understood = "This was not understood", "无法理解该请求";
    this_was_refused = "This was refused", "请求被拒绝";
    too_often = "Too often", "请求过于频繁";
    not_now = "Not now", "暂时无法完成";
    something_is_broken_here = "Something is broken here", "服务器出错";
}

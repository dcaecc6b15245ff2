//! The tabs above the list of tasks, and the choices of its filters.

messages! {
    all = "All", "全部";
    running = "Running", "运行中";
    waiting = "Waiting", "等待中";
    failed = "Failed", "失败";
    ended = "Ended", "已结束";
    more_than(count) = "more than {count}", "超过 {count}";
    any_time = "any time", "不限";
    last_day = "the last 24 hours", "24 小时内";
    last_week = "the last 7 days", "7 天内";
    last_month = "the last 30 days", "30 天内";
    last_year = "the last year", "一年内";
    newest_first = "newest first", "最新提交";
    ended_last_first = "last ended first", "最近结束";
    longest_first = "longest first", "运行最久";
}

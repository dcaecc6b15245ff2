//! The tabs above the list of tasks.

messages! {
    all = "All", "全部";
    running = "Running", "运行中";
    waiting = "Waiting", "等待中";
    failed = "Failed", "失败";
    ended = "Ended", "已结束";
}

//! Words of reports, for the command line, pages, pictures and messages.

use crate::amounts;

/// The heading of what lines are by.
pub fn heading(name: &str) -> &str {
    match name {
        "user" => user(),
        "project" => project(),
        "node" => node(),
        "model" => model(),
        "day" => day(),
        "week" => week(),
        "month" => month(),
        other => other,
    }
}

/// What a line is of; some have no name.
pub fn key(name: &str, value: Option<String>) -> String {
    value.unwrap_or_else(|| {
        let none = match name {
            "project" => no_project(),
            "model" => no_gpu(),
            _ => nobody(),
        };
        none.to_owned()
    })
}

/// With as many digits as are of interest.
pub fn number(amount: f64) -> String {
    match amount {
        0.0 => "0".to_owned(),
        _ if amount < 0.095 => format!("{amount:.3}"),
        _ if amount < 0.95 => format!("{amount:.2}"),
        _ if amount < 99.95 => format!("{amount:.1}"),
        _ => format!("{amount:.0}"),
    }
}

/// A length of time from seconds, in short.
pub fn length(seconds: f64) -> String {
    amounts::two_units(seconds.max(0.0).round() as u64)
}

messages! {
    gpu_hours = "GPU-hours", "GPU 小时";
    hours_of(of, hours) = "{of}: {hours} GPU-hours", "{of}：{hours} GPU 小时";
    others = "others", "其他";
    no_project = "(no project)", "（无项目）";
    no_gpu = "(no GPU)", "（无 GPU）";
    nobody = "(unknown)", "（未知）";
    user = "User", "用户";
    project = "Project", "项目";
    node = "Machine", "机器";
    model = "GPU model", "GPU 型号";
    day = "Day", "日期";
    week = "Week", "周";
    month = "Month", "月份";
    share = "Share", "占比";
    cpu_hours = "CPU-hours", "CPU 小时";
    tasks = "Tasks", "任务";
    failed = "Failed", "失败";
    waited = "Waited", "等待";
    median_and_p90 = "Waited (median, 90 %)", "等待（中位数、90 %）";
    used = "GPU use", "GPU 利用率";
    idle = "Idle", "空闲";
    idle_hours = "Idle GPU-hours", "空闲 GPU 小时";
    energy = "Energy", "能耗";
    failures = "Failures", "失败原因";
    total = "Total", "合计";
    kilowatt_hours(amount) = "{amount} kWh", "{amount} kWh";
    class_and_count(class, count) = "{class} {count}", "{class} {count}";
    running_of(running) = "{running} running", "{running} 个在运行";
    nothing_used = "Nothing ran in this time.", "这段时间没有任务运行。";
    own_only =
        "Only your own tasks: others' are visible to administrators alone.",
        "仅包含您自己的任务：其他人的只有管理员可见。";
    not_complete_yet =
        "Older tasks are still being read; there will be more.",
        "正在读取较早的任务，数字还会增加。";
}

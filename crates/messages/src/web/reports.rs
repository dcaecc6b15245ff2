//! Sentences of web/reports.

messages! {
    range = "Range", "时间范围";
    group_by = "Group by", "分组";
    last_days(days) = "{days} days", "{days} 天";
    from = "From", "从";
    to = "to", "到";
    only_of_user(user) = "Only tasks of {user}.", "只看 {user} 的任务。";
    of_all = "Show all", "显示全部";
    more_in_csv(more) = "{more} more lines are in the CSV.", "另有 {more} 行，见 CSV。";
    days_of_zone(zone) = "Days are those of {zone}.", "日期按时区 {zone}。";
}

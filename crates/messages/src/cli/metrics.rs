//! Sentences of cli/metrics.

messages! {
    about = "Print the metrics for Prometheus, or write dashboards for Grafana", "输出 Prometheus 指标，或写出 Grafana 仪表盘";
    danlu_metrics_dashboards_dir = "danlu metrics [--dashboards DIR]", "danlu metrics [--dashboards 目录]";
    help =
        "Prometheus reads the same at /metrics; [metrics] in the configuration says who may read it. For admins.\n\n\
         Examples:\n  danlu metrics | promtool check metrics\n  danlu metrics --dashboards ./grafana",
        "Prometheus 在 /metrics 读取同样的内容；配置里的 [metrics] 决定谁可以读。仅限管理员。\n\n\
         示例：\n  danlu metrics | promtool check metrics\n  danlu metrics --dashboards ./grafana";
    write_dashboards = "Write the dashboards into this directory, for Grafana to import", "把仪表盘写入此目录，供 Grafana 导入";
    could_not_write(path, cause) = "could not write to {path}: {cause}", "无法写入 {path}：{cause}";
}

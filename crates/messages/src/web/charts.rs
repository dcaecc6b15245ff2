//! Sentences of web/charts.

messages! {
    heading = "Use", "资源使用";
    gpu_utilization = "GPU use", "GPU 利用率";
    gpu_memory = "GPU memory", "显存";
    gpu_temperature = "Temperature", "温度";
    gpu_power = "Power", "功率";
    cpu = "CPU", "CPU";
    cores = "CPU cores", "CPU 核";
    memory = "Memory", "内存";
    load = "Load", "负载";
    disk = "Disk", "磁盘";
    disk_read = "read", "读";
    disk_written = "written", "写";
    network = "Network", "网络";
    network_received = "received", "接收";
    network_sent = "sent", "发送";
    last_10_minutes = "10 min", "10 分钟";
    last_hour = "1 h", "1 小时";
    last_day = "1 day", "1 天";
    last_week = "1 week", "1 周";
    all = "All", "全部";
    all_attempts = "All attempts", "全部尝试";
    attempt = "Attempt #", "第 # 次";
    time = "Time", "时间";
    range = "Range", "范围";
    drag = "Drag to look closer, double-click for all.", "拖动可放大，双击看全部。";
    no_samples_of_run = "No samples: it ended before it was measured, its machine does not measure, or it was too long ago.", "没有采样：运行太短、所在机器不采样，或已过保留期。";
    no_samples = "No samples yet.", "还没有采样。";
}

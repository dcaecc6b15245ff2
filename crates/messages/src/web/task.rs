//! Sentences of web/task.

messages! {
    succeeds = "succeeds", "成功后";
    ends = "ends", "结束后";
    fails = "fails", "失败后";
    yes = "yes", "是";
    project = "Project", "项目";
    labels = "Labels", "标签";
    directory = "Directory", "工作目录";
    environment = "Environment", "环境";
    cpu_cores = "CPU cores", "CPU 核";
    memory = "Memory", "内存";
    gpu_memory = "GPU memory", "显存";
    shares_gpus = "Shares GPUs", "共享 GPU";
    time_limit = "Time limit", "时间上限";
    priority = "Priority", "优先级";
    urgent = "Urgent", "加急";
    may_be_preempted = "May be preempted", "可被抢占";
    retries = "Retries", "重试次数";
    output = "Output", "输出";
    cpu_time = "CPU time", "CPU 时间";
    peak_memory = "Peak memory", "内存峰值";
}

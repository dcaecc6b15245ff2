//! Sentences of web/states.

messages! {
    ended = "ended", "已结束";
    held = "held", "扣住";
    blocked = "blocked", "受阻";
    waiting = "waiting", "排队";
    starting = "starting", "启动中";
    running = "running", "运行";
    paused = "paused", "暂停";
    stopping = "stopping", "停止中";
    lost = "lost", "失联";
    unknown = "unknown", "未知";
    succeeded = "succeeded", "成功";
    failed = "failed", "失败";
    cancelled = "cancelled", "已取消";
    timed_out = "timed out", "超时";
    could_not_be_started = "could not be started", "无法启动";
    gpu_memory_ran_out = "out of GPU memory", "显存不足";
    memory_of_the_machine_ran_out = "out of memory", "内存不足";
    gpus_could_not_talk_to_each_other = "GPU communication failed", "GPU 间通信失败";
    gpu_hardware_error = "GPU hardware error", "GPU 硬件故障";
    reached_its_time_limit = "time limit reached", "达到时间上限";
    made_room_for_others = "preempted", "被抢占";
    python_exception = "Python exception", "Python 异常";
    env_missing = "missing module or library", "缺少模块或库";
    disk_full = "disk full", "磁盘已满";
    command_not_found = "command not found", "找不到命令";
    held_gpus_idle = "stopped: its GPUs were not used", "已停止：GPU 闲置";
    node_lost = "lost with its machine", "机器没有恢复";
    was_killed = "killed", "被终止";
    ended_with_an_error = "ended with an error", "出错退出";
    help_launch =
        "Correct the task according to the message and submit a copy.",
        "请根据提示修改后复制提交。";
    help_cuda_oom =
        "Use a smaller batch, or submit a copy that asks for more GPU memory.",
        "请减小批大小，或复制任务并要求更多显存。";
    help_host_oom = "Submit a copy that asks for more memory.", "请复制任务并要求更多内存。";
    help_nccl =
        "Retry; if it fails again, ask an administrator to check the interconnect.",
        "请重试；若仍失败，请管理员检查互联。";
    help_gpu_hardware =
        "Retry on another GPU; an administrator must check this one.",
        "请换卡重试；需要管理员检查该 GPU。";
    help_timeout = "Submit a copy with a longer time limit.", "请复制任务并延长时间上限。";
    help_idle =
        "Retry it when it can use its GPUs; answer the question before it is stopped with danlu keep.",
        "待其能使用 GPU 时再重试；停止前可用 danlu keep 保留。";
    help_node_lost =
        "It may still be running until the machine is back; retry it elsewhere.",
        "机器恢复前它可能仍在运行；可在别处重试。";
    help_see_log = "See the log below.", "详见下方日志。";
    help_env_missing =
        "Check the environment (conda, venv) of the task.",
        "请检查任务的环境（conda、venv）。";
    free_some_space_then_retry = "Free some space, then retry.", "请清理磁盘后重试。";
    check_the_command_and_its_directory = "Check the command and its directory.", "请检查命令与工作目录。";
}

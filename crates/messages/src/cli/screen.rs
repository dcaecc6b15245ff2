//! Sentences of cli/screen.

messages! {
    stamp_ago_ago(stamp, ago) = "{stamp} ({ago} ago)", "{stamp}（{ago} 前）";
    confirmation_required(question) = "confirmation required: {question}", "需要确认：{question}";
    add_yes = "add --yes", "请加上 --yes";
    question_y_n(question) = "{question} [y/N] ", "{question} [y/N] ";
    could_not_write_cause(cause) = "could not write: {cause}", "无法写出：{cause}";
    note_words(words) = "note: {words}\n", "注意：{words}\n";
    paths_not_answering(known, paths) =
        "{known}; the file system of {paths} does not respond",
        "{known}；{paths} 所在的文件系统没有响应";
    place_does_not_answer(place) = "{place} is unreachable", "无法连接 {place}";
    time_limit_of_limit(limit) = "time limit of {limit}", "时限 {limit}";
    time_limit = "time limit", "超过时限";
    place_limit_limit(place, limit) = "{place}  limit {limit}", "{place}  时限 {limit}";
    ended_at(at) = "ended {at}", "结束于 {at}";
    exit_code_code(code) = "exit code {code}", "退出码 {code}";
    killed_by_signal_signal(signal) = "killed by signal {signal}", "被信号 {signal} 终止";
    could_not_start = "could not start", "无法启动";
    cuda_out_of_memory = "CUDA out of memory", "显存不足";
    out_of_memory = "out of memory", "内存不足";
    nccl_error = "NCCL error", "NCCL 错误";
    gpus_not_used = "its GPUs were not used", "GPU 闲置";
    lost_with_machine = "lost with its machine", "机器失联";
    gpu_hardware_error = "GPU hardware error", "GPU 硬件错误";
    preempted = "preempted", "被抢占";
    python_exception = "Python exception", "Python 异常";
    environment_missing = "environment missing", "环境缺失";
    disk_full = "disk full", "磁盘已满";
    command_not_found = "command not found", "找不到命令";
    killed = "killed", "被终止";
    failed = "failed", "失败";
    peak_gpu_memory(used, asked) =
        "peak GPU memory was {used}: --vram {asked}",
        "显存峰值为 {used}：--vram {asked}";
}

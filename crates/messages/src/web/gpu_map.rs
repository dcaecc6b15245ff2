//! Sentences of web/gpu_map.

messages! {
    cores_cores(cores) = "{cores} cores", "{cores} 核";
    memory_ram(memory) = "{memory} RAM", "{memory} 内存";
    not_reached_yet = "not connected yet", "尚未连接";
    unreachable_tasks_continue = "unreachable; its tasks continue", "暂时无法连接，其任务仍在运行";
    draining_nothing_new_starts_here = "draining: no new tasks start here", "排空中：不再启动新任务";
    free = "free", "空闲";
    in_use = "in use", "使用中";
    outside = "used outside Danlu", "外部占用";
    not_given_out = "disabled", "停用";
    memory_not_freed = "memory not freed", "显存未释放";
    set_aside = "set aside", "已隔离";
    also_reported_by_others(others) = "also reported by {others}", "{others} 也报告了它";
    idle_for(time) = "idle {time}", "闲置 {time}";
    unknown = "unknown", "未知";
}

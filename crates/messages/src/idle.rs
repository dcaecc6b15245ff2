//! GPUs that are held and not used, in words.

use danlu_core::Span;
use danlu_core::idle::IdleKind;

/// Why a GPU counts as idle.
pub fn kind(kind: IdleKind) -> &'static str {
    match kind {
        IdleKind::NoProcess => no_process(),
        IdleKind::NeverUsed => never_used(),
        IdleKind::UsedThenIdle => used_then_idle(),
        IdleKind::Pulses => pulses(),
    }
}

/// `idle for 2 h (no process)`.
pub fn idle(for_: Span, why: IdleKind) -> String {
    idle_for(&crate::amounts::two_units(for_.0 / 1_000), &kind(why))
}

messages! {
    no_process = "no process", "没有进程";
    never_used = "never used", "从未使用";
    used_then_idle = "no longer used", "不再使用";
    pulses = "only keep-alive load", "仅有保活负载";
    idle_for(time, why) = "idle for {time} ({why})", "已闲置 {time}（{why}）";
    too_soon(key, least) = "{key} is too short: at least {least}", "{key} 过短：至少 {least}";
    too_soon_hint =
        "programs load data and evaluate for a while without using a GPU",
        "程序加载数据和评估时会有一段时间不使用 GPU";
    gpus_not_used = "Its GPUs are not used", "它的 GPU 闲置";
    kept_until_label = "Kept until", "保留至";
    keep_two_hours = "Keep them 2 h", "保留 2 小时";
    stopped_stays = "stopped, keeps its memory", "已停止，仍占用显存";
}

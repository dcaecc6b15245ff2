//! What a run has made of what it held, and what to ask for next time.

use crate::amounts::{clock, exact_bytes, length};
use danlu_core::Span;

/// What would have done as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// No GPU was ever used.
    NoGpu,
    /// Some were never used.
    FewerGpus {
        used: u32,
        held: u32,
    },
    /// It used little of its GPU: others fit beside it.
    ShareGpu {
        vram: u64,
    },
    FewerCpus {
        cpus: u32,
    },
    LessMemory {
        bytes: u64,
    },
    /// Tasks with a limit can start in gaps.
    TimeLimit {
        limit: Span,
    },
}

impl Advice {
    /// For programs.
    pub fn name(self) -> &'static str {
        match self {
            Advice::NoGpu => "no_gpu",
            Advice::FewerGpus { .. } => "fewer_gpus",
            Advice::ShareGpu { .. } => "share_gpu",
            Advice::FewerCpus { .. } => "fewer_cpus",
            Advice::LessMemory { .. } => "less_memory",
            Advice::TimeLimit { .. } => "time_limit",
        }
    }

    /// What to say to `danlu submit`.
    pub fn option(self) -> String {
        match self {
            Advice::NoGpu => "-g 0".to_owned(),
            Advice::FewerGpus { used, .. } => format!("-g {used}"),
            Advice::ShareGpu { vram } => format!("--shared --vram {}", exact_bytes(vram)),
            Advice::FewerCpus { cpus } => format!("--cpus {cpus}"),
            Advice::LessMemory { bytes } => format!("--mem {}", exact_bytes(bytes)),
            Advice::TimeLimit { limit } => format!("--time {}", length(limit.0 / 1_000)),
        }
    }

    pub fn words(self) -> String {
        let option = self.option();
        match self {
            Advice::NoGpu => no_gpu(&option),
            Advice::FewerGpus { used, held } => {
                fewer_gpus(&(held - used.min(held)), &held, &option)
            }
            Advice::ShareGpu { .. } => share_gpu(&option),
            Advice::FewerCpus { .. } => fewer_cpus(&option),
            Advice::LessMemory { .. } => less_memory(&option),
            Advice::TimeLimit { limit } => time_limit(&length(limit.0 / 1_000), &option),
        }
    }
}

/// `GPU 62 % (peak 98 %), GPU memory 18.2 GiB at most`: in one line.
pub fn gpu_line(mean: u32, peak: u32, memory: Option<u64>) -> String {
    match memory {
        Some(bytes) => use_and_memory(&mean, &peak, &crate::amounts::bytes_in_words(bytes)),
        None => use_only(&mean, &peak),
    }
}

/// How much of the time that GPUs were held, and what part of it.
pub fn idle_line(idle: u64, held: u64) -> String {
    let percent = (idle * 100).checked_div(held).unwrap_or(0);
    idle_for(&clock(idle), &percent)
}

/// `1.24 kWh`.
pub fn energy(joules: u64) -> String {
    match joules {
        0..3_600 => format!("{joules} J"),
        3_600..3_600_000 => format!("{} Wh", joules / 3_600),
        _ => format!("{:.2} kWh", joules as f64 / 3_600_000.0),
    }
}

/// `1.5`.
pub fn cores(thousandths: u64) -> String {
    format!("{:.1}", thousandths as f64 / 1_000.0)
}

messages! {
    no_gpu(option) = "No GPU was ever used: {option}", "从未用到 GPU：{option}";
    fewer_gpus(unused, held, option) = "{unused} of {held} GPUs were never used: {option}", "{held} 块 GPU 中有 {unused} 块从未用到：{option}";
    share_gpu(option) = "It used little of its GPU and could share it: {option}", "GPU 用得很少，可以与他人共享：{option}";
    fewer_cpus(option) = "Fewer CPU cores would do: {option}", "CPU 核可以少要些：{option}";
    less_memory(option) = "Less memory would do: {option}", "内存可以少要些：{option}";
    time_limit(limit, option) = "A time limit of {limit} lets it start sooner: {option}", "设时间上限 {limit} 可以更早开始：{option}";
    use_and_memory(mean, peak, memory) = "GPU use {mean} % (peak {peak} %), at most {memory} of GPU memory", "GPU 使用率 {mean} %（峰值 {peak} %），显存峰值 {memory}";
    use_only(mean, peak) = "GPU use {mean} % (peak {peak} %)", "GPU 使用率 {mean} %（峰值 {peak} %）";
    idle_for(time, percent) = "{time} ({percent} %)", "{time}（{percent} %）";
    at_most(amount) = "{amount} at most", "最高 {amount}";
    label_gpu_use = "GPU use", "GPU 使用率";
    label_gpu_memory = "GPU memory", "显存";
    label_gpu_idle = "GPU idle", "GPU 空闲";
    label_cpu = "CPU cores", "CPU 核";
    label_memory = "memory", "内存";
    label_energy = "energy", "能耗";
    label_next_time = "next time", "下次可以";
    percent_and_peak(mean, peak) = "{mean} % on average, {peak} % at most", "平均 {mean} %，最高 {peak} %";
    number_and_peak(mean, peak) = "{mean} on average, {peak} at most", "平均 {mean}，最高 {peak}";
    gpu_memory_peak = "GPU memory at most", "显存峰值";
    memory_peak = "Memory at most", "内存峰值";
    heading = "Efficiency", "使用效率";
    next_time = "Next time", "下次可以";
    gpu_use = "GPU use", "GPU 使用率";
    gpu_idle = "GPU held but idle", "GPU 占用而空闲";
    cpu = "CPU cores", "CPU 核";
    energy_used = "Energy", "能耗";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn advice_can_be_typed() {
        let words = |advice: Advice| Language::English.within(|| advice.words());
        let one = Advice::FewerGpus { used: 1, held: 4 };
        assert_eq!(words(one), "3 of 4 GPUs were never used: -g 1");
        let share = Advice::ShareGpu { vram: 6 << 30 };
        assert!(words(share).ends_with("--shared --vram 6G"), "{}", words(share));
        let limit = Advice::TimeLimit { limit: Span::from_secs(5_400) };
        assert!(words(limit).ends_with("--time 1h30m"), "{}", words(limit));
        assert_eq!(
            (energy(500), energy(7_200), energy(4_464_000)),
            ("500 J".into(), "2 Wh".into(), "1.24 kWh".into())
        );
    }
}

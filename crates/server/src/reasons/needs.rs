//! What a task asks for, in words.

use super::{gibibytes, listed};
use crate::language::{say, text};
use danlu_core::Request;
use danlu_core::explain::constraint::Attribute;
use danlu_core::resources::{NodeSelector, Sharing};

/// `8 A100 GPUs on one machine`, `6 CPUs and 2 licence on n2`.
pub fn needs(request: &Request) -> String {
    let mut parts = Vec::new();
    parts.extend(gpus(request));
    if request.cpus > 0 {
        parts.push(cpus(request.cpus));
    }
    if request.memory > 0 {
        let size = gibibytes(request.memory);
        parts.push(say!("{size} of memory", "{size} 内存"));
    }
    parts.extend(request.resources.iter().map(|(name, count)| format!("{count} {name}")));
    let parts = if parts.is_empty() { vec![text("room", "空位").to_owned()] } else { parts };
    let parts = listed(&parts);
    let nodes = request.nodes;
    match &request.node {
        _ if request.is_gang() => {
            say!("{parts} on each of {nodes} machines", "{nodes} 台机器上各需 {parts}")
        }
        Some(NodeSelector::Name(name)) => say!("{parts} on {name}", "{name} 上的 {parts}"),
        Some(NodeSelector::Label { key, value }) => {
            say!(
                "{parts} on a machine with {key}={value}",
                "标签为 {key}={value} 的机器上的 {parts}"
            )
        }
        None if request.span_nodes => parts,
        None => say!("{parts} on one machine", "同一台机器上的 {parts}"),
    }
}

fn gpus(request: &Request) -> Option<String> {
    let (count, model) = (request.gpus_per_node(), request.gpu_model.as_deref());
    let ids: Vec<String> = request.gpu_ids.iter().map(u32::to_string).collect();
    let ids = ids.join(",");
    let mut words = match (count, model) {
        (0, _) => return None,
        _ if request.gpu_ids.len() == count as usize => format!("GPU {ids}"),
        (1, None) => say!("1 GPU", "1 块 GPU"),
        (1, Some(model)) => say!("1 {model} GPU", "1 块 {model}"),
        (count, None) => say!("{count} GPUs", "{count} 块 GPU"),
        (count, Some(model)) => say!("{count} {model} GPUs", "{count} 块 {model}"),
    };
    if !ids.is_empty() && request.gpu_ids.len() < count as usize {
        words += &say!(" with GPU {ids} among them", "（含 GPU {ids}）");
    }
    let size = gibibytes(request.gpu_memory);
    match request.sharing {
        Sharing::Shared { idle_utilization: 0 } => {
            words += &say!(" with {size} to share", "（共享，各 {size} 显存）");
        }
        Sharing::Shared { idle_utilization } => {
            words += &say!(
                " with {size} to share, {idle_utilization} % idle",
                "（共享，各 {size} 显存，空闲 {idle_utilization} %）"
            );
        }
        Sharing::Slot | Sharing::Exclusive if request.gpu_memory > 0 => {
            words += &say!(" with at least {size}", "（各至少 {size} 显存）");
        }
        Sharing::Exclusive => words += text(" for itself", "（独占）"),
        Sharing::Slot => {}
    }
    Some(words)
}

fn cpus(count: u32) -> String {
    match count {
        1 => say!("1 CPU", "1 个 CPU"),
        count => say!("{count} CPUs", "{count} 个 CPU"),
    }
}

/// What of its request there is too little of now: `short of CPUs`. Nothing to add where it is the GPUs themselves.
pub fn short_of(attributes: &[Attribute]) -> Option<String> {
    let words: Vec<String> = attributes.iter().filter_map(one_short).collect();
    let words = (!words.is_empty()).then(|| listed(&words))?;
    Some(say!("short of {words}", "缺少：{words}"))
}

fn one_short(attribute: &Attribute) -> Option<String> {
    Some(match attribute {
        Attribute::Resource { name, .. } => name.clone(),
        Attribute::Cpus { .. } => text("CPUs", "CPU").to_owned(),
        Attribute::Memory { .. } => text("host memory", "主机内存").to_owned(),
        Attribute::GpuMemory { .. } => text("GPU memory", "显存").to_owned(),
        Attribute::IdleUtilization { wanted } => {
            say!("GPUs that are {wanted} % idle", "空闲 {wanted} % 的 GPU")
        }
        Attribute::GpuIds { ids } => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            format!("GPU {}", ids.join(","))
        }
        Attribute::Exclusive => text("GPUs that nobody uses", "无人使用的 GPU").to_owned(),
        Attribute::Model { model } => say!("{model} GPUs", "{model} GPU"),
        Attribute::Node { node: NodeSelector::Name(name) } => {
            say!("room on {name}", "{name} 上的空位")
        }
        Attribute::Node { node: NodeSelector::Label { key, value } } => {
            say!("room on machines with {key}={value}", "标签为 {key}={value} 的机器上的空位")
        }
        Attribute::Nodes { .. } | Attribute::Gpus { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn what_is_asked_for_reads_as_one_would_say_it() {
        let check = |request: Request, english: &str, chinese: &str| {
            assert_eq!(Language::English.within(|| needs(&request)), english);
            assert_eq!(Language::Chinese.within(|| needs(&request)), chinese);
        };
        let model = Some("A100".to_owned());
        check(
            Request { gpu_model: model, ..Request::gpus(8) },
            "8 A100 GPUs on one machine",
            "同一台机器上的 8 块 A100",
        );
        check(
            Request { cpus: 6, ..Request::gpus(0) },
            "6 CPUs on one machine",
            "同一台机器上的 6 个 CPU",
        );
        let node = Some(NodeSelector::Name("gpu1".into()));
        check(
            Request { gpu_ids: vec![2], node, ..Request::gpus(1) },
            "GPU 2 on gpu1",
            "gpu1 上的 GPU 2",
        );
        let sharing = Sharing::Shared { idle_utilization: 50 };
        check(
            Request { sharing, gpu_memory: 20 << 30, ..Request::gpus(1) },
            "1 GPU with 20.0 GiB to share, 50 % idle on one machine",
            "同一台机器上的 1 块 GPU（共享，各 20.0 GiB 显存，空闲 50 %）",
        );
        check(
            Request { nodes: 2, ..Request::gpus(8) },
            "4 GPUs on each of 2 machines",
            "2 台机器上各需 4 块 GPU",
        );
    }
}

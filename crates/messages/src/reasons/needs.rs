//! What a task asks for, in words.

use super::words as msg;
use super::{gibibytes, listed};
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
        parts.push(msg::size_of_memory(&size));
    }
    parts.extend(request.resources.iter().map(|(name, count)| format!("{count} {name}")));
    let parts = if parts.is_empty() { vec![msg::room().to_owned()] } else { parts };
    let parts = listed(&parts);
    let nodes = request.nodes;
    match &request.node {
        _ if request.is_gang() => msg::parts_on_each_of_nodes_machines(&parts, &nodes),
        Some(NodeSelector::Name(name)) => msg::parts_on_name(&parts, &name),
        Some(NodeSelector::Label { key, value }) => {
            msg::parts_on_a_machine_with_key_value(&parts, &key, &value)
        }
        None if request.span_nodes => parts,
        None => msg::parts_on_one_machine(&parts),
    }
}

fn gpus(request: &Request) -> Option<String> {
    let (count, model) = (request.gpus_per_node(), request.gpu_model.as_deref());
    let ids: Vec<String> = request.gpu_ids.iter().map(u32::to_string).collect();
    let ids = ids.join(",");
    let mut words = match (count, model) {
        (0, _) => return None,
        _ if request.gpu_ids.len() == count as usize => format!("GPU {ids}"),
        (1, None) => msg::one_gpu().to_owned(),
        (1, Some(model)) => msg::one_gpu_of_model(&model),
        (count, None) => msg::count_gpus(&count),
        (count, Some(model)) => msg::count_model_gpus(&count, &model),
    };
    if !ids.is_empty() && request.gpu_ids.len() < count as usize {
        words += &msg::with_gpu_ids_among_them(&ids);
    }
    let size = gibibytes(request.gpu_memory);
    match request.sharing {
        Sharing::Shared { idle_utilization: 0 } => {
            words += &msg::with_size_to_share(&size);
        }
        Sharing::Shared { idle_utilization } => {
            words += &msg::shared_with_idle(&size, &idle_utilization);
        }
        Sharing::Slot | Sharing::Exclusive if request.gpu_memory > 0 => {
            words += &msg::with_at_least_size(&size);
        }
        Sharing::Exclusive => words += msg::for_itself(),
        Sharing::Slot => {}
    }
    Some(words)
}

fn cpus(count: u32) -> String {
    match count {
        1 => msg::one_cpu().to_owned(),
        count => msg::count_cpus(&count),
    }
}

/// What of its request there is too little of now: `short of CPUs`. Nothing to add where it is the GPUs themselves.
pub fn short_of(attributes: &[Attribute]) -> Option<String> {
    let words: Vec<String> = attributes.iter().filter_map(one_short).collect();
    let words = (!words.is_empty()).then(|| listed(&words))?;
    Some(msg::short_of_words(&words))
}

fn one_short(attribute: &Attribute) -> Option<String> {
    Some(match attribute {
        Attribute::Resource { name, .. } => name.clone(),
        Attribute::Cpus { .. } => msg::cpus().to_owned(),
        Attribute::Memory { .. } => msg::host_memory().to_owned(),
        Attribute::GpuMemory { .. } => msg::gpu_memory().to_owned(),
        Attribute::IdleUtilization { wanted } => msg::gpus_that_are_wanted_idle(&wanted),
        Attribute::GpuIds { ids } => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            format!("GPU {}", ids.join(","))
        }
        Attribute::Exclusive => msg::gpus_that_nobody_uses().to_owned(),
        Attribute::Model { model } => msg::model_gpus(&model),
        Attribute::Node { node: NodeSelector::Name(name) } => msg::room_on_name(&name),
        Attribute::Node { node: NodeSelector::Label { key, value } } => {
            msg::room_on_machines_with_key_value(&key, &value)
        }
        Attribute::Nodes { .. } | Attribute::Gpus { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

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
            "1 GPU shared, 20.0 GiB each, at least 50 % idle on one machine",
            "同一台机器上的 1 块 GPU（共享，各 20.0 GiB 显存，至少空闲 50 %）",
        );
        check(
            Request { nodes: 2, ..Request::gpus(8) },
            "4 GPUs on each of 2 machines",
            "2 台机器上各 4 块 GPU",
        );
    }
}

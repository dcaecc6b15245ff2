//! The `SLURM_*` variables of a job. What only its start tells are placeholders, which the node replaces; how often it was
//! started again, and its place among several machines, the node adds.

use std::collections::BTreeMap;

/// Who submits from where.
#[derive(Clone, Debug, Default)]
pub struct Submitter {
    pub user: String,
    pub directory: String,
    pub host: String,
    pub uid: u32,
    pub gid: u32,
}

/// There is one, and it has to have a name.
pub const PARTITION: &str = "danlu";
pub const CLUSTER: &str = "danlu";

/// How many processes, machines and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobShape {
    pub nodes: u32,
    pub tasks: u32,
    /// As asked for.
    pub cpus_per_task: Option<u32>,
    pub cpus_on_node: u32,
    pub gpus_per_node: u32,
    pub gpus: u32,
    /// Bytes on each machine.
    pub memory: Option<u64>,
}

impl Default for JobShape {
    fn default() -> JobShape {
        JobShape {
            nodes: 1,
            tasks: 1,
            cpus_per_task: None,
            cpus_on_node: 1,
            gpus_per_node: 0,
            gpus: 0,
            memory: None,
        }
    }
}

/// `array` has its indices, as far as they are known.
pub fn variables(
    by: &Submitter,
    name: &str,
    shape: &JobShape,
    array: Option<&[u32]>,
) -> BTreeMap<String, String> {
    let tasks_on_node = shape.tasks.div_ceil(shape.nodes.max(1));
    let on_each = |count: u32| match shape.nodes {
        0 | 1 => count.to_string(),
        nodes => format!("{count}(x{nodes})"),
    };
    let mut all: Vec<(&str, String)> = vec![
        ("SLURM_JOB_ID", "{task_id}".into()),
        ("SLURM_JOBID", "{task_id}".into()),
        ("SLURM_JOB_NAME", name.into()),
        ("SLURM_JOB_PARTITION", PARTITION.into()),
        ("SLURM_CLUSTER_NAME", CLUSTER.into()),
        ("SLURM_SUBMIT_DIR", by.directory.clone()),
        ("SLURM_JOB_NODELIST", "{node}".into()),
        ("SLURM_NODELIST", "{node}".into()),
        ("SLURMD_NODENAME", "{node}".into()),
        ("SLURM_JOB_NUM_NODES", shape.nodes.to_string()),
        ("SLURM_NNODES", shape.nodes.to_string()),
        ("SLURM_NTASKS", shape.tasks.to_string()),
        ("SLURM_NPROCS", shape.tasks.to_string()),
        ("SLURM_TASKS_PER_NODE", on_each(tasks_on_node)),
        ("SLURM_CPUS_ON_NODE", shape.cpus_on_node.to_string()),
        ("SLURM_JOB_CPUS_PER_NODE", on_each(shape.cpus_on_node)),
        ("SLURM_NODEID", "0".into()),
        ("SLURM_PROCID", "0".into()),
        ("SLURM_LOCALID", "0".into()),
        ("SLURM_GTIDS", "0".into()),
    ];
    // A page of the server knows neither.
    if !by.user.is_empty() {
        all.push(("SLURM_JOB_USER", by.user.clone()));
        all.push(("SLURM_JOB_UID", by.uid.to_string()));
        all.push(("SLURM_JOB_GID", by.gid.to_string()));
    }
    if !by.host.is_empty() {
        all.push(("SLURM_SUBMIT_HOST", by.host.clone()));
    }
    if let Some(cpus) = shape.cpus_per_task {
        all.push(("SLURM_CPUS_PER_TASK", cpus.to_string()));
    }
    if shape.gpus > 0 {
        all.push(("SLURM_GPUS", shape.gpus.to_string()));
        all.push(("SLURM_GPUS_ON_NODE", "{gpu_count}".into()));
        all.push(("SLURM_JOB_GPUS", "{gpu_list}".into()));
    }
    if let Some(bytes) = shape.memory {
        all.push(("SLURM_MEM_PER_NODE", (bytes >> 20).to_string()));
    }
    if let Some(indices) = array {
        all.push(("SLURM_ARRAY_JOB_ID", "{array_id}".into()));
        all.push(("SLURM_ARRAY_TASK_ID", "{array_index}".into()));
        if let (Some(least), Some(most)) = (indices.iter().min(), indices.iter().max()) {
            let step = match indices {
                [first, second, ..] => second.saturating_sub(*first).max(1),
                _ => 1,
            };
            all.extend([
                ("SLURM_ARRAY_TASK_COUNT", indices.len().to_string()),
                ("SLURM_ARRAY_TASK_MIN", least.to_string()),
                ("SLURM_ARRAY_TASK_MAX", most.to_string()),
                ("SLURM_ARRAY_TASK_STEP", step.to_string()),
            ]);
        }
    }
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Variables of the job that a submitter is itself part of: they are not handed on.
pub fn is_of_a_job(name: &str) -> bool {
    const KEPT: [&str; 3] = ["SLURM_CONF", "SLURM_EXPORT_ENV", "SLURM_TIME_FORMAT"];
    (name.starts_with("SLURM_") || name == "SLURMD_NODENAME") && !KEPT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_knows_itself() {
        let by = Submitter {
            user: "ann".into(),
            directory: "/home/ann".into(),
            host: "login".into(),
            uid: 1000,
            gid: 100,
        };
        let shape = JobShape {
            tasks: 2,
            cpus_per_task: Some(2),
            cpus_on_node: 4,
            gpus: 1,
            gpus_per_node: 1,
            ..JobShape::default()
        };
        let all = variables(&by, "train", &shape, Some(&[3]));
        // As Slurm 22.05 sets them for `-a 3 -n 2 -c 2 --gres=gpu:1`, with what the start tells left out.
        for (name, value) in [
            ("SLURM_ARRAY_TASK_COUNT", "1"),
            ("SLURM_ARRAY_TASK_MAX", "3"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_STEP", "1"),
            ("SLURM_CPUS_ON_NODE", "4"),
            ("SLURM_CPUS_PER_TASK", "2"),
            ("SLURM_JOB_CPUS_PER_NODE", "4"),
            ("SLURM_JOB_NUM_NODES", "1"),
            ("SLURM_NPROCS", "2"),
            ("SLURM_NTASKS", "2"),
            ("SLURM_TASKS_PER_NODE", "2"),
            ("SLURM_SUBMIT_HOST", "login"),
        ] {
            assert_eq!(all.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert!(is_of_a_job("SLURM_JOB_ID") && !is_of_a_job("SLURM_CONF") && !is_of_a_job("PATH"));
    }
}

//! What `scontrol` shows of jobs, machines and the partition, and what it may change of a job.

use danlu_messages::slurm as msg;
use danlu_spec::input_error::InputError;
use danlu_spec::{Change, Field, Patch};
use danlu_wire::api::{NodeView, TaskView};

use crate::columns::{Line, command};
use crate::environment::PARTITION;
use crate::hostlist;
use crate::reason::reason;
use crate::sinfo::node_state;
use crate::state::{JobState, exit_code};
use crate::times::{Now, long, read};

/// Lines, or one with `-o`.
fn written(lines: &[String], one_line: bool) -> String {
    match one_line {
        true => lines.join(" ") + " \n",
        false => lines.join("\n   ") + "\n   \n",
    }
}

pub fn job(task: &TaskView, now: &Now, one_line: bool) -> String {
    let line = Line::of(task, now);
    let state = JobState::of(task).map_or("UNKNOWN", JobState::long);
    let time =
        |at: Option<&str>| at.and_then(read).map_or("Unknown".to_owned(), |at| now.local(at));
    let null =
        |text: Option<String>| text.filter(|it| !it.is_empty()).unwrap_or_else(|| "(null)".into());
    let array = match (task.array, task.index) {
        (Some(array), Some(index)) => format!("ArrayJobId={array} ArrayTaskId={index} "),
        _ => String::new(),
    };
    let nodes: Vec<&str> =
        task.node.as_deref().unwrap_or_default().split(',').filter(|it| !it.is_empty()).collect();
    let (code, signal) = exit_code(task);
    let limit = task.time_limit.map_or("UNLIMITED".to_owned(), long);
    let details = task.details.as_ref();
    let (cpus, memory) = (line.cpus(), line.memory());
    let count = nodes.len().max(1);
    let mut lines = vec![
        format!("JobId={} {array}JobName={}", task.id, task.name),
        format!("UserId={}({}) GroupId={}({}) MCS_label=N/A", task.user, 0, task.user, 0),
        format!(
            "Priority={} Nice=0 Account={} QOS=normal",
            task.priority,
            null(task.project.clone())
        ),
        format!("JobState={state} Reason={} Dependency={}", reason(task), line.dependency()),
        format!(
            "Requeue=1 Restarts={} BatchFlag=1 Reboot=0 ExitCode={code}:{signal}",
            task.attempt.saturating_sub(1)
        ),
        format!("RunTime={} TimeLimit={limit} TimeMin=N/A", long(line.elapsed())),
        format!("SubmitTime={0} EligibleTime={0}", time(Some(&task.submitted_at))),
        format!("AccrueTime={}", time(Some(&task.submitted_at))),
        format!(
            "StartTime={} EndTime={} Deadline=N/A",
            time(task.started_at.as_deref()),
            time(task.ended_at.as_deref())
        ),
        format!("Partition={PARTITION} AllocNode:Sid={}:0", "danlu"),
        "ReqNodeList=(null) ExcNodeList=(null)".to_owned(),
        format!("NodeList={}", hostlist::compress(nodes.iter().copied())),
    ];
    lines.extend(nodes.first().map(|node| format!("BatchHost={node}")));
    lines.extend([
        format!("NumNodes={count} NumCPUs={cpus} NumTasks=1 CPUs/Task={cpus} ReqB:S:C:T=0:0:*:*"),
        format!("TRES=cpu={cpus},mem={memory},node={count},billing={cpus},gres/gpu={}", task.gpus),
        format!("MinCPUsNode={cpus} MinMemoryNode={memory} MinTmpDiskNode=0"),
        "Features=(null) DelayBoot=00:00:00".to_owned(),
        "OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)".to_owned(),
        format!("Command={}", null(Some(command(task)))),
        format!("WorkDir={}", details.map(|it| it.directory.clone()).unwrap_or_default()),
    ]);
    lines.extend(
        details
            .filter(|it| !it.description.is_empty())
            .map(|it| format!("Comment={} ", it.description)),
    );
    lines.extend([
        format!("StdErr={}", line.output(true)),
        "StdIn=/dev/null".to_owned(),
        format!("StdOut={}", line.output(false)),
        "Power=".to_owned(),
    ]);
    if task.gpus > 0 {
        lines.push(format!("TresPerNode=gres:gpu:{}", task.gpus));
    }
    written(&lines, one_line)
}

pub fn node(node: &NodeView, one_line: bool) -> String {
    let labels: Vec<String> =
        node.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let features = if labels.is_empty() { "(null)".to_owned() } else { labels.join(",") };
    let total = node.memory_total >> 20;
    let used = node.memory_used.unwrap_or(0) >> 20;
    let mut lines = vec![
        format!("NodeName={} Arch=x86_64 CoresPerSocket=1 ", node.name),
        format!(
            "CPUAlloc=0 CPUEfctv={0} CPUTot={0} CPULoad={1:.2}",
            node.cpus,
            node.load.unwrap_or(0.0)
        ),
        format!("AvailableFeatures={features}"),
        format!("ActiveFeatures={features}"),
        format!("Gres=gpu:{}", node.gpus),
        format!(
            "NodeAddr={0} NodeHostName={1} Version={2}",
            node.name,
            node.host_name.as_deref().unwrap_or(&node.name),
            node.version.as_deref().unwrap_or_default()
        ),
        format!("OS={} ", node.system.as_deref().unwrap_or_default()),
        format!(
            "RealMemory={total} AllocMem=0 FreeMem={} Sockets={} Boards=1",
            total.saturating_sub(used),
            node.cpus
        ),
        format!(
            "State={} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A",
            node_state(node).to_ascii_uppercase()
        ),
        format!("Partitions={PARTITION} "),
        format!("CfgTRES=cpu={},mem={total}M,billing={0},gres/gpu={}", node.cpus, node.gpus),
        format!("AllocTRES=gres/gpu={}", node.gpus.saturating_sub(node.gpus_free)),
    ];
    lines.extend(node.problem.as_ref().map(|why| format!("Reason={why}")));
    written(&lines, one_line)
}

pub fn partition(nodes: &[NodeView], one_line: bool) -> String {
    let names = hostlist::compress(nodes.iter().map(|node| node.name.as_str()));
    let cpus: u64 = nodes.iter().map(|node| u64::from(node.cpus)).sum();
    let memory: u64 = nodes.iter().map(|node| node.memory_total >> 20).sum();
    let gpus: usize = nodes.iter().map(|node| node.gpus).sum();
    let lines = [
        format!("PartitionName={PARTITION}"),
        "AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL".to_owned(),
        "AllocNodes=ALL Default=YES QoS=N/A".to_owned(),
        "DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO".to_owned(),
        "MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED"
            .to_owned(),
        format!("Nodes={names}"),
        "PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO".to_owned(),
        "OverTimeLimit=NONE PreemptMode=REQUEUE".to_owned(),
        format!("State=UP TotalCPUs={cpus} TotalNodes={} SelectTypeParameters=NONE", nodes.len()),
        "JobDefaults=(null)".to_owned(),
        "DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED".to_owned(),
        format!(
            "TRES=cpu={cpus},mem={memory}M,node={},billing={cpus},gres/gpu={gpus}",
            nodes.len()
        ),
    ];
    written(&lines, one_line)
}

/// `JobId=12 TimeLimit=2:00:00 JobName=x`: which jobs, and what changes.
pub fn update(words: &[String]) -> Result<(String, Patch), InputError> {
    let (mut jobs, mut patch) = (None, Patch::default());
    for word in words {
        let (key, value) =
            word.split_once('=').ok_or_else(|| InputError::usage(msg::expected_key_value(word)))?;
        let field = match key.to_ascii_lowercase().as_str() {
            "jobid" | "job" | "jobs" => {
                jobs = Some(value.to_owned());
                continue;
            }
            "timelimit" => Field::Time,
            "jobname" | "name" => Field::Name,
            "priority" => Field::Priority,
            "comment" => Field::About,
            "account" => Field::Project,
            "starttime" => Field::Begin,
            "numcpus" | "mincpusnode" => Field::Cpus,
            "reqnodelist" | "nodelist" => Field::Node,
            "partition" | "qos" | "nice" => continue,
            "gres" | "trespernode" => {
                let count = value.trim_start_matches("gres:").trim_start_matches("gpu:");
                read_field(Field::Gpus, key, count, &mut patch)?;
                continue;
            }
            "minmemorynode" => {
                let bytes = danlu_spec::parse::amount::parse_bytes_in(value, 1 << 20);
                let bytes = bytes
                    .map_err(|reason| InputError::usage(msg::invalid_key(&key, &value, &reason)))?;
                patch.memory = Change::Set(bytes);
                continue;
            }
            _ => {
                return Err(InputError::refused(msg::key_cannot_be_updated(&key))
                    .hint(msg::keys_that_can_be_updated()));
            }
        };
        read_field(field, key, value, &mut patch)?;
    }
    let jobs = jobs.ok_or_else(|| InputError::usage(msg::no_job_is_named()))?;
    Ok((jobs, patch))
}

fn read_field(field: Field, key: &str, value: &str, patch: &mut Patch) -> Result<(), InputError> {
    let wrong = |reason: String| InputError::usage(msg::invalid_key(&key, &value, &reason));
    field.read(value, patch).map_err(wrong)
}

//! What `squeue` and `sacct` can tell about a job: a table of columns.

use std::collections::BTreeSet;

use danlu_core::task::Stream;
use danlu_wire::api::{RunView, TaskView};

use crate::environment::{CLUSTER, PARTITION};
use crate::hostlist;
use crate::job_id::indices;
use crate::reason::reason;
use crate::state::{JobState, exit_code};
use crate::times::{Now, long, read, short};

/// One line: a task, the waiting rest of an array, or the batch step of a task.
#[derive(Debug)]
pub struct Line<'a> {
    pub task: &'a TaskView,
    /// The indices that a line of several stands for.
    pub folded: BTreeSet<u32>,
    pub is_batch_step: bool,
    pub now: &'a Now,
}

pub struct Column {
    /// `%i` of `squeue -o`.
    pub(crate) letter: Option<char>,
    /// Of `squeue -O` and `sacct -o`; in any case of letters.
    pub(crate) names: &'static [&'static str],
    /// What `squeue` writes above it.
    pub(crate) header: &'static str,
    /// How wide `sacct` makes it.
    pub(crate) width: usize,
    pub(crate) value: fn(&Line<'_>) -> String,
    /// It is told of a single task only, not in lists.
    pub needs_details: bool,
}

/// Numbers and times are never cut, as with Slurm.
pub(crate) const NEVER_CUT: &str = "MlLDSeVCcpQ";

const fn col(
    letter: &str,
    names: &'static [&'static str],
    header: &'static str,
    width: usize,
    value: fn(&Line<'_>) -> String,
) -> Column {
    let letter = if letter.is_empty() { None } else { Some(letter.as_bytes()[0] as char) };
    Column { letter, names, header, width, value, needs_details: false }
}

#[allow(clippy::needless_pass_by_value, reason = "it is a constant")]
const fn detail(column: Column) -> Column {
    Column { needs_details: true, ..column }
}

impl std::fmt::Debug for Column {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.names.first().copied().unwrap_or(self.header))
    }
}

#[allow(clippy::redundant_closure_for_method_calls, reason = "a method is of one lifetime only")]
#[rustfmt::skip]
pub(crate) const COLUMNS: &[Column] = &[
    col("i", &["JobID"], "JOBID", 12, |line| line.job_id()),
    col("A", &["JobIDRaw"], "JOBID", 12, |line| line.raw_id()),
    col("j", &["JobName", "Name"], "NAME", 10, |line| line.name()),
    col("u", &["UserName", "User"], "USER", 9, |line| line.of_job(|task| task.user.clone())),
    col("P", &["Partition"], "PARTITION", 10, |line| line.of_job(|_| PARTITION.into())),
    col("t", &["StateCompact"], "ST", 2, |line| line.state().map_or("?", JobState::short).into()),
    col("T", &["State"], "STATE", 10, |line| line.state().map_or("UNKNOWN", JobState::long).into()),
    col("M", &["TimeUsed", "ElapsedShort"], "TIME", 10, |line| short(line.elapsed())),
    col("", &["Elapsed"], "TIME", 10, |line| long(line.elapsed())),
    col("", &["ElapsedRaw"], "TIME", 10, |line| line.elapsed().to_string()),
    col("l", &["TimeLimit"], "TIME_LIMIT", 10, |line| line.of_job(|task| task.time_limit.map_or("UNLIMITED".into(), limit))),
    col("", &["TimelimitRaw"], "TIME_LIMIT", 10, |line| line.of_job(|task| task.time_limit.map_or(String::new(), |seconds| (seconds / 60).to_string()))),
    col("L", &["TimeLeft"], "TIME_LEFT", 10, |line| line.task.time_limit.map_or("UNLIMITED".into(), |seconds| short(seconds.saturating_sub(line.elapsed())))),
    col("D", &["NumNodes", "NNodes", "AllocNodes"], "NODES", 8, |line| line.nodes().len().max(1).to_string()),
    col("R", &["ReasonList"], "NODELIST(REASON)", 20, |line| line.nodes_or_reason()),
    col("N", &["NodeList"], "NODELIST", 15, |line| line.node_list()),
    col("B", &["BatchHost"], "EXEC_HOST", 15, |line| line.nodes().first().cloned().unwrap_or("n/a".into())),
    col("r", &["Reason"], "REASON", 22, |line| reason(line.task).into()),
    col("S", &["StartTime", "Start"], "START_TIME", 19, |line| line.time(line.task.started_at.as_deref())),
    col("e", &["EndTime", "End"], "END_TIME", 19, |line| line.end_time()),
    col("V", &["SubmitTime", "Submit", "Eligible"], "SUBMIT_TIME", 19, |line| line.time(Some(&line.task.submitted_at))),
    col("F", &["ArrayJobID"], "ARRAY_JOB_ID", 12, |line| line.task.array.unwrap_or(line.task.id).to_string()),
    col("K", &["ArrayTaskID"], "ARRAY_TASK_ID", 12, |line| line.index().unwrap_or_else(|| "N/A".into())),
    col("a", &["Account"], "ACCOUNT", 10, |line| line.task.project.clone().unwrap_or_else(|| "(null)".into())),
    col("p", &["Priority"], "PRIORITY", 10, |line| line.task.priority.to_string()),
    col("Q", &["PriorityLong"], "PRIORITY", 10, |line| line.task.priority.to_string()),
    col("q", &["QOS"], "QOS", 10, |_| "normal".into()),
    col("", &["ExitCode", "DerivedExitCode"], "EXIT_CODE", 8, |line| { let (code, signal) = exit_code(line.task); format!("{code}:{signal}") }),
    col("", &["ReqTRES", "AllocTRES"], "TRES", 10, |line| format!("billing=1,gres/gpu={}", line.task.gpus)),
    col("", &["Cluster"], "CLUSTER", 10, |_| CLUSTER.into()),
    col("f", &["Features", "Constraints"], "FEATURES", 11, |_| "(null)".into()),
    col("h", &["Oversubscribe"], "OVER_SUBSCRIBE", 10, |_| "OK".into()),
    col("g", &["GroupName", "Group"], "GROUP", 9, |line| line.task.user.clone()),
    col("U", &["UserID", "UID"], "USER", 6, |line| line.task.user.clone()),
    col("v", &["Reservation"], "RESERVATION", 20, |_| "(null)".into()),
    col("w", &["WCKey"], "WCKEY", 10, |_| "(null)".into()),
    col("y", &["Nice"], "NICE", 5, |_| "0".into()),
    col("", &["Restarts", "RestartCnt"], "RESTARTS", 8, |line| line.task.attempt.saturating_sub(1).to_string()),
    col("", &["GPUs"], "GPUS", 5, |line| line.task.gpus.to_string()),
    col("b", &["tres-per-node", "tres_per_node", "Gres"], "TRES_PER_NODE", 20, |line| match line.task.gpus { 0 => "N/A".into(), gpus => format!("gres:gpu:{gpus}") }),
    detail(col("E", &["Dependency"], "DEPENDENCY", 20, |line| line.dependency())),
    detail(col("C", &["NumCPUs", "NCPUS", "AllocCPUS", "ReqCPUS"], "CPUS", 10, |line| line.cpus().to_string())),
    detail(col("c", &["MinCpus"], "MIN_CPUS", 8, |line| line.cpus().to_string())),
    detail(col("m", &["MinMemory", "ReqMem"], "MIN_MEMORY", 10, |line| line.memory())),
    detail(col("Z", &["WorkDir"], "WORK_DIR", 20, |line| line.details().map(|it| it.directory.clone()).unwrap_or_default())),
    detail(col("k", &["Comment"], "COMMENT", 14, |line| line.details().map(|it| it.description.clone()).filter(|it| !it.is_empty()).unwrap_or_else(|| "(null)".into()))),
    detail(col("o", &["Command"], "COMMAND", 20, |line| command(line.task))),
    detail(col("", &["StdOut"], "STDOUT", 20, |line| line.output(false))),
    detail(col("", &["StdErr"], "STDERR", 20, |line| line.output(true))),
    detail(col("", &["CPUTime"], "CPU_TIME", 10, |line| long(line.elapsed() * u64::from(line.cpus())))),
    detail(col("", &["CPUTimeRAW"], "CPU_TIME", 10, |line| (line.elapsed() * u64::from(line.cpus())).to_string())),
    detail(col("", &["TotalCPU", "UserCPU"], "TOTAL_CPU", 10, |line| long(line.run().and_then(|run| run.cpu_time_ms).unwrap_or(0) / 1000))),
    detail(col("", &["MaxRSS", "AveRSS"], "MAX_RSS", 10, |line| line.run().and_then(|run| run.peak_memory).filter(|_| line.is_batch_step).map_or(String::new(), |bytes| format!("{}K", bytes >> 10)))),
];

/// The script, or the command where there is none.
pub(crate) fn command(task: &TaskView) -> String {
    let words = &task.command;
    // `sh -c TEXT PATH` has its own copy of the script.
    let copied = words.iter().position(|word| word == "-c").and_then(|at| words.get(at + 2));
    let path = copied.filter(|path| path.starts_with('/'));
    path.unwrap_or(&words.join(" ")).lines().next().unwrap_or_default().to_owned()
}

/// `squeue` and `sacct` write whole days with hours.
fn limit(seconds: u64) -> String {
    if seconds < 86_400 { short(seconds) } else { long(seconds) }
}

impl<'a> Line<'a> {
    pub fn of(task: &'a TaskView, now: &'a Now) -> Line<'a> {
        Line { task, folded: BTreeSet::new(), is_batch_step: false, now }
    }

    pub fn state(&self) -> Option<JobState> {
        JobState::of(self.task)
    }

    /// `2_[1-5]`, or the element's own.
    pub fn index(&self) -> Option<String> {
        match self.folded.len() {
            0 | 1 => self.task.index.map(|index| index.to_string()),
            _ => Some(indices(&self.folded)),
        }
    }

    pub fn job_id(&self) -> String {
        let id = match (self.task.array, self.index()) {
            (Some(array), Some(index)) if self.folded.len() > 1 => format!("{array}_[{index}]"),
            (Some(array), Some(index)) => format!("{array}_{index}"),
            _ => self.task.id.to_string(),
        };
        self.with_step(id)
    }

    fn raw_id(&self) -> String {
        self.with_step(self.task.id.to_string())
    }

    fn with_step(&self, id: String) -> String {
        if self.is_batch_step { id + ".batch" } else { id }
    }

    fn name(&self) -> String {
        if self.is_batch_step { "batch".into() } else { self.task.name.clone() }
    }

    fn of_job(&self, value: impl Fn(&TaskView) -> String) -> String {
        if self.is_batch_step { String::new() } else { value(self.task) }
    }

    fn nodes(&self) -> Vec<String> {
        let names = self.task.node.as_deref().unwrap_or_default();
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    fn node_list(&self) -> String {
        hostlist::compress(self.nodes().iter().map(String::as_str))
    }

    fn nodes_or_reason(&self) -> String {
        match self.state() {
            Some(JobState::Pending) => format!("({})", reason(self.task)),
            Some(state) if state.is_over() && reason(self.task) != "None" => {
                format!("({})", reason(self.task))
            }
            Some(_) | None => self.node_list(),
        }
    }

    pub fn elapsed(&self) -> u64 {
        let Some(from) = self.task.started_at.as_deref().and_then(read) else { return 0 };
        let until = self.task.ended_at.as_deref().and_then(read).unwrap_or(self.now.at);
        u64::try_from(until.as_second() - from.as_second()).unwrap_or(0)
    }

    fn time(&self, at: Option<&str>) -> String {
        at.and_then(read).map_or("N/A".into(), |at| self.now.local(at))
    }

    /// Of a running one, when its limit is reached.
    fn end_time(&self) -> String {
        if self.task.ended_at.is_some() {
            return self.time(self.task.ended_at.as_deref());
        }
        let from = self.task.started_at.as_deref().and_then(read);
        let limit = self.task.time_limit.and_then(|seconds| i64::try_from(seconds).ok());
        let end = from.zip(limit).and_then(|(from, limit)| {
            from.checked_add(jiff::SignedDuration::from_secs(limit)).ok()
        });
        end.map_or("N/A".into(), |at| self.now.local(at))
    }

    fn details(&self) -> Option<&danlu_wire::api::TaskDetails> {
        self.task.details.as_ref()
    }

    fn run(&self) -> Option<&RunView> {
        self.details()?.runs.iter().max_by_key(|run| run.attempt)
    }

    pub fn cpus(&self) -> u32 {
        self.details().map_or(1, |it| it.request.cpus.max(1) * it.request.nodes.max(1))
    }

    pub fn memory(&self) -> String {
        match self.details().map_or(0, |it| it.request.memory) {
            0 => "0".into(),
            bytes if bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
            bytes => format!("{}M", bytes >> 20),
        }
    }

    pub fn dependency(&self) -> String {
        use danlu_core::task::DependencyKind as Kind;
        let after = self.details().map(|it| it.after.as_slice()).unwrap_or_default();
        let word = |kind: &Kind| match kind {
            Kind::AfterOk => "afterok",
            Kind::AfterAny => "afterany",
            Kind::AfterNotOk => "afternotok",
        };
        let one = |it: &danlu_core::task::Dependency| {
            format!("{}:{}(unfulfilled)", word(&it.kind), it.task)
        };
        match after {
            [] => "(null)".into(),
            some => some.iter().map(one).collect::<Vec<_>>().join(","),
        }
    }

    /// The file of a stream, with its placeholders replaced.
    pub fn output(&self, of_errors: bool) -> String {
        let Some(details) = self.details() else { return String::new() };
        let path = |stream: &Option<Stream>| match stream {
            Some(Stream::Append { path } | Stream::Truncate { path }) => Some(path.clone()),
            Some(Stream::Discard) => Some("/dev/null".to_owned()),
            None => None,
        };
        let output = &details.output;
        let errors = of_errors.then(|| path(&output.stderr)).flatten();
        let path = errors.or_else(|| path(&output.stdout)).or_else(|| output.both.clone());
        let Some(path) = path else { return String::new() };
        let element = self.task.array.zip(self.task.index).map(|(first, index)| {
            danlu_core::task::ArrayElement { first: danlu_core::TaskId(first), index }
        });
        let node = self.nodes().first().cloned().unwrap_or_default();
        let words = danlu_wire::Placeholders::new(
            danlu_core::TaskId(self.task.id),
            element,
            &node,
            &self.task.gpu_ids,
        );
        let path = words.put_into(&path).into_owned();
        match path.starts_with('/') {
            true => path,
            false => format!("{}/{path}", details.directory.trim_end_matches('/')),
        }
    }
}

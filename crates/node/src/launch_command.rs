//! Builds the command of a run: arguments and environment, with placeholders replaced.

use crate::user::Account;
use danlu_core::gpu::GpuVendor;
use danlu_wire::Placeholders;
use danlu_wire::launch::{Command, GpuNames, LaunchOrder, Ranks};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Ready for the operating system.
#[derive(Debug, Clone)]
pub(crate) struct CommandLine<'a> {
    /// The first of these that exists runs, under its own name. Empty: what the first word of `argv` names.
    pub(crate) programs: Vec<String>,
    pub(crate) argv: Vec<String>,
    /// By name, in order.
    pub(crate) environment: BTreeMap<&'a str, Cow<'a, str>>,
}

pub(crate) const PREEMPT_FILE: &str = "DANLU_PREEMPT_FILE";

/// Variables that belong to another run, if the task was submitted inside one.
const STALE: [&str; 14] = [
    "OLDPWD",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "DANLU_TASK_ID",
    "DANLU_RUN",
    "DANLU_ATTEMPT",
    "DANLU_ARRAY_INDEX",
    "DANLU_GPU_UUIDS",
    "DANLU_NODE",
    "DANLU_NODE_RANK",
    "DANLU_NODES",
    PREEMPT_FILE,
];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// `captured` has the submitter's variables, each with a zero byte after it. Nothing of the daemon's own is in it.
pub(crate) fn command_line<'a>(
    order: &'a LaunchOrder,
    captured: &'a str,
    account: &'a Account,
    preempt_file: &'a str,
) -> CommandLine<'a> {
    let words = Placeholders::of(order);
    let programs = match &order.command {
        Command::Shell { of_user: true, .. } => shells_of(account),
        Command::Shell { of_user: false, .. } | Command::Argv(_) => Vec::new(),
    };
    CommandLine {
        argv: argv(order, &words),
        programs,
        environment: environment(order, captured, account, preempt_file, &words),
    }
}

/// The login shell if that is bash or zsh, else bash, else sh. What exists is found out by the command itself, as its user.
fn shells_of(account: &Account) -> Vec<String> {
    let name = account.shell.rsplit('/').next().unwrap_or_default();
    let own = ["bash", "zsh"].contains(&name).then(|| account.shell.clone());
    let bash = DEFAULT_PATH.split(':').map(|directory| format!("{directory}/bash"));
    own.into_iter().chain(bash).chain(["/bin/sh".to_owned()]).collect()
}

fn argv(order: &LaunchOrder, words: &Placeholders) -> Vec<String> {
    let argument =
        order.gpus.argument.as_ref().map(|argument| format!("{argument}{}", words.gpu_list()));
    match &order.command {
        Command::Argv(argv) => {
            let words = argv.iter().map(|word| words.put_into(word).into_owned());
            words.chain(argument).collect()
        }
        Command::Shell { shell, line, .. } => {
            let line = words.put_into(line);
            let line = match argument {
                Some(argument) => format!("{line} {}", quoted(&argument)),
                None => line.into_owned(),
            };
            vec![shell.clone(), "-c".to_owned(), line]
        }
    }
}

fn environment<'a>(
    order: &'a LaunchOrder,
    captured: &'a str,
    account: &'a Account,
    preempt_file: &'a str,
    words: &Placeholders,
) -> BTreeMap<&'a str, Cow<'a, str>> {
    let mut all: BTreeMap<&str, Cow<'_, str>> = BTreeMap::from([
        ("PATH", DEFAULT_PATH.into()),
        ("HOME", account.home.as_str().into()),
        ("USER", account.name.as_str().into()),
        ("LOGNAME", account.name.as_str().into()),
        ("SHELL", account.shell.as_str().into()),
    ]);
    for variable in captured.split_terminator('\0') {
        match variable.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                all.insert(name, words.put_into(value));
            }
            // Not a variable.
            _ => {}
        }
    }
    for stale in STALE {
        all.remove(stale);
    }
    all.extend(gpu_variables(order));
    all.extend([
        ("PWD", order.directory.as_str().into()),
        ("DANLU_TASK_ID", order.task.to_string().into()),
        ("DANLU_RUN", order.run.to_string().into()),
        ("DANLU_ATTEMPT", order.attempt.to_string().into()),
        ("DANLU_NODE", order.node.as_str().into()),
        ("DANLU_GPU_UUIDS", uuids(order).into()),
        (PREEMPT_FILE, preempt_file.into()),
    ]);
    let index = order.array.map(|element| element.index.to_string());
    all.extend(index.map(|index| ("DANLU_ARRAY_INDEX", index.into())));
    all.extend(order.ranks.iter().flat_map(rank_variables));
    if all.contains_key("SLURM_JOB_ID") {
        all.extend(slurm_variables(order));
    }
    all
}

/// What of Slurm's variables only the start of a run tells.
fn slurm_variables(order: &LaunchOrder) -> Vec<Variable<'_>> {
    let restarts = order.attempt.saturating_sub(1);
    let mut variables: Vec<Variable<'_>> = Vec::new();
    // As with Slurm, it is there only once there is something to count.
    if restarts > 0 {
        variables.push(("SLURM_RESTART_COUNT", restarts.to_string().into()));
    }
    if let Some(ranks) = &order.ranks {
        let (rank, nodes) = (ranks.rank.to_string(), join(&ranks.nodes));
        variables.extend([
            ("SLURM_NODEID", rank.clone().into()),
            ("SLURM_PROCID", rank.into()),
            ("SLURM_JOB_NODELIST", nodes.clone().into()),
            ("SLURM_NODELIST", nodes.into()),
        ]);
    }
    variables
}

type Variable<'a> = (&'a str, Cow<'a, str>);

fn gpu_variables(order: &LaunchOrder) -> Vec<Variable<'_>> {
    let gpus = &order.gpus.assigned;
    let indices = join(gpus.iter().map(|gpu| gpu.index));
    let visible = match order.gpus.named_by {
        GpuNames::Index => indices.clone(),
        GpuNames::Uuid => uuids(order),
    };
    let mut variables: Vec<Variable<'_>> = Vec::new();
    if gpus.is_empty() || order.gpus.vendor == GpuVendor::Nvidia {
        variables.extend([
            ("CUDA_DEVICE_ORDER", "PCI_BUS_ID".into()),
            ("CUDA_VISIBLE_DEVICES", visible.into()),
            ("NVIDIA_VISIBLE_DEVICES", uuids(order).into()),
        ]);
    }
    if gpus.is_empty() || order.gpus.vendor == GpuVendor::Amd {
        variables.extend([
            ("ROCR_VISIBLE_DEVICES", indices.into()),
            // HIP counts among those that ROCr lets through.
            ("HIP_VISIBLE_DEVICES", join(0..gpus.len()).into()),
        ]);
    }
    variables
}

fn rank_variables(ranks: &Ranks) -> [Variable<'_>; 5] {
    [
        ("DANLU_NODE_RANK", ranks.rank.to_string().into()),
        ("DANLU_NODES", join(&ranks.nodes).into()),
        ("MASTER_ADDR", ranks.master_address.as_str().into()),
        ("MASTER_PORT", ranks.master_port.to_string().into()),
        ("WORLD_SIZE", ranks.world_size.to_string().into()),
    ]
}

fn uuids(order: &LaunchOrder) -> String {
    join(order.gpus.assigned.iter().map(|gpu| &gpu.uuid))
}

fn join<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

/// As one word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::{Epoch, RunId, TaskId};
    use danlu_wire::launch::{AssignedGpu, Environment, GpuOrder};

    fn order(command: Command, gpus: &[u32]) -> LaunchOrder {
        let run = RunId { epoch: Epoch(1), number: 2 };
        let assigned = gpus
            .iter()
            .map(|&index| AssignedGpu { uuid: format!("GPU-{index}").as_str().into(), index })
            .collect();
        let gpus = GpuOrder { assigned, ..GpuOrder::default() };
        LaunchOrder { gpus, ..LaunchOrder::new(run, TaskId(9), command, "/work") }
    }

    fn argv_of(words: &[&str]) -> Command {
        Command::Argv(words.iter().map(|&word| word.to_owned()).collect())
    }

    fn shell(line: &str) -> Command {
        Command::Shell { shell: "/bin/sh".to_owned(), line: line.to_owned(), of_user: false }
    }

    fn account() -> Account {
        Account {
            name: "ann".into(),
            uid: 1000,
            gid: 1000,
            groups: vec![],
            home: "/home/ann".into(),
            shell: "/bin/zsh".into(),
        }
    }

    #[track_caller]
    fn check_argv(order: &LaunchOrder, expected: &[&str]) {
        assert_eq!(command_line(order, "", &account(), "").argv, expected);
    }

    #[test]
    fn placeholders_are_replaced_in_arguments() {
        let command = argv_of(&[
            "train",
            "--gpus={gpu_list}",
            "{gpu_count}{task_id}",
            "{other}{",
            "{{task_id}}",
            "echo ${task_id}",
        ]);
        let expected = ["train", "--gpus=0,2", "29", "{other}{", "{9}", "echo ${task_id}"];
        check_argv(&order(command, &[0, 2]), &expected);
    }

    #[test]
    fn gpu_argument_is_appended() {
        let mut with = order(argv_of(&["train"]), &[1, 3]);
        with.gpus.argument = Some("--gpus=".into());
        check_argv(&with, &["train", "--gpus=1,3"]);
        with.command = shell("a && b {gpu_count}");
        check_argv(&with, &["/bin/sh", "-c", "a && b 2 --gpus=1,3"]);
        with.gpus.argument = Some("$(x) it's ".into());
        check_argv(&with, &["/bin/sh", "-c", r"a && b 2 '$(x) it'\''s 1,3'"]);
    }

    #[test]
    fn a_shell_line_runs_in_the_login_shell_if_that_is_bash_or_zsh_else_in_bash_else_in_sh() {
        const OTHERS: [&str; 4] = ["/usr/local/bin/bash", "/usr/bin/bash", "/bin/bash", "/bin/sh"];
        let check = |login: &str, expected: &[&str]| {
            let account = Account { shell: login.to_owned(), ..account() };
            assert_eq!(shells_of(&account), [expected, &OTHERS].concat(), "{login}");
        };
        check("/usr/bin/zsh", &["/usr/bin/zsh"]);
        check("/opt/bash/bin/bash", &["/opt/bash/bin/bash"]);
        for other in ["/bin/sh", "/usr/sbin/nologin", "/usr/bin/fish", "/bin/rbash", ""] {
            check(other, &[]);
        }
    }

    #[test]
    fn only_a_shell_line_without_a_chosen_shell_runs_in_the_users() {
        let programs = |command| command_line(&order(command, &[]), "", &account(), "").programs;
        assert!(programs(argv_of(&["x"])).is_empty());
        assert!(programs(shell("x")).is_empty());
        let line = "x".to_owned();
        let of_user = Command::Shell { shell: "/bin/sh".to_owned(), line, of_user: true };
        assert_eq!(programs(of_user)[0], "/bin/zsh");
    }

    #[track_caller]
    fn check_environment(order: &LaunchOrder, expected: &[(&str, Option<&str>)]) {
        let account = account();
        let captured = order.environment.0.join("\0");
        let environment = command_line(order, &captured, &account, "/runs/1-2/preempt").environment;
        for (name, value) in expected {
            assert_eq!(environment.get(*name).map(Cow::as_ref), *value, "{name}");
        }
    }

    #[test]
    fn submitter_environment_is_kept_and_stale_values_are_not() {
        let mut order = order(argv_of(&["x"]), &[0, 2]);
        order.environment = Environment(
            [
                "HOME=/elsewhere",
                "A=b=c",
                "G={gpu_list}",
                "CUDA_VISIBLE_DEVICES=7",
                "DANLU_RUN=0-1",
                "DANLU_ARRAY_INDEX=4",
                "DANLU_LANG=zh",
                "junk",
                "=x",
                "PWD=/old",
                "OLDPWD=/older",
            ]
            .map(String::from)
            .to_vec(),
        );
        check_environment(
            &order,
            &[
                ("HOME", Some("/elsewhere")),
                ("USER", Some("ann")),
                ("SHELL", Some("/bin/zsh")),
                ("A", Some("b=c")),
                ("G", Some("0,2")),
                ("CUDA_VISIBLE_DEVICES", Some("0,2")),
                ("CUDA_DEVICE_ORDER", Some("PCI_BUS_ID")),
                ("NVIDIA_VISIBLE_DEVICES", Some("GPU-0,GPU-2")),
                ("DANLU_GPU_UUIDS", Some("GPU-0,GPU-2")),
                ("ROCR_VISIBLE_DEVICES", None),
                ("DANLU_RUN", Some("1-2")),
                ("DANLU_TASK_ID", Some("9")),
                ("DANLU_ARRAY_INDEX", None),
                ("DANLU_LANG", Some("zh")),
                ("PWD", Some("/work")),
                ("OLDPWD", None),
                ("junk", None),
                ("", None),
                ("WORLD_SIZE", None),
            ],
        );
    }

    #[test]
    fn cpu_task_sees_no_gpu() {
        let names = [
            "CUDA_VISIBLE_DEVICES",
            "NVIDIA_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES",
        ];
        check_environment(&order(argv_of(&["x"]), &[]), &names.map(|name| (name, Some(""))));
    }

    #[test]
    fn a_job_of_slurms_knows_how_often_it_was_started_again() {
        let restarts = |captured: &str, attempt: u32| {
            let order = LaunchOrder { attempt, ..order(Command::Argv(vec!["true".into()]), &[]) };
            let account = account();
            let line = command_line(&order, captured, &account, "/run/preempt");
            line.environment.get("SLURM_RESTART_COUNT").map(|count| count.clone().into_owned())
        };
        assert_eq!(restarts("SLURM_JOB_ID={task_id}\0", 3).as_deref(), Some("2"));
        assert_eq!(restarts("SLURM_JOB_ID={task_id}\0", 1), None);
        assert_eq!(restarts("PATH=/bin\0", 3), None);
    }

    #[test]
    fn gpus_by_uuid_and_by_vendor() {
        let mut order = order(argv_of(&["x"]), &[2, 3]);
        order.gpus.named_by = GpuNames::Uuid;
        check_environment(&order, &[("CUDA_VISIBLE_DEVICES", Some("GPU-2,GPU-3"))]);
        order.gpus.vendor = GpuVendor::Amd;
        check_environment(
            &order,
            &[
                ("CUDA_VISIBLE_DEVICES", None),
                ("ROCR_VISIBLE_DEVICES", Some("2,3")),
                ("HIP_VISIBLE_DEVICES", Some("0,1")),
            ],
        );
    }

    #[test]
    fn ranks_are_told() {
        let mut order = order(argv_of(&["x"]), &[0]);
        order.ranks = Some(Ranks {
            rank: 1,
            nodes: vec!["a".into(), "b".into()],
            master_address: "10.0.0.1".into(),
            master_port: 29500,
            world_size: 2,
        });
        check_environment(
            &order,
            &[
                ("DANLU_NODE_RANK", Some("1")),
                ("DANLU_NODES", Some("a,b")),
                ("MASTER_ADDR", Some("10.0.0.1")),
                ("MASTER_PORT", Some("29500")),
                ("WORLD_SIZE", Some("2")),
            ],
        );
    }
}

//! `scontrol`: shows and changes jobs, shows machines.

use std::process::ExitCode;

use danlu_messages::slurm as msg;
use danlu_slurm::{
    Program, getopt::CommandLine, hostlist, job_id::JobId, options::Act, queries::invalid_job_id,
    scontrol,
};
use danlu_spec::Patch;
use danlu_spec::input_error::InputError;
use danlu_wire::api::{ActName, TaskView};

use super::{SlurmError, client, has, jobs, now, print, scancel, sinfo, variable, warn_of_ignored};
use crate::client::{Client, Query};

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    warn_of_ignored(Program::Scontrol, &line.options)?;
    let one_line = has(&line.options, Act::OneLine);
    let [word, rest @ ..] = line.operands.as_slice() else {
        return Err(SlurmError::new(msg::unknown_subcommand(&"")).hint(msg::known_subcommands()));
    };
    // Slurm takes beginnings of its words.
    match word.to_ascii_lowercase().as_str() {
        "show" => show(rest, one_line),
        "ping" => {
            let up = client()?.who_am_i().is_ok();
            let host = nix::unistd::gethostname().ok().and_then(|it| it.into_string().ok());
            let state = if up { "UP" } else { "DOWN" };
            print(&format!("Slurmctld(primary) at {} is {state}\n", host.unwrap_or_default()));
            Ok(if up { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        "hold" | "uhold" => act(rest, |_| ActName::Hold),
        "release" => act(rest, |_| ActName::Release),
        "suspend" => act(rest, |_| ActName::Pause),
        "resume" => act(rest, |_| ActName::Resume),
        // One that has ended is queued again as well.
        "requeue" => {
            act(rest, |task| if task.state.is_over() { ActName::Retry } else { ActName::Requeue })
        }
        "update" => update(rest),
        "version" => {
            print("slurm-wlm 22.05.8\n");
            Ok(ExitCode::SUCCESS)
        }
        other => {
            Err(SlurmError::new(msg::unknown_subcommand(&other)).hint(msg::known_subcommands()))
        }
    }
}

fn show(words: &[String], one_line: bool) -> Result<ExitCode, SlurmError> {
    let (what, named) = match words {
        [what, named, ..] => (what.as_str(), Some(named.as_str())),
        [what] => match what.split_once('=') {
            Some((what, named)) => (what, Some(named)),
            None => (what.as_str(), None),
        },
        [] => ("", None),
    };
    match what.to_ascii_lowercase().as_str() {
        "job" | "jobs" | "jobid" => show_jobs(named, one_line),
        "node" | "nodes" | "nodename" => {
            let nodes = sinfo::nodes(&client()?)?;
            let names = named.map(hostlist::expand).transpose().map_err(InputError::usage)?;
            if let Some(missing) =
                names.iter().flatten().find(|it| !nodes.iter().any(|node| node.name == **it))
            {
                return Err(SlurmError::new(msg::node_not_found(missing)));
            }
            let shown =
                nodes.iter().filter(|node| names.as_ref().is_none_or(|it| it.contains(&node.name)));
            print(
                &shown
                    .map(|node| scontrol::node(node, one_line) + if one_line { "" } else { "\n" })
                    .collect::<String>(),
            );
            Ok(ExitCode::SUCCESS)
        }
        "partition" | "partitions" | "partitionname" => {
            print(&scontrol::partition(&sinfo::nodes(&client()?)?, one_line));
            Ok(ExitCode::SUCCESS)
        }
        "hostnames" | "hostname" => {
            let list = named.map(str::to_owned).or_else(|| variable("SLURM_JOB_NODELIST"));
            let names = hostlist::expand(&list.unwrap_or_default()).map_err(InputError::usage)?;
            print(&names.iter().map(|name| format!("{name}\n")).collect::<String>());
            Ok(ExitCode::SUCCESS)
        }
        "hostlist" | "hostlistsorted" => {
            let list = hostlist::expand(named.unwrap_or_default()).map_err(InputError::usage)?;
            print(&(hostlist::compress(list.iter().map(String::as_str)) + "\n"));
            Ok(ExitCode::SUCCESS)
        }
        "config" => {
            let time = now().local(jiff::Timestamp::now());
            print(&format!("Configuration data as of {time}\n{CONFIGURATION}"));
            Ok(ExitCode::SUCCESS)
        }
        other => {
            Err(SlurmError::new(msg::unknown_subcommand(&other)).hint(msg::known_subcommands()))
        }
    }
}

/// What programs ask for.
const CONFIGURATION: &str = "\
AccountingStorageType   = accounting_storage/danlu
ClusterName             = danlu
JobRequeue              = 1
MaxArraySize            = 100001
MpiDefault              = none
PreemptMode             = REQUEUE
SLURM_VERSION           = 22.05.8
SchedulerType           = sched/danlu
SelectType              = select/danlu
";

fn show_jobs(named: Option<&str>, one_line: bool) -> Result<ExitCode, SlurmError> {
    let client = client()?;
    let tasks = match named {
        Some(list) => tasks_of(&client, list)?,
        None => client.list(&Query { oldest_first: true, ..Query::default() })?,
    };
    if named.is_some() && tasks.is_empty() {
        return Err(SlurmError::new(format!(
            "slurm_load_jobs error: {}",
            msg::invalid_job_id_specified()
        )));
    }
    let now = now();
    let tasks = jobs::with_details(&client, tasks)?;
    let shown = tasks
        .iter()
        .map(|task| scontrol::job(task, &now, one_line) + if one_line { "" } else { "\n" });
    print(&shown.collect::<String>());
    Ok(ExitCode::SUCCESS)
}

fn tasks_of(client: &Client, list: &str) -> Result<Vec<TaskView>, SlurmError> {
    let ids = JobId::read_list(list).ok_or_else(|| invalid_job_id(list))?;
    let mut tasks = Vec::new();
    for id in &ids {
        tasks.extend(jobs::named(client, id)?);
    }
    Ok(tasks)
}

fn act(words: &[String], kind: impl Fn(&TaskView) -> ActName) -> Result<ExitCode, SlurmError> {
    let list = words.join(",");
    let list = list.trim_start_matches("jobid=").trim_start_matches("JobId=");
    if list.is_empty() {
        return Err(SlurmError::new(msg::no_job_is_named()));
    }
    let client = client()?;
    let tasks = tasks_of(&client, list)?;
    if tasks.is_empty() {
        return Err(SlurmError::new(msg::invalid_job_id_specified()));
    }
    // Of an array, those that have ended are left alone, unless they are all that there is.
    let some_are_open = tasks.iter().any(|task| !task.state.is_over());
    let mut exit = ExitCode::SUCCESS;
    for task in tasks.into_iter().filter(|task| !some_are_open || !task.state.is_over()) {
        let done = scancel::act(&client, Program::Scontrol, kind(&task), &[task])?;
        if done != ExitCode::SUCCESS {
            exit = done;
        }
    }
    Ok(exit)
}

fn update(words: &[String]) -> Result<ExitCode, SlurmError> {
    let (list, patch) = scontrol::update(words)?;
    if patch == Patch::default() {
        return Ok(ExitCode::SUCCESS);
    }
    let client = client()?;
    let tasks = tasks_of(&client, &list)?;
    if tasks.is_empty() {
        return Err(SlurmError::new(msg::invalid_job_id_specified()));
    }
    for task in tasks {
        client.send("PATCH", &format!("/tasks/{}", task.id), &patch)?;
    }
    Ok(ExitCode::SUCCESS)
}

//! The verbs of `danlu`, one file each.

mod agent;
mod announce;
mod archive;
mod audit;
mod backup;
mod cancel;
mod cascade;
mod clone;
mod completions;
mod config;
mod db;
mod debug;
mod demo;
mod doctor;
mod down;
mod edit;
mod extend;
mod follow;
mod gpu;
mod gpus;
mod help;
mod hold;
mod keep;
mod logs;
mod ls;
mod man;
mod metrics;
mod move_task;
mod node;
mod node_import;
mod nodes;
mod notices;
mod notify;
mod pause;
mod pause_queue;
mod policy;
mod registry;
mod release;
mod reload;
mod report;
mod reset;
mod restore;
mod resume;
mod resume_queue;
mod retry;
mod rm;
mod run;
mod service;
mod set;
mod show;
mod sim;
mod slurm;
mod slurm_shims;
mod start;
mod status;
mod submit;
mod task_action;
mod task_output;
mod token;
mod top;
mod up;
mod user;
mod version;
mod wait;
mod why;

use std::process::ExitCode;

use crate::{client::Client, failure::Failure};
use registry::verbs;

// What the live screen shows too.
pub(crate) use ls::{machine_summary, my_summary, task_table};
// What Slurm's commands do too.
pub(crate) use notices::lines as notice_lines;
pub(crate) use run::follow_run;
pub(crate) use task_output::decode_piece as decode_log_piece;
pub(crate) use wait::{exit_code, until_ended};
pub(crate) use why::{explain as explain_wait, machines::foreign as foreign_process};

verbs! {
    Submit(submit::SubmitArguments) = "submit" ["add"],
    Run(run::RunArguments) = "run" [],
    Ls(ls::LsArguments) = "ls" ["ps", "queue"],
    Show(show::ShowArguments) = "show" [],
    Why(why::WhyArguments) = "why" [],
    Logs(logs::LogsArguments) = "logs" ["log"],
    Follow(follow::FollowArguments) = "follow" [],
    Wait(wait::WaitArguments) = "wait" [],
    Cancel(cancel::CancelArguments) = "cancel" ["kill"],
    Hold(hold::HoldArguments) = "hold" [],
    Release(release::ReleaseArguments) = "release" [],
    Pause(pause::PauseArguments) = "pause" [],
    Resume(resume::ResumeArguments) = "resume" [],
    Retry(retry::RetryArguments) = "retry" [],
    Clone(clone::CloneArguments) = "clone" [],
    Edit(edit::EditArguments) = "edit" [],
    Start(start::StartArguments) = "start" [],
    Move(move_task::MoveArguments) = "move" ["mv"],
    Extend(extend::ExtendArguments) = "extend" [],
    Keep(keep::KeepArguments) = "keep" [],
    Rm(rm::RmArguments) = "rm" [],
    Debug(debug::DebugArguments) = "debug" [],
    Status(status::StatusArguments) = "status" [],
    Top(top::TopArguments) = "top" [],
    Gpus(gpus::GpusArguments) = "gpus" [],
    Gpu(gpu::GpuArguments) = "gpu" [],
    Nodes(nodes::NodesArguments) = "nodes" ["sinfo"],
    Node(node::NodeArguments) = "node" [],
    Agent(agent::AgentArguments) = "agent" [],
    Metrics(metrics::MetricsArguments) = "metrics" [],
    Doctor(doctor::DoctorArguments) = "doctor" [],
    Up(up::UpArguments) = "up" [],
    Down(down::DownArguments) = "down" [],
    Reload(reload::ReloadArguments) = "reload" [],
    Report(report::ReportArguments) = "report" [],
    Policy(policy::PolicyArguments) = "policy" [],
    Set(set::SetArguments) = "set" [],
    User(user::UserArguments) = "user" [],
    Token(token::TokenArguments) = "token" [],
    Announce(announce::AnnounceArguments) = "announce" [],
    Notices(notices::NoticesArguments) = "notices" [],
    Notify(notify::NotifyArguments) = "notify" [],
    Audit(audit::AuditArguments) = "audit" [],
    Archive(archive::ArchiveArguments) = "archive" ["dump"],
    PauseQueue(pause_queue::PauseQueueArguments) = "pause-queue" [],
    ResumeQueue(resume_queue::ResumeQueueArguments) = "resume-queue" [],
    Config(config::ConfigArguments) = "config" [],
    Service(service::ServiceArguments) = "service" [],
    Backup(backup::BackupArguments) = "backup" [],
    Restore(restore::RestoreArguments) = "restore" [],
    Db(db::DbArguments) = "db" [],
    Reset(reset::ResetArguments) = "reset" [],
    Demo(demo::DemoArguments) = "demo" [],
    Sim(sim::SimArguments) = "sim" [],
    Slurm(slurm::SlurmArguments) = "slurm" [],
    SlurmShims(slurm_shims::ShimArguments) = "slurm-shims" [],
    Completions(completions::CompletionsArguments) = "completions" [],
    Man(man::ManArguments) = "man" [],
    Version(version::VersionArguments) = "version" [],
    Help(help::HelpArguments) = "help" [],
}

/// `server` is what `--server` says.
pub(crate) fn run(verb: Verb, server: Option<&str>) -> Result<ExitCode, Failure> {
    let client = || Client::new(server);
    let done = match verb {
        Verb::Submit(arguments) => submit::run(&client()?, &arguments),
        Verb::Run(arguments) => return run::run(client()?, &arguments),
        Verb::Ls(arguments) => return ls::run(server, &arguments),
        Verb::Show(arguments) => show::run(&client()?, &arguments),
        Verb::Why(arguments) => why::run(&client()?, &arguments),
        Verb::Logs(arguments) => logs::run(&client()?, &arguments),
        Verb::Follow(arguments) => follow::run(&client()?, *arguments),
        Verb::Wait(arguments) => return wait::run(&client()?, &arguments),
        Verb::Cancel(arguments) => return cancel::run(&client()?, &arguments),
        Verb::Hold(arguments) => return hold::run(&client()?, &arguments),
        Verb::Release(arguments) => return release::run(&client()?, &arguments),
        Verb::Pause(arguments) => return pause::run(&client()?, &arguments),
        Verb::Resume(arguments) => return resume::run(&client()?, &arguments),
        Verb::Retry(arguments) => return retry::run(&client()?, &arguments),
        Verb::Clone(arguments) => clone::run(&client()?, &arguments),
        Verb::Edit(arguments) => edit::run(&client()?, &arguments),
        Verb::Start(arguments) => return start::run(&client()?, &arguments),
        Verb::Move(arguments) => return move_task::run(&client()?, &arguments),
        Verb::Extend(arguments) => return extend::run(&client()?, &arguments),
        Verb::Keep(arguments) => return keep::run(&client()?, &arguments),
        Verb::Rm(arguments) => return rm::run(&client()?, &arguments),
        Verb::Debug(arguments) => debug::run(&client()?, &arguments),
        Verb::Status(arguments) => status::run(&client()?, &arguments),
        Verb::Top(arguments) => return top::run(server, &arguments),
        Verb::Gpus(arguments) => gpus::run(&client()?, &arguments),
        Verb::Gpu(arguments) => gpu::run(&client()?, &arguments),
        Verb::Node(arguments) => node::run(&client()?, &arguments),
        Verb::Agent(arguments) => agent::run(&arguments),
        Verb::Nodes(arguments) => nodes::run(&client()?, &arguments),
        Verb::Metrics(arguments) => metrics::run(client, &arguments),
        Verb::Doctor(arguments) => return doctor::run(server, &arguments),
        Verb::Up(arguments) => up::run(*arguments),
        Verb::Down(arguments) => down::run(&client()?, &arguments),
        Verb::Reload(arguments) => reload::run(&client()?, &arguments),
        Verb::Report(arguments) => report::run(&client()?, &arguments),
        Verb::Policy(arguments) => policy::run(&client()?, &arguments),
        Verb::Set(arguments) => set::run(&client()?, &arguments),
        Verb::User(arguments) => user::run(&client()?, &arguments),
        Verb::Token(arguments) => token::run(&client()?, &arguments),
        Verb::Announce(arguments) => announce::run(&client()?, &arguments),
        Verb::Notices(arguments) => notices::run(&client()?, &arguments),
        Verb::Notify(arguments) => notify::run(&client()?, &arguments),
        Verb::Audit(arguments) => audit::run(&client()?, &arguments),
        Verb::Archive(arguments) => archive::run(&client()?, &arguments),
        Verb::PauseQueue(arguments) => return pause_queue::run(&client()?, &arguments),
        Verb::ResumeQueue(arguments) => resume_queue::run(&client()?, &arguments),
        Verb::Config(arguments) => config::run(&client()?, &arguments),
        Verb::Service(arguments) => service::run(&arguments),
        Verb::Backup(arguments) => backup::run(&client()?, &arguments),
        Verb::Restore(arguments) => restore::run(&arguments),
        Verb::Db(arguments) => db::run(server, &arguments),
        Verb::Reset(arguments) => reset::run(&arguments),
        Verb::Demo(arguments) => return demo::run(&arguments),
        Verb::Sim(arguments) => sim::run(&arguments),
        Verb::Slurm(arguments) => return slurm::run(&arguments),
        Verb::SlurmShims(arguments) => slurm_shims::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Man(arguments) => man::run(&arguments),
        Verb::Version(arguments) => version::run(&arguments),
        Verb::Help(arguments) => return Ok(help::run(&arguments)),
    };
    done.map(|()| ExitCode::SUCCESS)
}

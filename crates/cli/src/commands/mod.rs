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
mod logs;
mod ls;
mod man;
mod move_task;
mod node;
mod node_import;
mod nodes;
mod notices;
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
mod start;
mod status;
mod submit;
mod task_action;
mod task_output;
mod token;
mod up;
mod user;
mod version;
mod wait;
mod why;

use std::process::ExitCode;

use crate::{client::Client, failure::Failure};
use registry::verbs;

verbs! {
    Submit(submit::Arguments) = "submit" ["add"],
    Run(run::Arguments) = "run" [],
    Ls(ls::Arguments) = "ls" ["ps", "queue"],
    Show(show::Arguments) = "show" [],
    Why(why::Arguments) = "why" [],
    Logs(logs::Arguments) = "logs" ["log"],
    Follow(follow::Arguments) = "follow" [],
    Wait(wait::Arguments) = "wait" [],
    Cancel(cancel::Arguments) = "cancel" ["kill"],
    Hold(hold::Arguments) = "hold" [],
    Release(release::Arguments) = "release" [],
    Pause(pause::Arguments) = "pause" [],
    Resume(resume::Arguments) = "resume" [],
    Retry(retry::Arguments) = "retry" [],
    Clone(clone::Arguments) = "clone" [],
    Edit(edit::Arguments) = "edit" [],
    Start(start::Arguments) = "start" [],
    Move(move_task::Arguments) = "move" ["mv"],
    Extend(extend::Arguments) = "extend" [],
    Rm(rm::Arguments) = "rm" [],
    Debug(debug::Arguments) = "debug" [],
    Status(status::Arguments) = "status" [],
    Gpus(gpus::Arguments) = "gpus" [],
    Gpu(gpu::Arguments) = "gpu" [],
    Nodes(nodes::Arguments) = "nodes" ["sinfo"],
    Node(node::Arguments) = "node" [],
    Agent(agent::Arguments) = "agent" [],
    Doctor(doctor::Arguments) = "doctor" [],
    Up(up::Arguments) = "up" [],
    Down(down::Arguments) = "down" [],
    Reload(reload::Arguments) = "reload" [],
    Report(report::Arguments) = "report" [],
    Policy(policy::Arguments) = "policy" [],
    Set(set::Arguments) = "set" [],
    User(user::Arguments) = "user" [],
    Token(token::Arguments) = "token" [],
    Announce(announce::Arguments) = "announce" [],
    Notices(notices::Arguments) = "notices" [],
    Audit(audit::Arguments) = "audit" [],
    Archive(archive::Arguments) = "archive" ["dump"],
    PauseQueue(pause_queue::Arguments) = "pause-queue" [],
    ResumeQueue(resume_queue::Arguments) = "resume-queue" [],
    Config(config::Arguments) = "config" [],
    Service(service::Arguments) = "service" [],
    Backup(backup::Arguments) = "backup" [],
    Restore(restore::Arguments) = "restore" [],
    Db(db::Arguments) = "db" [],
    Reset(reset::Arguments) = "reset" [],
    Demo(demo::Arguments) = "demo" [],
    Sim(sim::Arguments) = "sim" [],
    Completions(completions::Arguments) = "completions" [],
    Man(man::Arguments) = "man" [],
    Version(version::Arguments) = "version" [],
    Help(help::Arguments) = "help" [],
}

/// `server` is what `--server` says.
pub(crate) fn run(verb: Verb, server: Option<&str>) -> Result<ExitCode, Failure> {
    let client = || Client::new(server);
    let done = match verb {
        Verb::Submit(arguments) => submit::run(&client()?, &arguments),
        Verb::Run(arguments) => return run::run(client()?, &arguments),
        Verb::Ls(arguments) => ls::run(&client()?, &arguments),
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
        Verb::Rm(arguments) => return rm::run(&client()?, &arguments),
        Verb::Debug(arguments) => debug::run(&client()?, &arguments),
        Verb::Status(arguments) => status::run(&client()?, &arguments),
        Verb::Gpus(arguments) => gpus::run(&client()?, &arguments),
        Verb::Gpu(arguments) => gpu::run(&client()?, &arguments),
        Verb::Node(arguments) => node::run(&client()?, &arguments),
        Verb::Agent(arguments) => agent::run(&arguments),
        Verb::Nodes(arguments) => nodes::run(&client()?, &arguments),
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
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Man(arguments) => man::run(&arguments),
        Verb::Version(arguments) => version::run(&arguments),
        Verb::Help(arguments) => return Ok(help::run(&arguments)),
    };
    done.map(|()| ExitCode::SUCCESS)
}

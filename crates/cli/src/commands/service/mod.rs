//! `danlu service`: installs the server as a systemd service.

pub(super) mod unit;

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use danlu_messages::cli::service as msg;

use crate::{failure::Failure, screen};
use unit::{Unit, UnitKind, failed, own_program, quoted};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = "danlu service [install | uninstall]",
    after_help = msg::help(),
    arg_required_else_help = true,
    disable_help_subcommand = true,
)]
pub(crate) struct ServiceArguments {
    #[command(subcommand)]
    what: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    #[command(about = msg::about_install(), override_usage = msg::danlu_service_install_options())]
    Install(Box<ServiceInstall>),
    #[command(about = msg::about_uninstall(), override_usage = msg::danlu_service_uninstall_options())]
    Uninstall(UnitLocation),
}

#[derive(Debug, Args)]
struct UnitLocation {
    #[arg(long, help = msg::for_this_user_alone_without_root())]
    user: bool,

    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true, help = msg::write_below_directory())]
    root: PathBuf,
}

#[derive(Debug, Args)]
struct ServiceInstall {
    #[command(flatten)]
    place: UnitLocation,

    #[arg(long, help = msg::show_the_unit_and_change_nothing())]
    print: bool,

    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(i32).range(-20..=19), help = msg::nice_level())]
    nice: Option<i32>,

    #[arg(long, value_name = "CLASS", hide_possible_values = true, help = msg::io_class())]
    io_class: Option<IoClass>,

    #[arg(long, value_name = "ADDR:PORT", help = msg::as_for_danlu_up())]
    listen: Vec<SocketAddr>,

    #[arg(long, value_name = "DIR", help = msg::as_for_danlu_up())]
    data: Option<PathBuf>,

    #[arg(long, value_name = "FILE", help = msg::as_for_danlu_up())]
    config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IoClass {
    Realtime,
    BestEffort,
    Idle,
}

impl IoClass {
    fn word(self) -> &'static str {
        match self {
            IoClass::Realtime => "realtime",
            IoClass::BestEffort => "best-effort",
            IoClass::Idle => "idle",
        }
    }
}

pub(crate) fn run(arguments: &ServiceArguments) -> Result<(), Failure> {
    match &arguments.what {
        ServiceCommand::Install(install) => self::install(install),
        ServiceCommand::Uninstall(place) => uninstall(place),
    }
}

fn install(install: &ServiceInstall) -> Result<(), Failure> {
    let unit = server(install)?;
    if install.print {
        return screen::print(&unit.text());
    }
    let path = unit.write(&install.place.root)?;
    let shown = path.display();
    let started = install.place.root == Path::new("/")
        && unit.systemctl(&[&["daemon-reload"], &["enable", "--now", "danlu"]])?;
    let user = if install.place.user { " --user" } else { "" };
    let mut out = match started {
        true => msg::installed_and_started(&shown, &user),
        false => msg::wrote_unit(&shown, &user),
    };
    if install.place.user {
        out += msg::enable_linger();
    }
    screen::print(&out)
}

fn server(install: &ServiceInstall) -> Result<Unit, Failure> {
    let ServiceInstall { place, nice, io_class, listen, data, config, .. } = install;
    let mut start = format!("{} up", own_program()?);
    for address in listen {
        start += &format!(" --listen {}", quoted(&address.to_string()));
    }
    for (option, path) in [("--data", data), ("--config", config)] {
        if let Some(path) = path {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            start += &format!(" {option} {}", quoted(&path.display().to_string()));
        }
    }
    let nice = nice.map(|nice| format!("Nice={nice}"));
    let io_class = io_class.map(|class| format!("IOSchedulingClass={}", class.word()));
    Ok(Unit {
        name: "danlu",
        description: "Danlu, the GPU task manager".into(),
        start,
        kind: UnitKind::Server { for_user: place.user },
        more: nice.into_iter().chain(io_class).collect(),
    })
}

fn uninstall(place: &UnitLocation) -> Result<(), Failure> {
    let unit = Unit {
        name: "danlu",
        description: String::new(),
        start: String::new(),
        kind: UnitKind::Server { for_user: place.user },
        more: Vec::new(),
    };
    let path = unit.path(&place.root)?;
    let here = place.root == Path::new("/");
    if here && path.exists() {
        unit.systemctl(&[&["disable", "--now", "danlu"]])?;
    }
    fs::remove_file(&path).map_err(failed("remove", &path))?;
    if here {
        unit.systemctl(&[&["daemon-reload"]])?;
    }
    let shown = path.display();
    screen::print(&msg::removed_shown_tasks_and_data_stay(&shown))
}

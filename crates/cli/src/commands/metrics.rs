//! `danlu metrics`: prints what Prometheus reads, or writes the dashboards for Grafana.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::metrics as msg;

use crate::{
    client::Client,
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_metrics_dashboards_dir(),
    after_help = msg::help(),
)]
pub(crate) struct MetricsArguments {
    #[arg(long, value_name = "DIR", help = msg::write_dashboards())]
    dashboards: Option<PathBuf>,
}

/// The same files that the documentation has.
const DASHBOARDS: [(&str, &str); 4] = [
    ("overview.json", include_str!("../../../../docs/grafana/overview.json")),
    ("machine.json", include_str!("../../../../docs/grafana/machine.json")),
    ("users.json", include_str!("../../../../docs/grafana/users.json")),
    ("influxdb.json", include_str!("../../../../docs/grafana/influxdb.json")),
];

/// Writing dashboards needs no server.
pub(crate) fn run(
    client: impl FnOnce() -> Result<Client, Failure>,
    arguments: &MetricsArguments,
) -> Result<(), Failure> {
    match &arguments.dashboards {
        Some(directory) => write_dashboards(directory),
        None => screen::print(&client()?.get_document("/metrics")?),
    }
}

fn write_dashboards(directory: &Path) -> Result<(), Failure> {
    let unwritable = |cause: io::Error| {
        let path = directory.display();
        Failure::new(Exit::Refused, msg::could_not_write(&path, &cause))
    };
    fs::create_dir_all(directory).map_err(unwritable)?;
    for (name, text) in DASHBOARDS {
        let path = directory.join(name);
        fs::write(&path, text).map_err(unwritable)?;
        screen::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

//! The configuration and the origin of each value: flag, environment variable, file or default.

mod auth;
mod influx;
mod limits;
mod log;
mod metrics;
mod notify;
mod reports;
mod sampling;

pub use auth::AuthConfig;
pub use influx::{InfluxConfig, InfluxPlace, PointNames};
pub use limits::Limits;
pub use log::{LogConfig, LogFormat, LogLevel};
pub use metrics::{AddressRange, MetricsConfig};
pub(crate) use notify::EMAIL;
pub use notify::{ChannelConfig, EmailConfig, HttpService, MailTls, NotifyConfig, SecretSource};
pub(crate) use reports::ADMINS;
pub use reports::ReportsConfig;
pub use sampling::{CustomMetric, Sampling};

use crate::api::task_template;
use crate::fleet::remote::nodes_file::{self as nodes_file, BadEntry, NodesFile};
use auth::AuthInFile;
use danlu_core::gpu::GpuConfig;
use danlu_core::limits::SLOTS_PER_GPU;
use danlu_messages::errors;
use danlu_spec::Patch;
use danlu_wire::api::NewNode;
use influx::InfluxInFile;
use limits::LimitsInFile;
use log::LogInFile;
use metrics::MetricsInFile;
use notify::NotifyInFile;
use reports::ReportsInFile;
use sampling::{MetricInFile, SamplingInFile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::Spanned;

pub const DEFAULT_PORT: u16 = 8787;

/// Given on the command line; wins over everything else.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub listen: Vec<SocketAddr>,
    pub data: Option<PathBuf>,
    pub sim_gpus: Option<u32>,
    pub config: Option<PathBuf>,
    pub accept_loss: bool,
}

#[derive(Debug, Clone)]
pub struct Config {
    pub listen: Vec<SocketAddr>,
    pub data: PathBuf,
    pub socket: PathBuf,
    pub sim_gpus: Option<u32>,
    pub node_name: String,
    pub cgroups: bool,
    /// Where ended tasks are archived; none: `archive.jsonl` in the data directory. Who may write this file says where
    /// the server writes; a request does not.
    pub archive: Option<PathBuf>,
    /// Bytes of the disk that are set aside for the time when it is full.
    pub disk_reserve: u64,
    /// Accept a database that is older than it was.
    pub accept_loss: bool,
    /// Custom countable resources of this machine. Reloaded live, as is the next.
    pub resources: BTreeMap<String, u32>,
    pub gpus: GpuConfig,
    /// What tasks have when neither the task nor its owner says anything else.
    pub task_defaults: Patch,
    /// gpuman's JSON interface at its own addresses.
    pub compat_gpuman: bool,
    /// `None`: a certificate of our own.
    pub tls: Option<TlsFiles>,
    /// Serve plain HTTP: passwords are sent unencrypted.
    pub plain_http: bool,
    pub auth: AuthConfig,
    /// The server's own log.
    pub log: LogConfig,
    /// Reloaded live.
    pub limits: Limits,
    /// Reloaded live.
    pub notify: NotifyConfig,
    pub sampling: Sampling,
    /// Reloaded live.
    pub metrics: MetricsConfig,
    /// Reloaded live.
    pub influx: Vec<InfluxConfig>,
    /// Reloaded live.
    pub reports: ReportsConfig,
    /// Other machines. Reloaded live.
    pub nodes: Vec<NewNode>,
    /// Where the configuration file is, or would be.
    path: PathBuf,
    origins: BTreeMap<&'static str, String>,
    flags: Flags,
}

/// The file. Unknown keys are errors, with line and column.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    listen: Option<Vec<SocketAddr>>,
    data: Option<PathBuf>,
    sim_gpus: Option<u32>,
    node_name: Option<String>,
    cgroups: Option<bool>,
    archive: ArchiveInFile,
    disk_reserve_mb: Option<u16>,
    resources: Option<BTreeMap<String, u32>>,
    gpus: GpusInFile,
    defaults: DefaultsInFile,
    compat: CompatInFile,
    tls: Option<TlsFiles>,
    plain_http: Option<bool>,
    auth: AuthInFile,
    limits: LimitsInFile,
    notify: NotifyInFile,
    sampling: SamplingInFile,
    metric: Vec<MetricInFile>,
    metrics: MetricsInFile,
    influxdb: Vec<InfluxInFile>,
    reports: ReportsInFile,
    log: LogInFile,
    /// `[[node]]`, one for each machine.
    node: Vec<Spanned<NewNode>>,
}

/// `[tls] certificate = "…"` and `key = "…"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// `[defaults.task]`, in the fields of `POST /tasks`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DefaultsInFile {
    task: Patch,
}

/// `[archive] path = "…"`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ArchiveInFile {
    path: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CompatInFile {
    gpuman: bool,
}

/// `[gpus] use = [0, 1]` and `slots = { 0 = 2 }`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GpusInFile {
    r#use: Option<BTreeSet<u32>>,
    slots: BTreeMap<String, u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub key: &'static str,
    pub value: String,
    pub origin: String,
}

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("{}", errors::could_not_read_path_error(&path.display(), error))]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{path}: {error}")]
    Wrong { path: PathBuf, error: Box<toml::de::Error> },
    #[error("{}", errors::bad_gpu_slots(&path.display(), key))]
    Gpus { path: PathBuf, key: String },
    #[error("{}", errors::bad_auth_duration(&path.display(), key, value))]
    Auth { path: PathBuf, key: &'static str, value: String },
    #[error("{path}: [limits] {key}: `{value}` is not {expect}")]
    Limit { path: PathBuf, key: &'static str, value: String, expect: &'static str },
    #[error("{path}: [notify] {key}: {what}")]
    Notify { path: PathBuf, key: String, what: String },
    #[error("{path}: {key}: `{value}` is not {expect}")]
    Sampling { path: PathBuf, key: String, value: String, expect: &'static str },
    #[error("{path}: {key}: {what}")]
    Metrics { path: PathBuf, key: String, what: String },
    #[error("{}", errors::bad_log_setting(&path.display(), key, value, expect))]
    Log { path: PathBuf, key: &'static str, value: String, expect: &'static str },
    #[error("{path}: {entry}")]
    Node { path: PathBuf, entry: Box<BadEntry> },
    #[error("{path}: [defaults.task]: {what}")]
    Defaults { path: PathBuf, what: String },
    #[error("{}", errors::name_is_value_error(name, value, error))]
    Variable { name: &'static str, value: String, error: String },
}

/// Set aside for a full disk.
const DISK_RESERVE_MB: u16 = 32;
/// Maximum size of the configuration file.
const MOST_BYTES: u64 = 1 << 20;

impl Config {
    /// Precedence: flag, then variable `DANLU_…`, then file, then default.
    pub fn load(flags: Flags) -> Result<Config, ConfigError> {
        let path = place_of_file(flags.config.as_deref());
        let (file, from, nodes) = File::load(flags.config.as_deref())?;
        let given = flags.clone();
        let mut origins = BTreeMap::new();
        let mut origin = |key, origin: &str| drop(origins.insert(key, origin.to_owned()));
        let root = nix::unistd::geteuid().is_root();

        let listen = if !flags.listen.is_empty() {
            origin("listen", "--listen");
            flags.listen
        } else if let Some(value) = variable::<SocketAddr>("DANLU_LISTEN")? {
            origin("listen", "DANLU_LISTEN");
            vec![value]
        } else if let Some(value) = file.listen {
            origin("listen", &from);
            value
        } else {
            origin("listen", "default");
            vec![
                ([127, 0, 0, 1], DEFAULT_PORT).into(),
                (std::net::Ipv6Addr::LOCALHOST, DEFAULT_PORT).into(),
            ]
        };

        let (data, socket) = if let Some(data) = flags.data {
            origin("data", "--data");
            let socket = data.join("danlu.sock");
            (data, socket)
        } else if let Some(data) = variable::<PathBuf>("DANLU_DATA")? {
            origin("data", "DANLU_DATA");
            let socket = data.join("danlu.sock");
            (data, socket)
        } else if let Some(data) = file.data {
            origin("data", &from);
            (data, default_socket(root))
        } else {
            origin("data", "default");
            (default_data(root), default_socket(root))
        };

        let sim_gpus = if let Some(count) = flags.sim_gpus {
            origin("sim_gpus", "--sim-gpus");
            Some(count)
        } else if let Some(count) = variable::<u32>("DANLU_SIM_GPUS")? {
            origin("sim_gpus", "DANLU_SIM_GPUS");
            Some(count)
        } else {
            origin("sim_gpus", if file.sim_gpus.is_some() { &from } else { "default" });
            file.sim_gpus
        };

        origin("node_name", if file.node_name.is_some() { &from } else { "host name" });
        let node_name = file.node_name.unwrap_or_else(host_name);
        origin("cgroups", if file.cgroups.is_some() { &from } else { "default" });
        let cgroups = file.cgroups.unwrap_or(true);
        origin("archive.path", if file.archive.path.is_some() { &from } else { "default" });
        let archive = file.archive.path;
        origin("disk_reserve_mb", if file.disk_reserve_mb.is_some() { &from } else { "default" });
        let disk_reserve = u64::from(file.disk_reserve_mb.unwrap_or(DISK_RESERVE_MB)) << 20;
        origin("resources", if file.resources.is_some() { &from } else { "default" });
        let resources = file.resources.unwrap_or_default();
        origin("gpus.use", if file.gpus.r#use.is_some() { &from } else { "default" });
        origin("gpus.slots", if file.gpus.slots.is_empty() { "default" } else { &from });
        let gpus = file.gpus.parse(&from)?;
        let task_defaults = file.defaults.task;
        task_template::check(&task_defaults).map_err(|what| ConfigError::Defaults {
            path: PathBuf::from(&from),
            what: what.to_string(),
        })?;
        origin("defaults.task", if task_defaults.is_empty() { "default" } else { &from });
        origin("tls", if file.tls.is_some() { &from } else { "default" });
        origin("plain_http", if file.plain_http.is_some() { &from } else { "default" });
        let said = |is_said: bool| if is_said { from.as_str() } else { "default" };
        origin("auth.session_idle", said(file.auth.session_idle.is_some()));
        origin("auth.session_longest", said(file.auth.session_longest.is_some()));
        origin("auth.pam", said(file.auth.pam));
        origin("auth.trusted_proxies", said(!file.auth.trusted_proxies.is_empty()));
        let auth = file.auth.parse(&from)?;
        for (key, is_said) in file.limits.said() {
            origin(key, said(is_said));
        }
        let limits = file.limits.parse(&from)?;
        for (key, is_said) in file.notify.said() {
            origin(key, said(is_said));
        }
        let notify = file.notify.parse(&from)?;
        let rules = task_defaults.notify.value().into_iter().flatten();
        let mut told = rules.filter_map(|rule| rule.to.as_deref());
        if let Some(to) = told.find(|to| !notify.has(to)) {
            let what = danlu_messages::notify::config::default_goes_nowhere(&to);
            return Err(ConfigError::Defaults { path: PathBuf::from(&from), what });
        }
        for (key, is_said) in file.sampling.said() {
            origin(key, said(is_said));
        }
        origin("metric", said(!file.metric.is_empty()));
        let sampling = file.sampling.parse(file.metric, &from)?;
        for (key, is_said) in file.metrics.said() {
            origin(key, said(is_said));
        }
        let metrics = file.metrics.parse(&from)?;
        origin("influxdb", said(!file.influxdb.is_empty()));
        let influx = influx::parse(file.influxdb, &from)?;
        for (key, is_said) in file.reports.said() {
            origin(key, said(is_said));
        }
        let channels: Vec<&str> = notify.channels.keys().map(String::as_str).collect();
        let reports = file.reports.parse(&channels, notify.email.is_some(), &from)?;
        for (key, is_said) in file.log.said() {
            origin(key, said(is_said));
        }
        let log = file.log.parse(&from)?;
        origin("compat.gpuman", if file.compat.gpuman { &from } else { "default" });
        Ok(Config {
            listen,
            data,
            socket,
            sim_gpus,
            node_name,
            cgroups,
            archive,
            disk_reserve,
            accept_loss: given.accept_loss,
            resources,
            gpus,
            task_defaults,
            compat_gpuman: file.compat.gpuman,
            tls: file.tls,
            plain_http: file.plain_http.unwrap_or(false),
            auth,
            log,
            limits,
            notify,
            sampling,
            metrics,
            influx,
            reports,
            nodes,
            path,
            origins,
            flags: given,
        })
    }

    /// The configuration file, which may be missing.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// Where ended tasks are archived.
    pub(crate) fn archive_file(&self) -> PathBuf {
        let default = || crate::daemon::archive::path(&self.data);
        self.archive.clone().unwrap_or_else(default)
    }

    /// The separate file of machines beside it.
    pub fn nodes_file(&self) -> PathBuf {
        nodes_file::beside(&self.path)
    }

    /// Somebody is told what happens: it is counted from the start.
    pub(crate) fn counts(&self) -> bool {
        self.metrics.wanted || !self.influx.is_empty()
    }

    /// The configuration that a restart would use.
    pub fn again(&self) -> Result<Config, ConfigError> {
        Config::load(self.flags.clone())
    }

    /// Settings that differ in `newer` and need a restart.
    pub fn changed(&self, newer: &Config) -> Vec<Entry> {
        let before = self.entries();
        let now = newer.entries().into_iter();
        let live = |key: &str| {
            let sections = ["gpus.", "limits.", "metrics.", "notify.", "reports.", "sampling."];
            let whole = ["resources", "metric", "influxdb"];
            whole.contains(&key) || sections.iter().any(|section| key.starts_with(section))
        };
        let now = now.filter(|entry| !live(entry.key));
        now.filter(|entry| !before.contains(entry)).collect()
    }

    /// Unencrypted on this machine, where connections cannot be intercepted; elsewhere only if configured.
    pub fn is_encrypted(&self, address: &SocketAddr) -> bool {
        !address.ip().is_loopback() && !self.plain_http
    }

    pub fn entries(&self) -> Vec<Entry> {
        let listen: Vec<String> = self.listen.iter().map(SocketAddr::to_string).collect();
        let list = |numbers: &BTreeSet<u32>| {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            numbers.join(", ")
        };
        let slots = self.gpus.slots.iter().map(|(gpu, slots)| format!("{gpu} = {slots}"));
        let slots: Vec<String> = slots.collect();
        let resources = self.resources.iter().map(|(name, count)| format!("{name} = {count}"));
        let resources: Vec<String> = resources.collect();
        let proxies = self.auth.trusted_proxies.iter().map(ToString::to_string);
        let proxies: Vec<String> = proxies.collect();
        let values = [
            ("listen", listen.join(", ")),
            ("data", self.data.display().to_string()),
            (
                "sim_gpus",
                self.sim_gpus.map_or_else(|| "none".to_owned(), |count| count.to_string()),
            ),
            ("node_name", self.node_name.clone()),
            ("cgroups", self.cgroups.to_string()),
            ("archive.path", self.archive_file().display().to_string()),
            ("resources", resources.join(", ")),
            ("gpus.use", self.gpus.in_use.as_ref().map_or_else(|| "all".to_owned(), list)),
            ("gpus.slots", slots.join(", ")),
            ("defaults.task", serde_json::to_string(&self.task_defaults).unwrap_or_default()),
            ("compat.gpuman", self.compat_gpuman.to_string()),
            (
                "tls",
                self.tls.as_ref().map_or_else(
                    || "a certificate of our own".to_owned(),
                    |files| files.certificate.display().to_string(),
                ),
            ),
            ("plain_http", self.plain_http.to_string()),
            ("auth.session_idle", self.auth.session_idle.to_string()),
            ("auth.session_longest", self.auth.session_longest.to_string()),
            ("auth.pam", self.auth.pam.clone().unwrap_or_else(|| "false".to_owned())),
            ("auth.trusted_proxies", proxies.join(", ")),
            ("log.path", crate::daemon::logging::path(&self.data, &self.log).display().to_string()),
            ("log.max_size", danlu_messages::amounts::bytes_in_words(self.log.max_size)),
            ("log.keep", self.log.keep.to_string()),
            ("log.level", self.log.level.as_str().to_owned()),
            ("log.format", self.log.format.as_str().to_owned()),
        ];
        let values = values.into_iter().chain(self.limits.entries()).chain(self.notify.entries());
        let values = values.chain(self.sampling.entries()).chain(self.metrics.entries());
        let databases: Vec<String> = self.influx.iter().map(InfluxConfig::label).collect();
        let values = values.chain([("influxdb", databases.join(", "))]);
        let values = values.chain(self.reports.entries());
        let origin = |key| self.origins.get(key).cloned().unwrap_or_default();
        values.map(|(key, value)| Entry { key, value, origin: origin(key) }).collect()
    }
}

impl GpusInFile {
    fn parse(self, from: &str) -> Result<GpuConfig, ConfigError> {
        let mut slots = BTreeMap::new();
        for (gpu, count) in self.slots {
            let sound = (1..=SLOTS_PER_GPU).contains(&count);
            let number = gpu.parse().ok().filter(|_| sound);
            let Some(number) = number else {
                let (path, key) = (PathBuf::from(from), format!("slots: {gpu} = {count}"));
                return Err(ConfigError::Gpus { path, key });
            };
            slots.insert(number, count);
        }
        Ok(GpuConfig { in_use: self.r#use, slots })
    }
}

impl File {
    /// A file that was named must be there; one at the usual place may be missing. With the machines that stand in it and
    /// beside it.
    fn load(named: Option<&Path>) -> Result<(File, String, Vec<NewNode>), ConfigError> {
        let path = place_of_file(named);
        let may_be_missing = named.is_none() && std::env::var_os("DANLU_CONFIG").is_none();
        let (mut file, text): (File, String) = read(&path, may_be_missing)?;
        let mut nodes = checked(&path, &text, std::mem::take(&mut file.node))?;
        let beside = nodes_file::beside(&path);
        let (more, text): (NodesFile, String) = read(&beside, true)?;
        let more = checked(&beside, &text, more.node)?;
        if let Some(twice) = more.iter().find(|it| nodes.iter().any(|node| node.name == it.name)) {
            let error = nodes_file::twice(&twice.name);
            return Err(ConfigError::Node { path: beside, entry: Box::new(error) });
        }
        nodes.extend(more);
        Ok((file, path.display().to_string(), nodes))
    }
}

fn checked(
    path: &Path,
    text: &str,
    nodes: Vec<Spanned<NewNode>>,
) -> Result<Vec<NewNode>, ConfigError> {
    nodes_file::check(text, &nodes)
        .map_err(|entry| ConfigError::Node { path: path.to_owned(), entry: Box::new(entry) })?;
    Ok(nodes.into_iter().map(Spanned::into_inner).collect())
}

fn place_of_file(named: Option<&Path>) -> PathBuf {
    let by_variable = || std::env::var_os("DANLU_CONFIG").map(PathBuf::from);
    named.map(Path::to_owned).or_else(by_variable).unwrap_or_else(usual_place)
}

/// With its text, for error messages that name the line.
fn read<T: Default + serde::de::DeserializeOwned>(
    path: &Path,
    may_be_missing: bool,
) -> Result<(T, String), ConfigError> {
    let unreadable = |error| ConfigError::Unreadable { path: path.to_owned(), error };
    let text = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && may_be_missing => {
            return Ok((T::default(), String::new()));
        }
        Err(error) => return Err(unreadable(error)),
        Ok(facts) if facts.len() > MOST_BYTES => {
            return Err(unreadable(std::io::ErrorKind::FileTooLarge.into()));
        }
        Ok(_) => std::fs::read_to_string(path).map_err(unreadable)?,
    };
    let content = toml::from_str(&text)
        .map_err(|error| ConfigError::Wrong { path: path.to_owned(), error: Box::new(error) })?;
    Ok((content, text))
}

fn variable<T: std::str::FromStr>(name: &'static str) -> Result<Option<T>, ConfigError>
where
    T::Err: std::fmt::Display,
{
    let Ok(value) = std::env::var(name) else { return Ok(None) };
    match value.parse() {
        Ok(parsed) => Ok(Some(parsed)),
        Err(error) => Err(ConfigError::Variable { name, error: error.to_string(), value }),
    }
}

fn usual_place() -> PathBuf {
    if nix::unistd::geteuid().is_root() {
        return PathBuf::from("/etc/danlu/danlu.toml");
    }
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    base.unwrap_or_default().join("danlu/danlu.toml")
}

fn default_data(root: bool) -> PathBuf {
    if root {
        return PathBuf::from("/var/lib/danlu");
    }
    let base = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")));
    let data = base.map(|base| base.join("danlu"));
    let here = data.filter(|data| !on_network(data));
    here.unwrap_or_else(|| PathBuf::from(format!("/var/tmp/danlu-{}", nix::unistd::geteuid())))
}

/// The nearest directory that exists decides.
fn on_network(path: &Path) -> bool {
    let there = path.ancestors().find(|path| path.exists());
    there.is_some_and(|path| matches!(danlu_node::network(path), Ok(Some(_))))
}

fn default_socket(root: bool) -> PathBuf {
    if root {
        return PathBuf::from("/run/danlu/danlu.sock");
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) => PathBuf::from(directory).join("danlu/danlu.sock"),
        None => PathBuf::from(format!("/var/tmp/danlu-{}/danlu.sock", nix::unistd::geteuid())),
    }
}

fn host_name() -> String {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| String::from("localhost"))
}

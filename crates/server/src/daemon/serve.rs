//! The daemon from start to stop.

use crate::api::network::{self, ConnectionLimits, Network, Socket, told_to_end};
use crate::api::response_cache::ResponseCache;
use crate::api::{self, Accounts, Api, ApiState, Streams};
use crate::auth::Auth;
use crate::daemon::backup;
use crate::daemon::clock;
use crate::daemon::config::{Config, ConfigError, Flags};
use crate::daemon::data_directory::{self, DirectoryError};
use crate::daemon::engine::Engine;
use crate::daemon::handle::{AskError, Handle};
use crate::daemon::logging;
use crate::daemon::notices;
use crate::daemon::secrets::Secrets;
use crate::daemon::systemd;
use crate::daemon::tls::{self, TlsError};
use crate::fleet::logins::Logins;
use crate::fleet::remote::Nodes;
use crate::fleet::{Backends, LiveGpus, Local};
use crate::idle::Idle;
use crate::metrics::{InfluxTarget, Metrics};
use crate::notify::{Notifier, SecretError};
use crate::reports::Reports;
use crate::store::disk::Disk;
use crate::store::restore_guard;
use crate::store::{EventReader, Store, StoreError};
use crate::usage::{self, Usage};
use danlu_core::input::GpuChange;
use danlu_core::{Actor, Input};
use danlu_messages::errors;
use danlu_node::gpu::{ProbeConfig, sim_load_wanted};
use danlu_node::{AgentError, Evictions, HostConfig, RunRoot, private};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;
use thiserror::Error;
use tokio::net::UnixListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

/// Timeout of the local node's first report; ending stray runs takes longer.
const FIRST_REPORT: Duration = Duration::from_secs(5);
/// At the end of the server.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

#[derive(Debug, Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error("{}", errors::could_not_listen_on_address_error(address, error))]
    Listen { address: SocketAddr, error: io::Error },
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Ask(#[from] AskError),
}

impl ServeError {
    pub fn hint(&self) -> &'static str {
        match self {
            ServeError::Config(ConfigError::Unreadable { .. }) => errors::name_config_file(),
            ServeError::Config(_) => errors::correct_the_line(),
            ServeError::Store(error) => error.hint(),
            ServeError::Agent(_) => errors::one_local_data_directory(),
            ServeError::Directory(error) => error.hint(),
            ServeError::Listen { .. } => errors::choose_listen_address(),
            ServeError::Secret(_) => errors::correct_the_line(),
            ServeError::Tls(_) => errors::check_tls_files(),
            ServeError::Ask(_) => errors::see_the_message_above(),
        }
    }
}

/// Where the server can be reached.
#[derive(Debug)]
pub struct Ready {
    /// `http://…` or `https://…` each.
    pub addresses: Vec<String>,
    pub socket: PathBuf,
    /// Without root it serves its own user only.
    pub single_user: bool,
    /// The set-up link, while there is no administrator.
    pub setup: Option<String>,
}

/// Serves until told to stop. `ready` is called once requests are accepted.
pub fn serve(flags: Flags, ready: impl FnOnce(&Ready)) -> Result<(), ServeError> {
    danlu_node::return_freed_memory();
    let config = Config::load(flags)?;
    let _lock = data_directory::prepare(&config.data)?;
    logging::start(&config.data, &config.log);
    backup::remove_leftovers(&config.data);
    // Before any thread: the agent forks the process that starts tasks.
    let live = LiveGpus::default();
    let (usage, unwritten) = Usage::new(&config.data, &config.sampling);
    let local = Local::start(&config.node_name, &local_host(&config), live.clone(), usage.clone())?;
    let evictions = local.evictions();
    allow_many_connections();
    let mut disk = Disk::of(&config.data, config.disk_reserve);
    let store = open_store(&config.data.join("danlu.db"), &mut disk)?;
    let secrets = Secrets::open(&config)?;
    let events = ([store.event_reader(), store.event_reader()], store.newest_event());
    let auth = Auth::load(&store, &config.auth)?;
    let logins = Logins::load(&store, &config.data)?;
    let seen = (live.clone(), usage.clone());
    let nodes = Nodes::load(&store, &config.data, seen, logins.clone())?;
    let life = restore_guard::choose(&config.data, &store, config.accept_loss)?;
    let runtime = network::runtime().map_err(file("start", &config.data))?;
    let network = Network::start(LAST_ANSWERS).map_err(file("start", &config.data))?;
    let writer = unwritten.start();
    let (handle, engine) = Engine::start(store, disk, life, usage.clone(), |handle| {
        local.attach(handle);
        Backends::new(Some(local), Some(nodes.clone()), logins.clone())
    })?;
    let served = runtime.block_on(async {
        // Before readiness is announced, and a client could ask the server to stop.
        let mut signals = Signals::catch().map_err(file("catch signals for", &config.data))?;
        if let Some(aside) = writer.set_aside() {
            let what = notices::file_set_aside(&config.data.join(usage::FILE), aside);
            let (record, deed) = notices::record(what, clock::now());
            // Where nothing can be stored now, it is in the log.
            let _ = handle.keep(vec![record], Some(deed)).await;
        }
        add_local_node(&handle, &config.node_name).await?;
        hear_from_node(&handle, &config.node_name).await;
        configure_node(&handle, &config).await?;
        nodes.start(&handle);
        let followed = tokio::spawn(nodes.clone().follow_files(handle.clone(), config.clone()));
        let parts = ApiParts {
            live,
            usage,
            evictions,
            auth,
            nodes,
            logins,
            network: &network,
            notifier: Notifier::new(secrets.channels),
            metrics: (Metrics::new(secrets.metrics), secrets.influx),
            events,
        };
        let served = listen(&config, &handle, parts, &mut signals, ready).await;
        followed.abort();
        served
    });
    network.end();
    runtime.block_on(handle.stop());
    drop(handle);
    let _ = engine.join();
    writer.stop();
    let _ = fs::remove_file(&config.socket);
    served
}

/// On a full disk with what was set aside for that.
fn open_store(path: &Path, disk: &mut Disk) -> Result<Store, StoreError> {
    match Store::open(path) {
        Err(error) if error.is_full() && disk.give_up_reserve() => Store::open(path),
        opened => opened,
    }
}

/// What the addresses need beside the engine.
struct ApiParts<'a> {
    live: LiveGpus,
    usage: Usage,
    evictions: Evictions,
    auth: Auth,
    nodes: Nodes,
    logins: Logins,
    network: &'a Network,
    notifier: Notifier,
    metrics: (Metrics, Vec<InfluxTarget>),
    /// For those who follow what happens, and the number of the newest event before the engine has begun.
    events: ([EventReader; 2], i64),
}

async fn listen(
    config: &Config,
    handle: &Handle,
    parts: ApiParts<'_>,
    signals: &mut Signals,
    ready: impl FnOnce(&Ready),
) -> Result<(), ServeError> {
    let ApiParts { live, usage, evictions, auth, nodes, logins, .. } = parts;
    let ApiParts { network, notifier, metrics: (metrics, influx), events, .. } = parts;
    let (stop, mut stopped) = mpsc::channel(1);
    let files = RunRoot::open(&config.data.join("node")).map_err(AgentError::from)?;
    let own_uid = nix::unistd::geteuid().as_raw();
    let api = Api::new(ApiState {
        handle: handle.clone(),
        files: Arc::new(files),
        user_files: danlu_node::user_files::UserFiles::default(),
        nodes,
        logins,
        config: config.clone(),
        live,
        usage,
        reports: Reports::new(&config.data, &config.reports),
        idle: Idle::default(),
        evictions,
        accounts: Accounts::default(),
        auth,
        connection_limits: ConnectionLimits::new(config),
        streams: Streams::new(&config.limits),
        lists: ResponseCache::default(),
        addresses: OnceLock::new(),
        stop,
        own_uid,
        notifier: notifier.clone(),
        metrics,
    });
    api.count_if(config.counts());
    api.metrics.influx().configure(&api, &config.data, influx);
    let ([events, ends], newest) = events;
    let telling = notifier.start(&api, &config.data, (events, newest));
    let booking = api.reports.start(&api, ends);
    let watching_idle = api.idle.start(&api);
    let guarding = tokio::spawn(crate::guard::watch(api.clone()));
    let tidying = tokio::spawn(crate::daemon::retention::keep_in_bounds(api.clone()));
    let watching = tokio::spawn(api::watch_accounts(api.clone()));
    let socket = bind_socket(&config.socket, own_uid == 0)?;
    let (end, _) = watch::channel(());
    let mut addresses = Vec::new();
    let mut servers = tokio::task::JoinSet::new();
    for address in &config.listen {
        let acceptor = config
            .is_encrypted(address)
            .then(|| tls::acceptor(config.tls.as_ref(), &config.data, &config.node_name))
            .transpose()?;
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        if acceptor.is_none() && !address.ip().is_loopback() {
            warn!(%address, "not encrypted: passwords and tokens can be read on the network");
        }
        match network.serve(*address, acceptor.as_ref(), &api, &end, &mut servers) {
            Ok(bound) => addresses.push(format!("{scheme}://{bound}")),
            // A machine without IPv6 still has the other address.
            Err(error) if address.is_ipv6() && config.listen.len() > 1 => {
                info!(%address, %error, "not listening there");
            }
            Err(error) => return Err(listening(address)(error)),
        }
    }
    let (socket, router) = (Socket::Local(socket), api::router(api.clone()));
    servers.spawn(network::serve(socket, api.clone(), router, told_to_end(&end)));
    let _ = api.addresses.set(addresses.clone());
    let setup = addresses.first().and_then(|address| setup_link(handle, &api.auth, address));
    ready(&Ready { addresses, socket: config.socket.clone(), single_user: own_uid != 0, setup });
    systemd::notify("READY=1");
    info!(version = env!("CARGO_PKG_VERSION"), data = %config.data.display(), "serving");

    loop {
        tokio::select! {
            _ = stopped.recv() => info!("asked to stop"),
            _ = signals.terminate.recv() => info!("terminated"),
            _ = signals.interrupt.recv() => info!("interrupted"),
            _ = signals.hangup.recv() => {
                reload(config, &api).await;
                continue;
            }
        }
        break;
    }
    systemd::notify("STOPPING=1");
    tidying.abort();
    guarding.abort();
    watching.abort();
    // Requests in progress are answered; followed logs and waits do not delay the end.
    drop(end);
    let _ =
        tokio::time::timeout(LAST_ANSWERS, async { while servers.join_next().await.is_some() {} })
            .await;
    servers.shutdown().await;
    api.metrics.influx().stop();
    api.idle.stop();
    let _ = watching_idle.map(JoinHandle::join);
    notifier.stop();
    // What is under way is sent again by the next server.
    let _ = telling.map(JoinHandle::join);
    api.reports.stop();
    let _ = booking.map(JoinHandle::join);
    Ok(())
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// From now on they do not end the process.
    fn catch() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}

async fn reload(config: &Config, api: &Api) {
    let newer = match config.again() {
        Ok(newer) => newer,
        Err(cause) => {
            return warn!(%cause, "the configuration is not taken over; nothing changes");
        }
    };
    match Secrets::open(&newer) {
        Ok(secrets) => {
            api.reports.set(&newer.reports);
            api.take_over(secrets).await;
        }
        Err(cause) => {
            return warn!(%cause, "the configuration is not taken over; nothing changes");
        }
    }
    api.count_if(newer.counts());
    api.set_limits(&newer.limits);
    api.set_sampling(&newer.sampling);
    api.nodes.apply(&api.handle, &newer).await;
    if let Err(cause) = configure_node(&api.handle, &newer).await {
        warn!(%cause, "what the configuration says about this machine is not taken over");
    }
    let changed = config.changed(&newer);
    let keys: Vec<&str> = changed.iter().map(|entry| entry.key).collect();
    match keys.is_empty() {
        true => info!("nothing else changes with the next start"),
        false => info!(keys = keys.join(", "), "the configuration changes with the next start"),
    }
}

/// What the file says about this machine.
pub(crate) async fn configure_node(handle: &Handle, config: &Config) -> Result<(), AskError> {
    let model = handle.model();
    let node = model.nodes.values().find(|node| node.name == config.node_name);
    if let Some(node) = node.filter(|node| node.gpu_config != config.gpus) {
        let change = GpuChange::Config(config.gpus.clone());
        handle.ask(Input::ManageGpus { by: Actor::Daemon, node: node.id, change }).await?;
    }
    if let Some(node) = node.filter(|node| node.resources != config.resources) {
        let (node, resources) = (node.id, config.resources.clone());
        handle.ask(Input::SetResources { by: Actor::Daemon, node, resources }).await?;
    }
    Ok(())
}

fn setup_link(handle: &Handle, auth: &Auth, address: &str) -> Option<String> {
    let has_admin = handle.model().users.values().any(|user| user.admin && user.is_active());
    let key = if has_admin { None } else { auth.open_setup() };
    key.map(|key| format!("{address}/setup?key={key}"))
}

/// As many as the system lets us have. After the process that starts tasks has begun, which keep what people gave them.
fn allow_many_connections() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // It works with fewer, too.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

async fn add_local_node(handle: &Handle, name: &str) -> Result<(), ServeError> {
    if handle.model().nodes.values().any(|node| node.name == name) {
        return Ok(());
    }
    let input =
        Input::AddNode { by: Actor::Daemon, name: name.to_owned(), labels: BTreeMap::new() };
    handle.ask(input).await?;
    handle.connect_local();
    Ok(())
}

/// What the machine has and what runs on it is known before the first request, so that a task which can never
/// run is refused from the first moment on.
async fn hear_from_node(handle: &Handle, name: &str) {
    let mut news = handle.reader().news();
    let ready = || {
        let model = handle.model();
        model.nodes.values().any(|node| node.name == name && node.is_ready())
    };
    let heard = async {
        while !ready() {
            if let Err(RecvError::Closed) = news.recv().await {
                return;
            }
        }
    };
    if tokio::time::timeout(FIRST_REPORT, heard).await.is_err() {
        warn!(node = name, "not ready yet; serving all the same");
    }
}

fn local_host(config: &Config) -> HostConfig {
    let script = config.data.join("simulated").join("gpus.json");
    // A directory of its own: every change in it wakes the probe.
    if let Some(parent) = script.parent().filter(|_| config.sim_gpus.is_some()) {
        let _ = private::directory(parent, private::PRIVATE);
    }
    HostConfig {
        root: config.data.join("node"),
        cgroups: config.cgroups,
        gpus: match config.sim_gpus {
            Some(count) => ProbeConfig {
                sim_load: sim_load_wanted(),
                ..ProbeConfig::simulated(count, Some(script))
            },
            None => ProbeConfig::from_environment(),
        },
    }
}

fn bind_socket(path: &Path, for_everybody: bool) -> Result<UnixListener, ServeError> {
    data_directory::place_for_socket(path, for_everybody)?;
    let listener = UnixListener::bind(path).map_err(file("listen on", path))?;
    // The kernel identifies the caller; permissions are checked for each request.
    let mode = if for_everybody { 0o666 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(file("open", path))?;
    Ok(listener)
}

fn listening(address: &SocketAddr) -> impl FnOnce(io::Error) -> ServeError {
    let address = *address;
    move |error| ServeError::Listen { address, error }
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ServeError {
    let failed = data_directory::failed(action, path);
    move |error| failed(error).into()
}

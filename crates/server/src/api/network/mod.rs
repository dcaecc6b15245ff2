//! The threads that serve the network, and the limits that all connections share.
//!
//! Connections over the network, those of agents included, do not delay users of the local socket: that has a thread of its own.
//! Each network thread has a runtime of its own and accepts from all addresses; a connection stays on the thread that accepted it.
//! (A multi-threaded runtime uses floating-point statistics, and would need a library that every start of the program has to
//! load.)

mod admission;
mod bodies;
mod connection;
mod descriptors;
mod listener;
mod peer_user;

pub(crate) use bodies::Refused;
pub(crate) use descriptors::Shares;
pub(crate) use listener::{Socket, serve};
pub(crate) use peer_user::owner;

use crate::api::{self, Api};
use crate::daemon::config::{Config, Limits};
use admission::Admission;
use bodies::{Bodies, BodyDirection};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

const THREADS: usize = 2;
/// Connections that are not accepted yet.
const WAITING: u32 = 1024;

pub(crate) struct Network {
    threads: Vec<(Handle, JoinHandle<()>)>,
    end: watch::Sender<()>,
}

/// Where people come in, and how many may at a time.
#[derive(Debug)]
pub struct ConnectionLimits {
    network: Arc<Admission>,
    local: Arc<Admission>,
    bodies: Arc<Bodies>,
    answers: Arc<Bodies>,
    idle_millis: AtomicU64,
    first_reserved: AtomicUsize,
    proxies: Arc<[IpAddr]>,
}

impl ConnectionLimits {
    pub(crate) fn new(config: &Config) -> ConnectionLimits {
        let limits = &config.limits;
        let shares = Shares::now(limits);
        ConnectionLimits {
            network: Arc::new(Admission::new(shares.network, shares.per_address)),
            local: Arc::new(Admission::new(shares.local, shares.per_user)),
            bodies: Arc::new(Bodies::new(
                BodyDirection::In,
                limits.request_bytes,
                limits.request_bytes_per_user,
            )),
            answers: Arc::new(Bodies::new(
                BodyDirection::Out,
                limits.answer_bytes,
                limits.answer_bytes_per_user,
            )),
            idle_millis: AtomicU64::new(limits.idle.0),
            first_reserved: AtomicUsize::new(shares.first_reserved),
            proxies: config.auth.trusted_proxies.as_slice().into(),
        }
    }

    /// Changes the limits for new connections and requests.
    pub(crate) fn set(&self, limits: &Limits) {
        let shares = Shares::now(limits);
        self.network.set(shares.network, shares.per_address);
        self.local.set(shares.local, shares.per_user);
        self.bodies.set(limits.request_bytes, limits.request_bytes_per_user);
        self.answers.set(limits.answer_bytes, limits.answer_bytes_per_user);
        self.idle_millis.store(limits.idle.0, Ordering::Relaxed);
        self.first_reserved.store(shares.first_reserved, Ordering::Relaxed);
    }

    fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_millis.load(Ordering::Relaxed))
    }
}

impl Network {
    /// `patience` is for those who are still being answered at the end.
    pub(crate) fn start(patience: Duration) -> io::Result<Network> {
        let (end, _) = watch::channel(());
        let mut network = Network { threads: Vec::new(), end };
        for _ in 0..THREADS {
            let runtime = runtime()?;
            let handle = runtime.handle().clone();
            let told = told_to_end(&network.end);
            let thread = thread::Builder::new().name("network".into()).spawn(move || {
                runtime.block_on(told);
                runtime.shutdown_timeout(patience);
            })?;
            network.threads.push((handle, thread));
        }
        Ok(network)
    }

    /// All threads serve this address, encrypted where there is an acceptor, until `end` is dropped. Where it is, if any port will do.
    pub(crate) fn serve(
        &self,
        address: SocketAddr,
        acceptor: Option<&TlsAcceptor>,
        api: &Api,
        end: &watch::Sender<()>,
        servers: &mut JoinSet<io::Result<()>>,
    ) -> io::Result<SocketAddr> {
        let socket = listen(address)?;
        for (thread, _) in &self.threads {
            let _within = thread.enter();
            let tcp = TcpListener::from_std(socket.try_clone()?)?;
            let socket = Socket::Network(tcp, acceptor.cloned());
            let served = serve(socket, api.clone(), api::router(api.clone()), told_to_end(end));
            servers.spawn_on(served, thread);
        }
        socket.local_addr()
    }

    pub(crate) fn end(self) {
        drop(self.end);
        for (_, thread) in self.threads {
            let _ = thread.join();
        }
    }
}

/// For one thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    // Blocking threads end soon, so that an idle server does nothing.
    Builder::new_current_thread().enable_all().thread_keep_alive(Duration::from_secs(1)).build()
}

/// Returns when the other end is dropped.
pub(crate) fn told_to_end(end: &watch::Sender<()>) -> impl Future<Output = ()> + Send + 'static {
    let mut told = end.subscribe();
    async move { while told.changed().await.is_ok() {} }
}

fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)?.into_std()
}

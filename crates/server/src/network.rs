//! The threads that serve the network.
//!
//! Who comes over the network, agents among them, does not keep people on this machine waiting: their one thread has nothing to
//! share, and answers soonest. Each thread here has a runtime of its own and takes connections from all addresses; a connection
//! stays where it was taken. (A runtime of several threads would do floating-point statistics, and need a library for them that
//! every start of the program would have to load.)

use crate::api::{self, Api};
use crate::tls::{PromptListener, TlsListener};
use std::io;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

const THREADS: usize = 2;
/// Connections that nobody has taken yet.
const WAITING: u32 = 1024;

pub(crate) struct Network {
    threads: Vec<(Handle, JoinHandle<()>)>,
    end: watch::Sender<()>,
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
            let listener = PromptListener(TcpListener::from_std(socket.try_clone()?)?);
            let router = api::router(api.clone());
            let router = router.into_make_service_with_connect_info::<api::Peer>();
            let end = told_to_end(end);
            if let Some(acceptor) = acceptor {
                let listener = TlsListener::new(listener, acceptor.clone())?;
                let served = axum::serve(listener, router).with_graceful_shutdown(end);
                servers.spawn_on(served.into_future(), thread);
            } else {
                let served = axum::serve(listener, router).with_graceful_shutdown(end);
                servers.spawn_on(served.into_future(), thread);
            }
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
    // Threads for slow files go soon, so that an idle server is quite still.
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

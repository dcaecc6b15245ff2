//! The threads that serve the network.
//!
//! Who comes over the network, agents among them, does not keep people on this machine waiting: their one thread has nothing to
//! share, and answers soonest. Each thread here has a runtime of its own and takes connections from all addresses; a connection
//! stays where it was taken. (A runtime of several threads would do floating-point statistics, and need a library for them that
//! every start of the program would have to load.)

use std::io;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;

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
            let mut told = network.end.subscribe();
            let thread = thread::Builder::new().name("network".into()).spawn(move || {
                runtime.block_on(async { while told.changed().await.is_ok() {} });
                runtime.shutdown_timeout(patience);
            })?;
            network.threads.push((handle, thread));
        }
        Ok(network)
    }

    /// One listener for each thread, to be served there.
    pub(crate) fn bind(&self, address: SocketAddr) -> io::Result<Vec<(Handle, TcpListener)>> {
        let bound = listen(address)?;
        let listener = |handle: &Handle| {
            let _within = handle.enter();
            Ok((handle.clone(), TcpListener::from_std(bound.try_clone()?)?))
        };
        self.threads.iter().map(|(handle, _)| listener(handle)).collect()
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

fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)?.into_std()
}

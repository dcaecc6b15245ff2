//! Accepts connections from a socket, within the limits.

use super::admission::{Admission, Full, Source};
use super::connection::{self, Serving};
use crate::api::{Api, Peer};
use axum::Router;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd as _, RawFd};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

/// Who connects and says nothing does not stay for longer.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Before the next try, where the system has no descriptor left for us.
const PAUSE: Duration = Duration::from_millis(100);

/// Where connections come from.
pub(crate) enum Socket {
    Local(UnixListener),
    /// Encrypted where there is an acceptor.
    Network(TcpListener, Option<TlsAcceptor>),
}

enum AcceptedStream {
    Local(UnixStream),
    Network(TcpStream, Option<TlsAcceptor>),
}

/// Serves until told to end, then until all accepted requests have been answered.
pub(crate) async fn serve(
    socket: Socket,
    api: Api,
    router: Router,
    end: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let (ending, _) = watch::channel(false);
    let mut end = pin!(end);
    loop {
        let stream = tokio::select! {
            stream = socket.accept() => stream,
            () = &mut end => break,
        };
        match stream {
            Ok(stream) => take(stream, &socket, &api, &router, &ending),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                warn!(%error, "no connection can be taken");
                socket.door(&api).make_room();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(socket);
    let _ = ending.send(true);
    ending.closed().await;
    Ok(())
}

fn take(
    stream: AcceptedStream,
    socket: &Socket,
    api: &Api,
    router: &Router,
    ending: &watch::Sender<bool>,
) {
    let door = socket.door(api);
    // Descriptors are numbered from below: the rest is for the database, the agent and the ends of tasks.
    let reserved = api.connection_limits.first_reserved.load(Ordering::Relaxed);
    if usize::try_from(stream.number()).is_ok_and(|number| number >= reserved) {
        door.make_room();
        return;
    }
    let (peer, source) = stream.greet();
    // Many people come through a proxy.
    let shared =
        peer.address().is_some_and(|it| api.connection_limits.proxies.contains(&it.to_canonical()));
    let place = match door.enter(source, shared) {
        Ok(place) => place,
        Err(full) => return tell(stream, full, door),
    };
    let serving = Serving {
        router: router.clone(),
        bodies: Arc::clone(&api.connection_limits.bodies),
        answers: Arc::clone(&api.connection_limits.answers),
        idle: api.connection_limits.idle(),
        proxies: Arc::clone(&api.connection_limits.proxies),
    };
    let (who, end) = ((peer, source), ending.subscribe());
    match stream {
        AcceptedStream::Local(stream) => {
            tokio::spawn(connection::serve(stream, who, place, serving, end));
        }
        AcceptedStream::Network(stream, None) => {
            tokio::spawn(connection::serve(stream, who, place, serving, end));
        }
        AcceptedStream::Network(stream, Some(acceptor)) => {
            tokio::spawn(async move {
                let encrypted = tokio::select! {
                    encrypted = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)) => encrypted,
                    () = place.connection_state.sent_away() => return,
                };
                match encrypted {
                    Ok(Ok(stream)) => connection::serve(stream, who, place, serving, end).await,
                    Ok(Err(error)) => debug!(%error, "no encrypted connection"),
                    Err(_) => debug!("said nothing"),
                }
            });
        }
    }
}

/// Sends an error response that the limit is reached, unless many are being sent already.
fn tell(stream: AcceptedStream, full: Full, door: &Admission) {
    debug!(?full, "no room for a connection");
    let Some(turn) = door.telling() else { return };
    tokio::spawn(async move {
        let _turn = turn;
        match stream {
            AcceptedStream::Local(stream) => connection::refuse(stream, full).await,
            AcceptedStream::Network(stream, None) => connection::refuse(stream, full).await,
            AcceptedStream::Network(stream, Some(acceptor)) => {
                let encrypted = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
                if let Ok(Ok(stream)) = encrypted {
                    connection::refuse(stream, full).await;
                }
            }
        }
    });
}

impl Socket {
    async fn accept(&self) -> io::Result<AcceptedStream> {
        match self {
            Socket::Local(listener) => Ok(AcceptedStream::Local(listener.accept().await?.0)),
            Socket::Network(listener, acceptor) => {
                // A busy thread does its work first, and leaves the next connection to an idle thread.
                tokio::task::yield_now().await;
                let (stream, _) = listener.accept().await?;
                // Small answers are sent at once. It is only slower where that cannot be had.
                let _ = stream.set_nodelay(true);
                Ok(AcceptedStream::Network(stream, acceptor.clone()))
            }
        }
    }

    fn door<'a>(&self, api: &'a Api) -> &'a Arc<Admission> {
        match self {
            Socket::Local(_) => &api.connection_limits.local,
            Socket::Network(..) => &api.connection_limits.network,
        }
    }
}

impl AcceptedStream {
    fn number(&self) -> RawFd {
        match self {
            AcceptedStream::Local(stream) => stream.as_raw_fd(),
            AcceptedStream::Network(stream, _) => stream.as_raw_fd(),
        }
    }

    fn greet(&self) -> (Peer, Source) {
        match self {
            AcceptedStream::Local(stream) => {
                let uid = stream.peer_cred().map(|credentials| credentials.uid()).ok();
                // A user that the kernel does not know is refused when the caller is identified.
                (Peer::Local { uid }, Source::User(uid.unwrap_or(u32::MAX)))
            }
            AcceptedStream::Network(stream, acceptor) => {
                let address = stream.peer_addr().map(|from| from.ip());
                let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
                let encrypted = acceptor.is_some();
                let ends = stream.peer_addr().ok().zip(stream.local_addr().ok());
                (Peer::Network { address, encrypted, ends }, Source::of_address(address))
            }
        }
    }
}

/// The next one can be taken at once.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

//! One connection to the server: a WebSocket that carries the messages of `danlu agent --stdio`, started on this machine.

use std::{io, process::Stdio, sync::Arc, time::Duration};

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest as _, http::StatusCode},
};

use super::server_access::ServerAccess;

/// For the way there.
const PATIENCE: Duration = Duration::from_secs(20);
/// The server says something every ten seconds. After this long a silence it is gone.
const SILENCE: Duration = Duration::from_secs(35);
const PIECE: usize = 64 << 10;

/// Why there is no connection, or none any more.
#[derive(Debug)]
pub(super) enum Ended {
    /// The server does not want us: another try would be the same.
    Refused,
    /// We were there.
    Lost(String),
    Never(String),
}

/// Until the connection is gone, which ends the host. What runs goes on.
pub(super) async fn once(place: &ServerAccess, trust: &Arc<ClientConfig>) -> Ended {
    let connecting = async {
        let tcp = TcpStream::connect((place.host.as_str(), place.port)).await?;
        tcp.set_nodelay(true)?;
        Ok::<TcpStream, io::Error>(tcp)
    };
    let tcp = match timeout(PATIENCE, connecting).await {
        Ok(Ok(tcp)) => tcp,
        Ok(Err(error)) => return Ended::Never(error.to_string()),
        Err(_) => return Ended::Never("the server does not answer".to_owned()),
    };
    if !place.encrypted {
        return speak(place, tcp).await;
    }
    let Ok(name) = ServerName::try_from(place.host.clone()) else {
        return Ended::Never(format!("{} is not the name of a server", place.host));
    };
    let connector = TlsConnector::from(Arc::clone(trust));
    match timeout(PATIENCE, connector.connect(name, tcp)).await {
        Ok(Ok(stream)) => speak(place, stream).await,
        Ok(Err(error)) => Ended::Never(format!("the server's certificate: {error}")),
        Err(_) => Ended::Never("the server does not answer".to_owned()),
    }
}

async fn speak<S: AsyncRead + AsyncWrite + Unpin>(place: &ServerAccess, stream: S) -> Ended {
    let socket = match timeout(PATIENCE, open(place, stream)).await {
        Ok(Ok(socket)) => socket,
        Ok(Err(Error::Http(answer))) if answer.status() == StatusCode::UNAUTHORIZED => {
            return Ended::Refused;
        }
        Ok(Err(Error::Http(answer))) => {
            return Ended::Never(format!("the server answers {}", answer.status()));
        }
        Ok(Err(error)) => return Ended::Never(error.to_string()),
        Err(_) => return Ended::Never("the server does not answer".to_owned()),
    };
    let (mut host, stdin, stdout) = match host() {
        Ok(host) => host,
        Err(error) => return Ended::Never(format!("the host could not be started: {error}")),
    };
    let (to_server, from_server) = socket.split();
    let why = tokio::select! {
        why = inward(from_server, stdin) => why,
        why = outward(stdout, to_server) => why,
    };
    // Without a connection it ends by itself, once its input is closed.
    if timeout(PATIENCE, host.wait()).await.is_err() {
        let _ = host.kill().await;
    }
    Ended::Lost(why.to_owned())
}

async fn open<S: AsyncRead + AsyncWrite + Unpin>(
    place: &ServerAccess,
    stream: S,
) -> Result<WebSocketStream<S>, Error> {
    let host =
        if place.host.contains(':') { format!("[{}]", place.host) } else { place.host.clone() };
    let scheme = if place.encrypted { "wss" } else { "ws" };
    let mut request = format!("{scheme}://{host}:{}/agent", place.port).into_client_request()?;
    let token = format!("Bearer {}", place.token.secret);
    let mut token: tokio_tungstenite::tungstenite::http::HeaderValue =
        token.parse().map_err(|_| Error::Utf8("the token".to_owned()))?;
    token.set_sensitive(true);
    request.headers_mut().insert("authorization", token);
    client_async(request, stream).await.map(|(socket, _)| socket)
}

/// The same as at the end of a connection by SSH, in a process of its own that ends with the connection.
fn host() -> io::Result<(Child, ChildStdin, ChildStdout)> {
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", "--stdio"]).env_remove(super::server_access::TOKEN_VARIABLE);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut host = command.spawn()?;
    match (host.stdin.take(), host.stdout.take()) {
        (Some(stdin), Some(stdout)) => Ok((host, stdin, stdout)),
        _ => unreachable!("both were asked for"),
    }
}

async fn inward(
    mut from: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut to: ChildStdin,
) -> &'static str {
    loop {
        match timeout(SILENCE, from.next()).await {
            Ok(Some(Ok(Message::Binary(bytes)))) => {
                if to.write_all(&bytes).await.and(to.flush().await).is_err() {
                    return "the host has ended";
                }
            }
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
            Ok(Some(Ok(_)) | None) => return "the server has closed the connection",
            Ok(Some(Err(_))) => return "the connection is broken",
            Err(_) => return "the connection went silent",
        }
    }
}

async fn outward(
    mut from: ChildStdout,
    mut to: impl Sink<Message, Error = Error> + Unpin,
) -> &'static str {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece).await {
            Ok(count @ 1..) => {
                let message = Message::Binary(piece[..count].to_vec().into());
                if to.send(message).await.is_err() {
                    return "the connection is broken";
                }
            }
            _ => return "the host has ended",
        }
    }
}

//! Machines that connect to the server over a WebSocket.
//!
//! The token is bound to the first machine that connects with it.

use super::reconnect::Ended;
use super::ssh::{Step, Unreachable};
use super::{NodeRoute, Nodes};
use crate::api::{Api, ApiError, Peer};
use crate::auth::SecretHash;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header;
use axum::response::Response;
use danlu_messages::errors;
use danlu_messages::machines::MachineProblem;
use danlu_wire::api::ErrorCode;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::net::IpAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::oneshot;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// What is on its way in each direction.
const UNDERWAY: usize = 64 << 10;
/// Of one piece of the stream; messages have a limit of their own.
const MOST_BYTES: usize = 1 << 20;
const READ_BUFFER: usize = 8 << 10;

/// `GET /agent`, with the token of a node.
pub(crate) async fn connect(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
) -> Result<Response, ApiError> {
    let accepted = create_response_with_body(&request, Body::empty).map_err(|error| {
        let hint = errors::it_is_for_agents_danlu_agent();
        ApiError::bad_request(errors::this_is_no_websocket_handshake_error(&error), hint)
    })?;
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).map(SecretHash::of);
    let Some(name) = token.and_then(|token| api.nodes.named_by(&token)) else {
        api.auth.unknown_callers.count(peer.address()).map_err(|wait| {
            let message = errors::too_many_anonymous_requests(&wait);
            ApiError::new(ErrorCode::TooOften, message, errors::see_the_token())
        })?;
        let hint = errors::issue_new_token();
        return Err(ApiError::new(
            ErrorCode::Unauthenticated,
            errors::no_machine_has_this_token(),
            hint,
        ));
    };
    let nodes = api.nodes.clone();
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        // An agent that leaves before the answer reaches it dials in again.
        let Ok(stream) = upgrade.await else { return };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES))
            // Thousands of machines, each of which has little to say.
            .read_buffer_size(READ_BUFFER);
        let stream = TokioIo::new(stream);
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(limits)).await;
        nodes.welcome(name, socket, peer.address());
    });
    Ok(accepted)
}

impl Nodes {
    fn named_by(&self, token: &SecretHash) -> Option<String> {
        let known = self.known();
        let has = |route: &NodeRoute| matches!(route, NodeRoute::DialIn(Some(own)) if own == token);
        known.values().find(|one| has(&one.record.route)).map(|one| one.record.name.clone())
    }

    /// The connection of a machine that has not shown who it is does not end the one that has.
    fn welcome(&self, name: String, socket: WebSocket, address: Option<IpAddr>) {
        let (nodes, (give, given)) = (self.clone(), oneshot::channel());
        let task = tokio::spawn(async move {
            let Ok(this) = given.await else { return };
            let (near, far) = duplex(UNDERWAY);
            let relay = tokio::spawn(relay(socket, far));
            // Ends with this task.
            let _relay = AbortOnDrop(relay.abort_handle());
            let (mut from, mut to) = tokio::io::split(near);
            let began = || {
                if let Some(known) = nodes.known().get_mut(&name) {
                    known.status.seen_at = address;
                    let before = known.task.replace(this);
                    before.inspect(tokio::task::AbortHandle::abort);
                }
            };
            let Some(ended) = nodes.speak_with(&name, &mut from, &mut to, began).await else {
                return;
            };
            match ended {
                Ended::Lost(reason) => {
                    let closed = || Unreachable::new(Step::Greet, MachineProblem::DialInClosed);
                    nodes.note_end(&name, reason.unwrap_or_else(closed));
                }
                Ended::Never(reason) => nodes.note_refusal(&name, reason),
            }
        });
        let _ = give.send(task.abort_handle());
    }

    /// While the right machine is connected, the refusal of another one is not recorded.
    fn note_refusal(&self, name: &str, reason: Option<Unreachable>) {
        let is_there = self.status(name).is_some_and(|(_, now)| now.is_connected());
        if let Some(reason) = reason.filter(|_| !is_there) {
            self.note_end(name, reason);
        }
    }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Until one side ends. Each direction goes on while the other waits.
async fn relay(socket: WebSocket, near: DuplexStream) {
    let (mut to_far, mut from_far) = socket.split();
    let (mut from_near, mut to_near) = tokio::io::split(near);
    let inward = async {
        while let Some(Ok(message)) = from_far.next().await {
            match message {
                Message::Binary(bytes) if to_near.write_all(&bytes).await.is_ok() => {}
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Binary(_) | Message::Text(_) | Message::Close(_) | Message::Frame(_) => {
                    break;
                }
            }
        }
    };
    let outward = async {
        let mut piece = vec![0; UNDERWAY];
        while let Ok(count @ 1..) = from_near.read(&mut piece).await {
            let message = Message::Binary(Bytes::copy_from_slice(&piece[..count]));
            if to_far.send(message).await.is_err() {
                break;
            }
        }
        let _ = to_far.close().await;
    };
    tokio::select! {
        () = inward => {}
        () = outward => {}
    }
}

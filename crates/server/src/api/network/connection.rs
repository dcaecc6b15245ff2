//! One HTTP connection from its first byte to its last.

use super::admission::{ConnectionSlot, ConnectionState, Full, Source};
use super::bodies::{Bodies, CountedBody, Share};
use crate::api::{ApiError, Peer};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use danlu_messages::errors;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tower_service::Service as _;
use tracing::trace;

/// Of the header of a request, and of what is read or written at once.
const MOST_HEADER_BYTES: usize = 64 << 10;
/// Of an answer that is not counted.
const SHORT: u64 = 64 << 10;
/// To hear that there is no room.
const BEING_TOLD: Duration = Duration::from_secs(2);

/// What all connections through a door share.
#[derive(Debug, Clone)]
pub(super) struct Serving {
    pub(super) router: Router,
    pub(super) bodies: Arc<Bodies>,
    pub(super) answers: Arc<Bodies>,
    pub(super) idle: Duration,
    /// Whose word on where a request comes from counts.
    pub(super) proxies: Arc<[IpAddr]>,
}

/// Until the client hangs up, has to leave or is idle for too long, or the server ends.
pub(super) async fn serve<I>(
    stream: I,
    (peer, source): (Peer, Source),
    place: ConnectionSlot,
    Serving { router, bodies, answers, idle, proxies }: Serving,
    mut end: watch::Receiver<bool>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection_state = Arc::clone(&place.connection_state);
    // The last answer, which is in memory until the client has read it and asks for the next.
    let unread: Arc<Mutex<Option<Arc<Share>>>> = Arc::default();
    let answer = service_fn(|request: Request<Incoming>| {
        let (mut router, connection_state, unread) =
            (router.clone(), Arc::clone(&connection_state), Arc::clone(&unread));
        let peer = peer.behind(&proxies, request.headers());
        let source = peer.address().map_or(source, Source::of_address);
        let share = (!request.body().is_end_stream()).then(|| bodies.share(source));
        let answers = Arc::clone(&answers);
        async move {
            if !connection_state.begin_answer() {
                return Ok(crate::api::language::of(request.headers()).within(leaving));
            }
            let mut request = match &share {
                None => request.map(|_| Body::empty()),
                Some(share) => request.map(|body| {
                    let (share, connection_state) =
                        (Arc::clone(share), Arc::clone(&connection_state));
                    Body::new(CountedBody { body, share, connection_state, late: None })
                }),
            };
            request.extensions_mut().insert(ConnectInfo(peer));
            let language = crate::api::language::of(request.headers());
            let answer = language.speaking(router.call(request)).await;
            // What came is being worked on until here.
            drop(share);
            answer.map(|answer| {
                let mut answer = held_until_read(answer, &unread, || answers.share(source));
                let nosniff = HeaderValue::from_static("nosniff");
                answer.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
                ended_with(answer, connection_state)
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut ending = false;
    loop {
        tokio::select! {
            served = connection.as_mut() => {
                if let Err(error) = served {
                    trace!(%error, "connection ended");
                }
                return;
            }
            () = connection_state.sent_away() => return,
            _ = end.wait_for(|ending| *ending), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Says that there is no room, and hangs up.
pub(super) async fn refuse<I>(stream: I, full: Full)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request: Request<Incoming>| {
        let language = crate::api::language::of(request.headers());
        let mut answer = language.within(|| ApiError::from(full)).into_response();
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        std::future::ready(Ok::<Response, Infallible>(answer))
    });
    let connection = http1::Builder::new()
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    // Who does not ask in time is not told.
    let _ = tokio::time::timeout(BEING_TOLD, connection).await;
}

/// For a request that arrives as its connection is closed to make room: nothing was done.
fn leaving() -> Response {
    let error = ApiError::new(
        danlu_wire::api::ErrorCode::Unavailable,
        errors::closed_for_others(),
        errors::try_again(),
    );
    error.into_response()
}

/// Counts a long answer as long as it may be in memory; there is none if that is too much.
fn held_until_read(
    answer: Response,
    unread: &Mutex<Option<Arc<Share>>>,
    share: impl FnOnce() -> Arc<Share>,
) -> Response {
    let long = answer.body().size_hint().exact().filter(|bytes| *bytes > SHORT);
    let mut unread = unread.lock().unwrap_or_else(PoisonError::into_inner);
    *unread = None;
    let Some(bytes) = long else { return answer };
    let share = share();
    match share.take(bytes) {
        Ok(()) => {
            *unread = Some(share);
            answer
        }
        Err(refused) => ApiError::from(&refused).into_response(),
    }
}

/// It is the client's turn again when the answer is there, or, of one that goes on for long, when it is over.
fn ended_with(answer: Response, connection_state: Arc<ConnectionState>) -> Response {
    if answer.body().size_hint().exact().is_some() {
        connection_state.end_answer();
        return answer;
    }
    answer.map(|body| Body::new(AnsweringBody { body, connection_state }))
}

struct AnsweringBody {
    body: Body,
    connection_state: Arc<ConnectionState>,
}

impl HttpBody for AnsweringBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for AnsweringBody {
    fn drop(&mut self) {
        self.connection_state.end_answer();
    }
}

//! Who asks: the OS user at the other end of the socket, with an account made at first use.

use super::{Api, ApiError};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::serve::IncomingStream;
use danlu_core::{Actor, Input, Reply, Task, UserId};
use danlu_wire::api::ErrorCode;
use tokio::net::UnixListener;

/// The credentials of the process that connected.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    uid: Option<u32>,
}

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Peer {
        Peer { uid: stream.io().peer_cred().map(|credentials| credentials.uid()).ok() }
    }
}

/// A person with an account.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) id: UserId,
    pub(crate) name: String,
    pub(crate) admin: bool,
}

impl Caller {
    pub(crate) fn actor(&self) -> Actor {
        Actor::User(self.id)
    }

    /// Logs and environments are for the owner and admins.
    pub(crate) fn may_see_inside(&self, task: &Task) -> Result<(), ApiError> {
        if self.admin || task.owner == self.id {
            return Ok(());
        }
        Err(danlu_core::Refusal::NotPermitted.into())
    }
}

impl FromRequestParts<Api> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Caller, ApiError> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>().map(|info| info.0);
        let uid = peer.and_then(|peer| peer.uid).ok_or_else(ApiError::unauthenticated)?;
        if api.own_uid != 0 && uid != api.own_uid && uid != 0 {
            return Err(ApiError::not_permitted(
                "this server was started without root and serves its own user only",
                "start a server of your own, or ask for one that runs as root",
            ));
        }
        let admin = uid == 0 || uid == api.own_uid;
        let name = api.accounts.name(uid).await;
        let known = api
            .handle
            .model()
            .users
            .values()
            .find(|user| user.name == name)
            .map(|user| (user.id, user.admin));
        let (id, admin) = match known {
            Some((id, known_admin)) => (id, known_admin || admin),
            None => (add_user(api, &name, admin).await?, admin),
        };
        Ok(Caller { id, name, admin })
    }
}

async fn add_user(api: &Api, name: &str, admin: bool) -> Result<UserId, ApiError> {
    let input = Input::AddUser { by: Actor::Daemon, name: name.to_owned(), admin };
    match api.handle.ask(input).await {
        Ok(Reply::User(id)) => Ok(id),
        // Somebody with the same name was faster.
        _ => api
            .handle
            .look({
                let name = name.to_owned();
                move |state, _, _| {
                    state.users.values().find(|user| user.name == name).map(|user| user.id)
                }
            })
            .await?
            .ok_or_else(|| {
                ApiError::new(
                    ErrorCode::Internal,
                    "no account could be made",
                    "see the server's log",
                )
            }),
    }
}

//! Authentication: the OS user at the other end of the socket, or the owner of a token or session.

use super::{Api, ApiError};
use crate::api::network::owner;
use crate::auth::{SecretHash, Session, origin};
use crate::daemon::handle::{Asked, Asker, EngineReply};
use crate::read_model::ReadModel;
use crate::store::Environment;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use danlu_core::{Actor, Event, Input, Refusal, Reply, Task, User, UserId};
use danlu_messages::errors;
use danlu_wire::api::{ErrorCode, Scope};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// A browser sends this cookie over encrypted connections only, and only this host can set it.
const HOST_COOKIE: &str = "__Host-danlu_session";
/// Sent to every port of the host: it allows reading, from the same address, and no changes.
pub(super) const PLAIN_COOKIE: &str = "danlu_session";
pub(crate) const CSRF_HEADER: &str = "x-csrf-token";
/// Whether the caller of a long-lived response is still accepted.
const LOOK_AGAIN: Duration = Duration::from_secs(15);

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub enum Peer {
    /// The credentials of the process that connected.
    Local { uid: Option<u32> },
    Network {
        address: IpAddr,
        encrypted: bool,
        /// The addresses of client and server, if no proxy stands in between.
        ends: Option<(SocketAddr, SocketAddr)>,
    },
}

impl Peer {
    pub(crate) fn of(parts: &Parts) -> Option<Peer> {
        parts.extensions.get::<ConnectInfo<Peer>>().map(|info| info.0)
    }

    /// `None` for the machine's own socket.
    pub(crate) fn address(self) -> Option<IpAddr> {
        match self {
            Peer::Local { .. } => None,
            Peer::Network { address, .. } => Some(address),
        }
    }

    /// The name of the cookie that a session is in.
    pub(crate) fn session_cookie(self) -> &'static str {
        if self.is_encrypted() { HOST_COOKIE } else { PLAIN_COOKIE }
    }

    /// The address, as a trusted proxy reports it.
    pub(crate) fn behind(self, proxies: &[IpAddr], headers: &HeaderMap) -> Peer {
        let is_proxy = |address: &IpAddr| proxies.contains(&address.to_canonical());
        let Peer::Network { address, .. } = self else { return self };
        if !is_proxy(&address) {
            return self;
        }
        let forwarded = headers.get_all("x-forwarded-for").into_iter();
        let forwarded = forwarded.filter_map(|value| value.to_str().ok());
        let forwarded: Vec<&str> = forwarded.flat_map(|value| value.split(',')).collect();
        let addresses = forwarded.iter().rev().map_while(|word| word.trim().parse().ok());
        let client = addresses.map(|it: IpAddr| it.to_canonical()).find(|it| !is_proxy(it));
        let encrypted = text(headers, "x-forwarded-proto")
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        Peer::Network { address: client.unwrap_or(address), encrypted, ends: None }
    }

    /// The OS user of this machine that is at the other end, where the session cookie is sent to every port of the host.
    pub(crate) fn os_user(self) -> Option<u32> {
        match self {
            Peer::Network { encrypted: false, ends: Some((theirs, ours)), .. } => {
                owner(theirs, ours)
            }
            Peer::Network { .. } | Peer::Local { .. } => None,
        }
    }

    pub(crate) fn is_encrypted(self) -> bool {
        matches!(self, Peer::Network { encrypted: true, .. })
    }
}

/// A person with an account.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) id: UserId,
    pub(crate) name: String,
    pub(crate) admin: bool,
    pub(crate) scope: Scope,
    /// The CSRF token of a browser session, required with every change.
    pub(crate) csrf: Option<String>,
    /// The content of the cookie stays secret.
    encrypted: bool,
    pub(crate) session: Option<SecretHash>,
    token: Option<SecretHash>,
    /// Another person chose the password, so it must be changed.
    pub(crate) must_change_password: bool,
    /// Connected through the local socket: identified by the kernel.
    pub(crate) local: bool,
    /// Root, or the user that the server runs as: always an administrator.
    powerful: bool,
    address: Option<IpAddr>,
}

impl Caller {
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    pub(crate) fn actor(&self) -> Actor {
        match self.scope {
            Scope::Admin => Actor::User(self.id),
            Scope::Read | Scope::Submit => Actor::Limited(self.id),
        }
    }

    /// The caller as named in the audit log.
    pub(crate) fn asker(&self) -> Asker {
        Asker { name: self.name.clone(), origin: origin(self.address) }
    }

    /// Returns when it is committed; the audit log names the caller.
    pub(crate) async fn ask(&self, api: &Api, input: Input) -> EngineReply {
        self.begin(api, input).wait().await
    }

    pub(crate) async fn ask_with(
        &self,
        api: &Api,
        input: Input,
        environment: Option<Environment>,
    ) -> EngineReply {
        api.handle.begin(input, environment, Some(self.asker())).wait().await
    }

    pub(crate) fn begin(&self, api: &Api, input: Input) -> Asked {
        api.handle.begin(input, None, Some(self.asker()))
    }

    /// Logs and environments are visible to the owner and administrators.
    pub(crate) fn sees_inside(&self, task: &Task) -> bool {
        self.admin || task.owner == self.id
    }

    pub(crate) fn may_see_inside(&self, model: &ReadModel, task: &Task) -> Result<(), ApiError> {
        if self.sees_inside(task) {
            return Ok(());
        }
        self.look_for(model, task.id)?;
        Err(Refusal::NotPermitted.into())
    }

    /// For long-lived responses: the account is not locked, the session or token is valid, and no right was withdrawn.
    pub(crate) fn is_still_in(&self, api: &Api) -> bool {
        let model = api.handle.model();
        let Some(user) = model.users.get(&self.id).filter(|user| user.is_active()) else {
            return false;
        };
        (!self.admin || self.powerful || user.admin)
            && self.session.as_ref().is_none_or(|session| api.auth.has_session(session))
            && self.token.as_ref().is_none_or(|token| api.auth.has_token(token))
    }

    /// Returns when the caller is no longer accepted.
    pub(crate) async fn thrown_out(&self, api: &Api) {
        let mut changes = api.auth.changes();
        while self.is_still_in(api) {
            // Some expire by time alone.
            let _ = tokio::time::timeout(LOOK_AGAIN, changes.changed()).await;
        }
    }

    pub(crate) fn require_admin(&self) -> Result<(), ApiError> {
        if self.admin { Ok(()) } else { Err(Refusal::AdminOnly.into()) }
    }

    /// A token with a limited scope cannot change accounts.
    pub(crate) fn require_person(&self) -> Result<(), ApiError> {
        if self.scope == Scope::Admin {
            return Ok(());
        }
        Err(ApiError::not_permitted(errors::token_not_for_accounts(), errors::use_admin_token()))
    }

    /// Identifies the caller of any request. From here on the response is in the caller's language.
    pub(crate) async fn identify(parts: &Parts, api: &Api) -> Result<Caller, ApiError> {
        let caller = Caller::known(parts, api).await?;
        let model = api.handle.model();
        let account = model.users.get(&caller.id).and_then(|user| user.profile.language.as_deref());
        crate::api::language::prefer(account, &parts.headers, caller.session.is_some());
        Ok(caller)
    }

    async fn known(parts: &Parts, api: &Api) -> Result<Caller, ApiError> {
        let peer = Peer::of(parts).ok_or_else(ApiError::unauthenticated)?;
        let address = peer.address();
        if let Some(secret) = bearer(&parts.headers) {
            let token = api.auth.token(secret).ok_or_else(ApiError::unauthenticated)?;
            let caller = Caller::new(api, token.user, token.scope, address)?;
            return Ok(Caller { token: Some(token.digest), ..caller });
        }
        if let Peer::Local { uid } = peer {
            return on_socket(api, uid.ok_or_else(ApiError::unauthenticated)?).await;
        }
        let secret = cookie(&parts.headers, peer.session_cookie());
        let secret = secret.ok_or_else(ApiError::unauthenticated)?;
        let session = api.auth.session(&api.handle, secret).await;
        let from_here = |session: &Session| peer.is_encrypted() || is_at(session, peer);
        let session = session.filter(from_here).ok_or_else(ApiError::unauthenticated)?;
        let mut caller = Caller::new(api, session.user, Scope::Admin, address)?;
        caller.must_change_password = api.auth.must_change_password(caller.id);
        caller.csrf = Some(session.csrf);
        caller.encrypted = peer.is_encrypted();
        caller.session = Some(session.digest);
        Ok(caller)
    }

    fn new(
        api: &Api,
        id: UserId,
        scope: Scope,
        address: Option<IpAddr>,
    ) -> Result<Caller, ApiError> {
        let model = api.handle.model();
        let user = model.users.get(&id).filter(|user| !user.removed);
        let user = user.ok_or_else(ApiError::unauthenticated)?;
        if user.locked {
            return Err(Refusal::Locked.into());
        }
        Ok(Caller {
            id,
            name: user.name.clone(),
            admin: user.admin && scope == Scope::Admin,
            scope,
            csrf: None,
            encrypted: false,
            session: None,
            token: None,
            must_change_password: false,
            local: false,
            powerful: false,
            address,
        })
    }

    /// A caller who sent a password with the request.
    pub(crate) fn with_password(
        api: &Api,
        id: UserId,
        address: Option<IpAddr>,
    ) -> Result<Caller, ApiError> {
        let mut caller = Caller::new(api, id, Scope::Admin, address)?;
        caller.must_change_password = api.auth.must_change_password(id);
        Ok(caller)
    }

    /// A browser sends its cookie with every request, also with those of other sites: so changes must contain the CSRF token,
    /// which only pages of this server have.
    pub(crate) fn check_csrf(&self, given: Option<&str>) -> Result<(), ApiError> {
        match self.csrf.as_deref() {
            Some(csrf) if given != Some(csrf) => Err(ApiError::of_another_site()),
            _ => Ok(()),
        }
    }

    /// The CSRF token for pages. Without encryption a browser gets it at log-in and keeps it for this port instead: a page
    /// would reveal it to every holder of the cookie, which is sent to every port of the host.
    pub(crate) fn csrf_on_pages(&self) -> Option<&str> {
        self.csrf.as_deref().filter(|_| self.encrypted)
    }

    pub(crate) fn may_change(&self, path: &str) -> Result<(), ApiError> {
        if self.scope == Scope::Read {
            return Err(ApiError::not_permitted(
                errors::token_read_only(),
                errors::make_submit_token(),
            ));
        }
        let leaves = path.ends_with("/me/password") || path.ends_with("/session");
        if self.must_change_password && !leaves {
            return Err(ApiError::not_permitted(
                errors::change_password_first(),
                errors::choose_a_new_one_on_the_page_me(),
            ));
        }
        Ok(())
    }
}

impl FromRequestParts<Api> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Caller, ApiError> {
        // The guard has stored it there.
        if let Some(caller) = parts.extensions.remove::<Caller>() {
            return Ok(caller);
        }
        let caller = Caller::identify(parts, api).await?;
        if !is_safe(&parts.method) {
            caller.may_change(parts.uri.path())?;
            caller.check_csrf(text(&parts.headers, CSRF_HEADER))?;
        }
        Ok(caller)
    }
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

async fn on_socket(api: &Api, uid: u32) -> Result<Caller, ApiError> {
    if api.own_uid != 0 && uid != api.own_uid && uid != 0 {
        return Err(ApiError::not_permitted(errors::not_run_as_root(), errors::use_root_server()));
    }
    let powerful = uid == 0 || uid == api.own_uid;
    let name = api.accounts.name(uid).await;
    let id = match user_named(api, &name) {
        // Its tasks would run as another OS user, who has not authorised them.
        Some(user) if user.os_name() != name && !powerful => {
            return Err(of_another_os_user(&user));
        }
        Some(user) => user.id,
        None => add_user(api, &name, powerful).await?,
    };
    let mut caller = Caller::new(api, id, Scope::Admin, None)?;
    caller.admin |= powerful;
    caller.powerful = powerful;
    caller.local = true;
    Ok(caller)
}

fn of_another_os_user(user: &User) -> ApiError {
    let (name, os_name) = (&user.name, user.os_name());
    ApiError::not_permitted(
        errors::account_of_another(&name, &os_name),
        errors::ask_for_another_account(),
    )
}

/// Where it began: a cookie that went to another port of the host is no good elsewhere.
fn is_at(session: &Session, peer: Peer) -> bool {
    let address = peer.address();
    let began: Option<IpAddr> = session.origin.parse().ok();
    if session.os_user.is_some() && session.os_user != peer.os_user() {
        return false;
    }
    let one = |address: IpAddr| match address.to_canonical() {
        address if address.is_loopback() => None,
        address => Some(address),
    };
    began.map(one) == address.map(one)
}

/// Makes long-lived responses check their caller again whenever an account has changed.
pub(crate) async fn watch_accounts(api: Api) {
    let mut news = api.handle.reader().news();
    let is_of_account =
        |event: &Event| matches!(event, Event::UserAdded { .. } | Event::UserChanged { .. });
    loop {
        match news.recv().await {
            Ok(news) if !news.events.iter().any(|(_, event)| is_of_account(event)) => {}
            Ok(_) | Err(RecvError::Lagged(_)) => api.auth.tell_of_change(),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Not a removed account.
pub(crate) fn user_named(api: &Api, name: &str) -> Option<Arc<User>> {
    let model = api.handle.model();
    model.users.values().find(|user| user.name == name && !user.removed).cloned()
}

pub(super) async fn add_user(api: &Api, name: &str, admin: bool) -> Result<UserId, ApiError> {
    let input = Input::AddUser { by: Actor::Daemon, name: name.to_owned(), admin };
    match api.handle.ask(input).await {
        Ok(Reply::User(id)) => Ok(id),
        // Another request created the account first.
        Ok(Reply::Done | Reply::Task(_) | Reply::Node(_)) | Err(_) => {
            let _ = api.handle.read(|_| ()).await;
            user_named(api, name).map(|user| user.id).ok_or_else(|| {
                ApiError::new(
                    ErrorCode::Internal,
                    errors::no_account_could_be_made(),
                    errors::see_the_servers_log(),
                )
            })
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (kind, secret) = text(headers, header::AUTHORIZATION.as_str())?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then_some(secret.trim())
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let pairs = all.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, proxies: &[&str], forwarded: &str) -> IpAddr {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().expect("a value"));
        let proxies: Vec<IpAddr> =
            proxies.iter().map(|it| it.parse().expect("an address")).collect();
        let address = peer.parse().expect("an address");
        let peer = Peer::Network { address, encrypted: false, ends: None };
        peer.behind(&proxies, &headers).address().expect("over the network")
    }

    #[test]
    fn only_proxies_that_are_trusted_tell_where_somebody_is() {
        let check = |peer, proxies: &[&str], forwarded, expect: &str| {
            assert_eq!(seen(peer, proxies, forwarded).to_string(), expect, "{forwarded}");
        };
        check("10.0.0.9", &[], "1.2.3.4", "10.0.0.9");
        check("10.0.0.9", &["10.0.0.1"], "1.2.3.4", "10.0.0.9");
        check("10.0.0.1", &["10.0.0.1"], "1.2.3.4", "1.2.3.4");
        // Forged entries of the client stand to the left.
        check("10.0.0.1", &["10.0.0.1"], "6.6.6.6, 1.2.3.4", "1.2.3.4");
        check("10.0.0.1", &["10.0.0.1", "10.0.0.2"], "1.2.3.4, 10.0.0.2", "1.2.3.4");
        check("10.0.0.1", &["10.0.0.1"], "nonsense", "10.0.0.1");
        check("::ffff:10.0.0.1", &["10.0.0.1"], "1.2.3.4", "1.2.3.4");
    }
}

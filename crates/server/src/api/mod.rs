//! `/api/v1` over HTTP. Reads are served from the read model; changes go to the engine and are answered once committed.

pub(crate) mod archive;
mod array_line;
pub(crate) mod audit;
mod backup;
mod body;
pub(crate) mod caller;
pub(crate) mod cluster;
mod command;
pub(crate) mod daemon;
pub(crate) mod efficiency;
pub(crate) mod encoding;
mod error;
mod events;
mod filter;
mod guard;
mod health;
mod history;
pub(crate) mod language;
pub(crate) mod logs;
pub(crate) mod me;
pub(crate) mod me_nodes;
pub(crate) mod network;
pub(crate) mod nodes;
pub(crate) mod notices;
pub(crate) mod notify;
pub mod openapi;
mod os_users;
pub(crate) mod overview;
mod report_csv;
mod reports;
pub(crate) mod response_cache;
pub(crate) mod routes;
pub(crate) mod server_log;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod setup;
mod state_text;
mod streams;
pub(crate) mod submit;
mod task_list;
mod task_paths;
mod task_selection;
pub(crate) mod task_template;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod usage_report;
pub(crate) mod users;
pub(crate) mod view;
mod visibility;
mod wait;
pub(crate) mod why;

pub(crate) use caller::Caller;
pub use caller::Peer;
pub(crate) use caller::watch_accounts;
pub(crate) use error::ApiError;
pub(crate) use filter::Filter;
pub use os_users::Accounts;
pub use streams::Streams;
pub(crate) use task_list::select;
pub(crate) use tasks::{act_on_all, one_task, waiting_for};
pub(crate) use view::{part_gpu_ids, rfc3339};

use crate::api::response_cache::ResponseCache;
use crate::auth::Auth;
use crate::compat::gpuman;
use crate::daemon::handle::Handle;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{any, get};
use danlu_core::UserId;
use danlu_messages::Language;
use danlu_messages::errors;
use danlu_wire::api::MOST_BODY_BYTES;
use encoding::EncodedBody;
use guard::Guard;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::mpsc;

/// The state shared by all handlers.
#[derive(Debug, Clone)]
pub struct Api(Arc<ApiState>);

#[derive(Debug)]
pub struct ApiState {
    pub handle: Handle,
    pub files: Arc<danlu_node::RunRoot>,
    pub user_files: danlu_node::user_files::UserFiles,
    pub nodes: crate::fleet::remote::Nodes,
    pub logins: crate::fleet::logins::Logins,
    pub config: crate::daemon::config::Config,
    pub live: crate::fleet::LiveGpus,
    pub usage: crate::usage::Usage,
    pub reports: crate::reports::Reports,
    pub idle: crate::idle::Idle,
    /// Of the server's own machine.
    pub evictions: danlu_node::Evictions,
    pub accounts: Accounts,
    pub auth: Auth,
    pub connection_limits: crate::api::network::ConnectionLimits,
    pub streams: Streams,
    /// Lists of tasks, by caller, query and language.
    pub(crate) lists: ResponseCache<(UserId, bool, Language, String), Arc<EncodedBody>>,
    /// The listening addresses, once known: `http://…` or `https://…` each.
    pub addresses: OnceLock<Vec<String>>,
    pub notifier: crate::notify::Notifier,
    pub metrics: crate::metrics::Metrics,
    /// Stops the process.
    pub stop: mpsc::Sender<()>,
    /// The user the daemon runs as, who is an admin like root.
    pub own_uid: u32,
}

impl Api {
    pub fn new(reach: ApiState) -> Api {
        Api(Arc::new(reach))
    }

    /// For who must not keep the server from ending.
    pub(crate) fn downgrade(&self) -> WeakApi {
        WeakApi(Arc::downgrade(&self.0))
    }

    /// Changes the limits for new connections and requests.
    pub(crate) fn set_limits(&self, limits: &crate::daemon::config::Limits) {
        self.connection_limits.set(limits);
        self.streams.set(limits);
    }

    /// What a new configuration tells people and monitoring systems.
    pub(crate) async fn take_over(&self, secrets: crate::daemon::secrets::Secrets) {
        self.metrics.configure(secrets.metrics);
        let (api, influx) = (self.clone(), secrets.influx);
        let configure = move || api.metrics.influx().configure(&api, &api.config.data, influx);
        // It opens a file.
        let _ = tokio::task::spawn_blocking(configure).await;
        self.notifier.configure(secrets.channels).await;
    }

    /// Once it has begun, it goes on.
    pub(crate) fn count_if(&self, wanted: bool) {
        if wanted {
            self.handle.reader().counters().begin();
        }
    }

    /// Changes what is measured, on all machines.
    pub(crate) fn set_sampling(&self, sampling: &crate::daemon::config::Sampling) {
        self.usage.set(sampling);
        self.nodes.order_sampling(&sampling.order());
    }
}

/// Does not keep the state alive.
#[derive(Debug, Clone)]
pub(crate) struct WeakApi(Weak<ApiState>);

impl WeakApi {
    pub(crate) fn upgrade(&self) -> Option<Api> {
        self.0.upgrade().map(Api)
    }
}

impl Deref for Api {
    type Target = ApiState;

    fn deref(&self) -> &ApiState {
        &self.0
    }
}

/// For the Unix socket, whose callers are known by their credentials, and for the network, where they have a token or a
/// session.
pub fn router(api: Api) -> Router {
    // Not nested: that would take the address of every request apart and put it together again.
    let v1 = routes::all()
        .into_iter()
        .fold(Router::new(), |router, route| {
            let guard = Guard { api: api.clone(), who: route.who };
            router.route(&format!("/api/v1{}", route.path), (route.handler)().layer(guard))
        })
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES));
    let scraped = get(crate::metrics::page);
    let scraped = scraped.layer(Guard { api: api.clone(), who: routes::Access::Scraper });
    let mut router = Router::new();
    if api.config.compat_gpuman {
        router = router.nest("/compat/gpuman/api", gpuman::router()).nest("/api", gpuman::router());
    }
    router
        .merge(v1)
        .route("/api/v1/{*rest}", any(no_such_address))
        .route("/healthz", get(daemon::healthz))
        .route("/metrics", scraped)
        .route("/agent", get(crate::fleet::remote::dial_in))
        .merge(crate::web::router())
        .fallback(crate::web::no_such_page)
        .method_not_allowed_fallback(wrong_method)
        .with_state(api)
}

async fn no_such_address() -> ApiError {
    ApiError::not_found(errors::no_such_address(), errors::api_v1_openapi_json_lists_them())
}

async fn wrong_method() -> (StatusCode, ApiError) {
    let error = ApiError::bad_request(errors::method_not_allowed(), errors::get_it());
    (StatusCode::METHOD_NOT_ALLOWED, error)
}

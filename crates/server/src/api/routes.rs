//! Every address of `/api/v1`, once: what serves it, who may ask, what goes in and what comes out.
//!
//! The router, the OpenAPI document and the test of permissions are made from this list.

use super::{
    Api, archive, audit, backup, cluster, command, daemon, events, filter, logs, me, me_nodes,
    nodes, notices, openapi, overview, reports, session, settings, setup, submit, tasks, tokens,
    users, wait, why,
};
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use danlu_wire::api as wire;
use danlu_wire::api::Document;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// Who may ask at all. What somebody may do to whose task is decided for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Also who is not known.
    Anybody,
    /// Any account, with any token.
    Reader,
    /// Any account, with a token of scope `submit` or more.
    Submitter,
    /// Any account by itself: a session, the socket, or a token of scope `admin`.
    Person,
    Admin,
}

pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) who: Who,
    pub(crate) handler: fn() -> MethodRouter<Api>,
    pub(crate) query: Option<MakeSchema>,
    pub(crate) body: Option<MakeSchema>,
    pub(crate) answer: Answer,
    pub(crate) status: u16,
}

pub(crate) enum Answer {
    Json(MakeSchema),
    /// Bytes, or a stream of events where that is asked for.
    Log,
    Events,
    /// A tar archive.
    Archive,
}

pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

impl Route {
    const fn new(
        (method, path): (&'static str, &'static str),
        summary: &'static str,
        who: Who,
        handler: fn() -> MethodRouter<Api>,
        answer: Answer,
    ) -> Route {
        Route { method, path, summary, who, handler, query: None, body: None, answer, status: 200 }
    }

    const fn query<T: JsonSchema>(mut self) -> Route {
        self.query = Some(schema::<T>);
        self
    }

    const fn body<T: JsonSchema>(mut self) -> Route {
        self.body = Some(schema::<T>);
        self
    }

    const fn creates(mut self) -> Route {
        self.status = 201;
        self
    }
}

/// For those who are not known yet: nobody's name and password are long.
fn short(handler: MethodRouter<Api>) -> MethodRouter<Api> {
    handler.layer(DefaultBodyLimit::max(super::session::MOST_BYTES))
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const fn json<T: JsonSchema>() -> Answer {
    Answer::Json(schema::<Document<T>>)
}

#[rustfmt::skip] // one line for each, where it fits
pub(crate) fn all() -> Vec<Route> {
    use Who::{Admin, Anybody, Person, Reader, Submitter};
    vec![
        Route::new(("get", "/tasks"), "List tasks, newest first", Reader, || get(tasks::list), json::<wire::Tasks>()).query::<filter::Filter>(),
        Route::new(("post", "/tasks"), "Submit a task or an array; with dry_run, ask where and when it would start", Submitter, || post(submit::submit), json::<wire::Submitted>()).body::<danlu_spec::Patch>().creates(),
        Route::new(("post", "/tasks/act"), "Do the same with many tasks", Submitter, || post(tasks::act_on_many), json::<wire::Acted>()).body::<wire::Act>(),
        Route::new(("get", "/tasks/{id}"), "All about one task", Reader, || get(tasks::one), json::<wire::OneTask>()),
        Route::new(("patch", "/tasks/{id}"), "Change a waiting task; it keeps its place", Submitter, || patch(submit::edit), json::<wire::OneTask>()).body::<danlu_spec::Patch>(),
        Route::new(("delete", "/tasks/{id}"), "Take an ended task out of the list", Submitter, || delete(tasks::remove), json::<wire::Acted>()),
        Route::new(("get", "/tasks/{id}/why"), "What it waits for, and when it is expected to start", Reader, || get(why::why), json::<Value>()),
        Route::new(("get", "/tasks/{id}/logs"), "What it has printed; as events with Accept: text/event-stream", Reader, || get(logs::logs), Answer::Log).query::<logs::Wanted>(),
        Route::new(("post", "/tasks/{id}/{act}"), "cancel, hold, release, pause, resume, retry, start, move, extend, requeue or remove it", Submitter, || post(tasks::act), json::<wire::OneTask>()).body::<tasks::ActBody>(),
        Route::new(("post", "/archive"), "Move ended tasks from the lists to the archive", Submitter, || post(archive::archive), json::<wire::Archived>()).body::<wire::Archive>(),
        Route::new(("get", "/overview"), "The machines in one line, and my tasks", Reader, || get(overview::overview), json::<wire::Overview>()).query::<filter::Filter>(),
        Route::new(("get", "/events"), "What happens, as it happens", Reader, || get(events::stream), Answer::Events).query::<events::Wanted>(),
        Route::new(("get", "/wait"), "Answers when these tasks have ended or reached a state, or after a minute", Reader, || get(wait::wait), json::<Value>()).query::<wait::Wanted>(),
        Route::new(("get", "/dependents"), "Which tasks wait for these", Reader, || get(tasks::dependents), json::<wire::Dependents>()).query::<tasks::Named>(),
        Route::new(("get", "/gpus"), "All GPUs: use, holders, processes that are not ours", Reader, || get(cluster::gpus), json::<wire::Gpus>()),
        Route::new(("post", "/gpus/act"), "Which GPUs are given out, and to how many tasks at once", Admin, || post(cluster::manage), json::<wire::Gpus>()).body::<wire::GpuAct>(),
        Route::new(("get", "/nodes"), "All machines", Reader, || get(nodes::list), json::<wire::Nodes>()),
        Route::new(("post", "/nodes"), "Add a machine that is reached by SSH, or that dials in", Admin, || post(nodes::add), json::<wire::AddedNode>()).body::<wire::NewNode>().creates(),
        Route::new(("get", "/nodes/{name}"), "One machine", Reader, || get(nodes::one), json::<wire::OneNode>()),
        Route::new(("patch", "/nodes/{name}"), "Reach a machine in another way; what runs there goes on", Admin, || patch(nodes::edit), json::<wire::OneNode>()).body::<wire::NodeChange>(),
        Route::new(("delete", "/nodes/{name}"), "Take a machine out; nothing may run there", Admin, || delete(nodes::remove), json::<wire::Removed>()),
        Route::new(("post", "/nodes/{name}/labels"), "Change its labels while tasks run", Admin, || post(nodes::label), json::<wire::OneNode>()).body::<wire::LabelChange>(),
        Route::new(("post", "/nodes/{name}/declare-lost"), "What ran on a machine that is away has failed", Admin, || post(nodes::declare_lost), json::<wire::DeclaredLost>()).body::<wire::DeclareLost>(),
        Route::new(("post", "/nodes/{name}/{act}"), "drain, undrain, accept or check it; end-unknown ends runs that the server does not know; give it a token, or revoke it", Admin, || post(nodes::act), json::<Value>()),
        Route::new(("get", "/status"), "Totals of machines, GPUs and tasks", Reader, || get(cluster::status), json::<wire::Status>()),
        Route::new(("get", "/notices"), "What has to be known about the server itself", Reader, || get(notices::list), json::<wire::NoticeList>()),
        Route::new(("post", "/notices/{id}/acknowledge"), "Acknowledge a notice; scheduling that was paused by an error is resumed", Admin, || post(notices::acknowledge), json::<wire::NoticeList>()),
        Route::new(("get", "/settings"), "What admins can change while the server runs", Reader, || get(settings::show), json::<Value>()),
        Route::new(("patch", "/settings"), "Change a setting", Admin, || patch(settings::change), json::<Value>()).body::<settings::Change>(),
        Route::new(("get", "/users"), "All accounts", Reader, || get(users::list), json::<wire::Users>()),
        Route::new(("post", "/users"), "Add an account", Admin, || post(users::add), json::<wire::AddedUser>()).body::<wire::NewUser>().creates(),
        Route::new(("patch", "/users/{name}"), "Change an account: admin, locked, os_user, os_user_on, email, priority, weight, group, quotas", Admin, || patch(users::change), json::<wire::OneUser>()).body::<users::ChangeBody>(),
        Route::new(("delete", "/users/{name}"), "Remove an account; its tasks are cancelled, its history stays", Admin, || delete(users::remove), json::<wire::Removed>()),
        Route::new(("post", "/users/{name}/password"), "Set somebody's password, or make one for a single use", Admin, || post(users::password), json::<wire::PasswordSet>()).body::<wire::NewPassword>(),
        Route::new(("get", "/me"), "Who I am to this server", Reader, || get(me::show), json::<wire::Me>()),
        Route::new(("patch", "/me"), "My mail address and language", Person, || patch(me::change), json::<wire::Me>()).body::<me::Change>(),
        Route::new(("post", "/me/password"), "Change my password", Person, || post(me::password), json::<wire::PasswordSet>()).body::<me::OwnPassword>(),
        Route::new(("get", "/me/template"), "What my tasks have when nothing else is said", Reader, || get(me::show_template), json::<danlu_spec::patch::Template>()),
        Route::new(("put", "/me/template"), "Replace that", Person, || put(me::set_template), json::<danlu_spec::patch::Template>()).body::<danlu_spec::patch::Template>(),
        Route::new(("get", "/me/nodes"), "Who I am on each machine", Reader, || get(me_nodes::list), json::<wire::MyNodes>()),
        Route::new(("put", "/me/nodes/{name}"), "My SSH user name and key for a machine where the server is not root", Person, || put(me_nodes::set), json::<wire::MyNodes>()).body::<wire::NewSshLogin>(),
        Route::new(("delete", "/me/nodes/{name}"), "Take them away", Person, || delete(me_nodes::remove), json::<wire::MyNodes>()),
        Route::new(("post", "/session"), "Log in", Anybody, || short(post(session::log_in)), json::<wire::LoggedIn>()).body::<wire::LogIn>().creates(),
        Route::new(("delete", "/session"), "Log out", Person, || delete(session::log_out), json::<Value>()),
        Route::new(("post", "/setup"), "Make the first admin, with the key that the server printed", Anybody, || short(post(setup::set_up)), json::<wire::PasswordSet>()).body::<setup::SetUp>().creates(),
        Route::new(("get", "/sessions"), "Where I am logged in", Reader, || get(session::list), json::<wire::Sessions>()),
        Route::new(("delete", "/sessions/{id}"), "Log out there", Person, || delete(session::end), json::<wire::Sessions>()),
        Route::new(("get", "/tokens"), "My tokens", Reader, || get(tokens::list), json::<wire::Tokens>()),
        Route::new(("post", "/tokens"), "Make a token; it is told this once", Person, || post(tokens::make), json::<wire::MadeToken>()).body::<wire::NewToken>().creates(),
        Route::new(("delete", "/tokens/{id}"), "Revoke a token by its id or name", Person, || delete(tokens::revoke), json::<wire::Tokens>()),
        Route::new(("get", "/audit"), "Who did what, newest first", Admin, || get(audit::list), json::<wire::Audit>()).query::<audit::Wanted>(),
        Route::new(("post", "/command"), "One line of an administrator, in gpuman's words", Admin, || post(command::command), json::<command::Said>()).body::<command::Command>(),
        Route::new(("get", "/reports/predictions"), "How well expected starts and lengths came true", Reader, || get(reports::predictions), json::<wire::Predictions>()),
        Route::new(("get", "/config"), "What the server was started with", Reader, || get(daemon::config), json::<Value>()),
        Route::new(("get", "/whoami"), "Who I am, in short", Reader, || get(daemon::whoami), json::<Value>()),
        Route::new(("get", "/server/logs"), "The server's own log", Admin, || get(logs::of_server), Answer::Log).query::<logs::Wanted>(),
        Route::new(("get", "/server/backup"), "A backup of database, keys and configuration, as a tar archive", Admin, || get(backup::backup), Answer::Archive).query::<backup::Wanted>(),
        Route::new(("get", "/server/check"), "Check the database while the server runs", Admin, || get(backup::check), json::<wire::DatabaseCheck>()),
        Route::new(("post", "/server/reload"), "Read the configuration file again", Admin, || post(daemon::reload), json::<Value>()),
        Route::new(("post", "/server/stop"), "Stop the server; running tasks go on", Admin, || post(daemon::stop), json::<Value>()).body::<daemon::Stop>(),
        Route::new(("get", "/openapi.json"), "This description", Anybody, || get(openapi::document), json::<Value>()),
    ]
}

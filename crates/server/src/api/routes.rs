//! The list of all endpoints of `/api/v1`: handler, required access, request and response.
//!
//! The router, the OpenAPI description and the test of permissions are generated from this list.

use super::{
    Api, archive, audit, backup, cluster, command, daemon, events, filter, health, logs, me,
    me_nodes, nodes, notices, notify, openapi, overview, reports, server_log, session, settings,
    setup, submit, tasks, tokens, usage, usage_report, users, wait, why,
};
use crate::metrics;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use danlu_wire::api as wire;
use danlu_wire::api::Document;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// Who may call an endpoint. What a caller may do with which task is decided by its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Also unauthenticated callers.
    Anybody,
    /// Any account, with any token.
    Reader,
    /// Any account, with a token of scope `submit` or more.
    Submitter,
    /// Any account with full rights: a session, the socket, or a token of scope `admin`.
    Person,
    Admin,
    /// Administrators, and who the configuration lets read `/metrics`.
    Scraper,
}

impl Access {
    const ALL: [Access; 6] = [
        Access::Anybody,
        Access::Reader,
        Access::Submitter,
        Access::Person,
        Access::Admin,
        Access::Scraper,
    ];

    /// `x-who` in the API description.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Access::Anybody => "anybody",
            Access::Reader => "reader",
            Access::Submitter => "submitter",
            Access::Person => "person",
            Access::Admin => "admin",
            Access::Scraper => "scraper",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Access> {
        Access::ALL.into_iter().find(|access| access.name() == name)
    }
}

pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) who: Access,
    pub(crate) handler: fn() -> MethodRouter<Api>,
    pub(crate) query: Option<MakeSchema>,
    pub(crate) body: Option<MakeSchema>,
    pub(crate) answer: ResponseKind,
    pub(crate) status: u16,
}

pub(crate) enum ResponseKind {
    Json(MakeSchema),
    /// Bytes, or a stream of events where that is asked for.
    Log,
    Events,
    /// A tar archive.
    Archive,
    /// The text format of Prometheus.
    Metrics,
    Csv,
    Svg,
}

pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

impl Endpoint {
    const fn new(
        (method, path): (&'static str, &'static str),
        summary: &'static str,
        who: Access,
        handler: fn() -> MethodRouter<Api>,
        answer: ResponseKind,
    ) -> Endpoint {
        Endpoint {
            method,
            path,
            summary,
            who,
            handler,
            query: None,
            body: None,
            answer,
            status: 200,
        }
    }

    const fn query<T: JsonSchema>(mut self) -> Endpoint {
        self.query = Some(schema::<T>);
        self
    }

    const fn body<T: JsonSchema>(mut self) -> Endpoint {
        self.body = Some(schema::<T>);
        self
    }

    const fn creates(mut self) -> Endpoint {
        self.status = 201;
        self
    }
}

/// For unauthenticated requests: names and passwords are short.
fn short(handler: MethodRouter<Api>) -> MethodRouter<Api> {
    handler.layer(DefaultBodyLimit::max(super::session::MOST_BYTES))
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const fn json<T: JsonSchema>() -> ResponseKind {
    ResponseKind::Json(schema::<Document<T>>)
}

#[rustfmt::skip] // one line for each, where it fits
pub(crate) fn all() -> Vec<Endpoint> {
    use Access::{Admin, Anybody, Person, Reader, Scraper, Submitter};
    vec![
        Endpoint::new(("get", "/tasks"), "List tasks, newest first", Reader, || get(tasks::list), json::<wire::Tasks>()).query::<filter::Filter>(),
        Endpoint::new(("post", "/tasks"), "Submit a task or an array; with dry_run, ask where and when it would start", Submitter, || post(submit::submit), json::<wire::Submitted>()).body::<danlu_spec::Patch>().creates(),
        Endpoint::new(("post", "/tasks/act"), "Do the same with many tasks", Submitter, || post(tasks::act_on_many), json::<wire::Acted>()).body::<wire::Act>(),
        Endpoint::new(("get", "/tasks/{id}"), "All about one task", Reader, || get(tasks::one), json::<wire::OneTask>()),
        Endpoint::new(("patch", "/tasks/{id}"), "Change a waiting task; it keeps its place", Submitter, || patch(submit::edit), json::<wire::OneTask>()).body::<danlu_spec::Patch>(),
        Endpoint::new(("delete", "/tasks/{id}"), "Take an ended task out of the list", Submitter, || delete(tasks::remove), json::<wire::Acted>()),
        Endpoint::new(("get", "/tasks/{id}/why"), "What it waits for, and when it is expected to start", Reader, || get(why::why), json::<Value>()),
        Endpoint::new(("get", "/tasks/{id}/logs"), "What it has printed; as events with Accept: text/event-stream", Reader, || get(logs::logs), ResponseKind::Log).query::<logs::LogQuery>(),
        Endpoint::new(("get", "/tasks/{id}/usage"), "What a run of it has used over its life", Reader, || get(usage::of_task), json::<wire::UsageHistory>()).query::<usage::UsageQuery>(),
        Endpoint::new(("post", "/tasks/{id}/{act}"), "cancel, hold, release, pause, resume, retry, start, move, extend, keep, requeue or remove it", Submitter, || post(tasks::act), json::<wire::OneTask>()).body::<tasks::ActBody>(),
        Endpoint::new(("post", "/archive"), "Write ended tasks to the archive of the server; they stay in the lists", Submitter, || post(archive::archive), json::<wire::Archived>()).body::<wire::Archive>(),
        Endpoint::new(("post", "/archive/lines"), "Ended tasks as lines for an archive of one's own", Submitter, || post(archive::lines), json::<wire::ArchiveLines>()).body::<wire::Archive>(),
        Endpoint::new(("post", "/archive/import"), "Take over ended tasks from lines of an archive", Admin, || post(archive::import), json::<wire::Imported>()).body::<wire::ArchiveImport>(),
        Endpoint::new(("get", "/overview"), "The machines in one line, and my tasks", Reader, || get(overview::overview), json::<wire::Overview>()).query::<filter::Filter>(),
        Endpoint::new(("get", "/events"), "What happens, as it happens", Reader, || get(events::stream), ResponseKind::Events).query::<events::EventsQuery>(),
        Endpoint::new(("get", "/wait"), "Answers when these tasks have ended or reached a state, or after a minute", Reader, || get(wait::wait), json::<Value>()).query::<wait::WaitQuery>(),
        Endpoint::new(("get", "/dependents"), "Which tasks wait for these", Reader, || get(tasks::dependents), json::<wire::Dependents>()).query::<tasks::Named>(),
        Endpoint::new(("get", "/gpus"), "All GPUs: use, holders, processes that are not ours", Reader, || get(cluster::gpus), json::<wire::Gpus>()),
        Endpoint::new(("post", "/gpus/act"), "Which GPUs are given out, and to how many tasks at once", Admin, || post(cluster::manage), json::<wire::Gpus>()).body::<wire::GpuAct>(),
        Endpoint::new(("get", "/gpus/{gpu}/usage"), "How a GPU, named MACHINE:INDEX, was used", Reader, || get(usage::of_gpu), json::<wire::UsageHistory>()).query::<usage::UsageQuery>(),
        Endpoint::new(("get", "/nodes"), "All machines", Reader, || get(nodes::list), json::<wire::Nodes>()),
        Endpoint::new(("post", "/nodes"), "Add a machine that is reached by SSH, or that dials in", Admin, || post(nodes::add), json::<wire::AddedNode>()).body::<wire::NewNode>().creates(),
        Endpoint::new(("get", "/nodes/{name}"), "One machine", Reader, || get(nodes::one), json::<wire::OneNode>()),
        Endpoint::new(("patch", "/nodes/{name}"), "Reach a machine in another way; what runs there goes on", Admin, || patch(nodes::edit), json::<wire::OneNode>()).body::<wire::NodeChange>(),
        Endpoint::new(("delete", "/nodes/{name}"), "Take a machine out; nothing may run there", Admin, || delete(nodes::remove), json::<wire::Removed>()),
        Endpoint::new(("get", "/nodes/{name}/usage"), "How a machine was used", Reader, || get(usage::of_node), json::<wire::UsageHistory>()).query::<usage::UsageQuery>(),
        Endpoint::new(("post", "/nodes/{name}/labels"), "Change its labels while tasks run", Admin, || post(nodes::label), json::<wire::OneNode>()).body::<wire::LabelChange>(),
        Endpoint::new(("post", "/nodes/{name}/declare-lost"), "What ran on a machine that is away has failed", Admin, || post(nodes::declare_lost), json::<wire::DeclaredLost>()).body::<wire::DeclareLost>(),
        Endpoint::new(("post", "/nodes/{name}/{act}"), "drain, undrain, accept or check it; end-unknown ends runs that the server does not know; give it a token, or revoke it", Admin, || post(nodes::act), json::<Value>()),
        Endpoint::new(("get", "/status"), "Totals of machines, GPUs and tasks", Reader, || get(cluster::status), json::<wire::Status>()),
        Endpoint::new(("get", "/notices"), "What has to be known about the server itself", Reader, || get(notices::list), json::<wire::NoticeList>()),
        Endpoint::new(("post", "/notices/{id}/acknowledge"), "Acknowledge a notice; scheduling that was paused by an error is resumed", Admin, || post(notices::acknowledge), json::<wire::NoticeList>()),
        Endpoint::new(("get", "/notify/channels"), "Channels over which people are told", Reader, || get(notify::channels), json::<wire::ChannelList>()),
        Endpoint::new(("get", "/notify/messages"), "Messages that were sent, wait or failed, newest first; admins see everybody's", Reader, || get(notify::messages), json::<wire::MessageList>()).query::<notify::MessagesQuery>(),
        Endpoint::new(("post", "/notify/test"), "Send a test message now, and say what the other side answers", Person, || post(notify::test), json::<wire::NotifyTested>()).body::<wire::NotifyTest>(),
        Endpoint::new(("get", "/notify/watches"), "My alerts for free GPUs", Reader, || get(notify::watches), json::<wire::Watches>()),
        Endpoint::new(("post", "/notify/watches"), "Tell me when so many GPUs are free on one machine", Submitter, || post(notify::watch), json::<wire::AddedWatch>()).body::<wire::NewWatch>().creates(),
        Endpoint::new(("delete", "/notify/watches/{id}"), "Cancel an alert", Submitter, || delete(notify::unwatch), json::<wire::Watches>()),
        Endpoint::new(("get", "/settings"), "What admins can change while the server runs", Reader, || get(settings::show), json::<Value>()),
        Endpoint::new(("patch", "/settings"), "Change a setting", Admin, || patch(settings::change), json::<Value>()).body::<settings::SettingChange>(),
        Endpoint::new(("get", "/users"), "All accounts", Reader, || get(users::list), json::<wire::Users>()),
        Endpoint::new(("post", "/users"), "Add an account", Admin, || post(users::add), json::<wire::AddedUser>()).body::<wire::NewUser>().creates(),
        Endpoint::new(("patch", "/users/{name}"), "Change an account: admin, locked, os_user, os_user_on, email, priority, weight, group, quotas", Admin, || patch(users::change), json::<wire::OneUser>()).body::<users::ChangeBody>(),
        Endpoint::new(("delete", "/users/{name}"), "Remove an account; its tasks are cancelled, its history stays", Admin, || delete(users::remove), json::<wire::Removed>()),
        Endpoint::new(("post", "/users/{name}/password"), "Set somebody's password, or make one for a single use", Admin, || post(users::password), json::<wire::PasswordSet>()).body::<wire::NewPassword>(),
        Endpoint::new(("get", "/me"), "Access I am to this server", Reader, || get(me::show), json::<wire::Me>()),
        Endpoint::new(("patch", "/me"), "My mail address and language", Person, || patch(me::change), json::<wire::Me>()).body::<me::ProfileChange>(),
        Endpoint::new(("post", "/me/password"), "Change my password", Person, || post(me::password), json::<wire::PasswordSet>()).body::<me::OwnPassword>(),
        Endpoint::new(("get", "/me/template"), "What my tasks have when nothing else is said", Reader, || get(me::show_template), json::<danlu_spec::patch::Template>()),
        Endpoint::new(("put", "/me/template"), "Replace that", Person, || put(me::set_template), json::<danlu_spec::patch::Template>()).body::<danlu_spec::patch::Template>(),
        Endpoint::new(("get", "/me/nodes"), "Access I am on each machine", Reader, || get(me_nodes::list), json::<wire::MyNodes>()),
        Endpoint::new(("put", "/me/nodes/{name}"), "My SSH user name and key for a machine where the server is not root", Person, || put(me_nodes::set), json::<wire::MyNodes>()).body::<wire::NewSshLogin>(),
        Endpoint::new(("delete", "/me/nodes/{name}"), "Take them away", Person, || delete(me_nodes::remove), json::<wire::MyNodes>()),
        Endpoint::new(("post", "/session"), "Log in", Anybody, || short(post(session::log_in)), json::<wire::LoggedIn>()).body::<wire::LogIn>().creates(),
        Endpoint::new(("delete", "/session"), "Log out", Person, || delete(session::log_out), json::<Value>()),
        Endpoint::new(("post", "/setup"), "Make the first admin, with the key that the server printed", Anybody, || short(post(setup::set_up)), json::<wire::PasswordSet>()).body::<setup::SetUp>().creates(),
        Endpoint::new(("get", "/sessions"), "Where I am logged in", Reader, || get(session::list), json::<wire::Sessions>()),
        Endpoint::new(("delete", "/sessions/{id}"), "Log out there", Person, || delete(session::end), json::<wire::Sessions>()),
        Endpoint::new(("get", "/tokens"), "My tokens", Reader, || get(tokens::list), json::<wire::Tokens>()),
        Endpoint::new(("post", "/tokens"), "Make a token; it is told this once", Person, || post(tokens::make), json::<wire::MadeToken>()).body::<wire::NewToken>().creates(),
        Endpoint::new(("delete", "/tokens/{id}"), "Revoke a token by its id or name", Person, || delete(tokens::revoke), json::<wire::Tokens>()),
        Endpoint::new(("get", "/audit"), "Access did what, newest first", Admin, || get(audit::list), json::<wire::Audit>()).query::<audit::AuditQuery>(),
        Endpoint::new(("post", "/command"), "One line of an administrator, in gpuman's words", Admin, || post(command::command), json::<command::Said>()).body::<command::Command>(),
        Endpoint::new(("get", "/reports/usage"), "GPU-hours, waiting, use, failures and energy, by user, project, machine, model or time", Reader, || get(usage_report::json), json::<wire::UsageReport>()).query::<usage_report::UsageReportQuery>(),
        Endpoint::new(("get", "/reports/usage.csv"), "The same for spreadsheets", Reader, || get(usage_report::csv), ResponseKind::Csv).query::<usage_report::UsageReportQuery>(),
        Endpoint::new(("get", "/reports/usage.svg"), "Its GPU-hours as a picture", Reader, || get(usage_report::svg), ResponseKind::Svg).query::<usage_report::UsageReportQuery>(),
        Endpoint::new(("get", "/reports/predictions"), "How well expected starts and lengths came true", Reader, || get(reports::predictions), json::<wire::Predictions>()),
        Endpoint::new(("get", "/config"), "What the server was started with", Reader, || get(daemon::config), json::<Value>()),
        Endpoint::new(("get", "/whoami"), "Access I am, in short", Reader, || get(daemon::whoami), json::<Value>()),
        Endpoint::new(("get", "/server/logs"), "The server's own log", Admin, || get(server_log::of_server), ResponseKind::Log).query::<server_log::ServerLogQuery>(),
        Endpoint::new(("get", "/server/backup"), "A backup of database, keys and configuration, as a tar archive", Admin, || get(backup::backup), ResponseKind::Archive).query::<backup::BackupQuery>(),
        Endpoint::new(("get", "/server/health"), "Clock, disk, addresses and certificate of the server", Admin, || get(health::health), json::<wire::ServerHealth>()),
        Endpoint::new(("get", "/server/check"), "Check the database while the server runs", Admin, || get(backup::check), json::<wire::DatabaseCheck>()),
        Endpoint::new(("post", "/server/reload"), "Read the configuration file again", Admin, || post(daemon::reload), json::<Value>()),
        Endpoint::new(("post", "/server/stop"), "Stop the server; running tasks go on", Admin, || post(daemon::stop), json::<Value>()).body::<daemon::Stop>(),
        Endpoint::new(("get", "/metrics"), "Figures for Prometheus; also at /metrics", Scraper, || get(metrics::page), ResponseKind::Metrics),
        Endpoint::new(("get", "/openapi.json"), "This description", Anybody, || get(openapi::document), json::<Value>()),
    ]
}

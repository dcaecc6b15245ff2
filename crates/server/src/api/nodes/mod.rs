//! Machines: their state, and what administrators do with them.

mod check;
mod edit;

pub(crate) use check::check;
pub(super) use edit::edit;

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError, view};
use crate::auth::{SecretHash, random_secret};
use crate::daemon::clock;
use crate::fleet::remote::{
    BadNode, LinkState, NodeRecord, NodeRoute, Status, put_record, remove_record,
};
use crate::store::Deed;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use danlu_core::{Input, Node, NodeId, Reply};
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_messages::machines::MachineProblem;
use danlu_wire::agent::Facts;
use danlu_wire::api::{
    AddedNode, DeclareLost, DeclaredLost, Document, ErrorCode, LabelChange, NewNode, NodeRole,
    NodeView, Nodes, OneNode, Removed,
};

pub(super) async fn list(State(api): State<Api>, caller: Caller) -> Json<Document<Nodes>> {
    Json(Document::new(Nodes {
        nodes: views(&api, &caller),
        notices: api.handle.notices().seen_by(caller.admin),
    }))
}

pub(super) async fn one(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Document<OneNode>>, ApiError> {
    answer(&api, &caller, &name)
}

pub(crate) fn views(api: &Api, caller: &Caller) -> Vec<NodeView> {
    let model = api.handle.model();
    let visibility = caller.visibility(&model);
    model.nodes.values().map(|node| visibility.node(view_of(api, node))).collect()
}

pub(crate) fn named(api: &Api, caller: &Caller, name: &str) -> Result<NodeView, ApiError> {
    let model = api.handle.model();
    let node = model.nodes.values().find(|node| node.name == name).ok_or_else(|| unknown(name))?;
    Ok(caller.visibility(&model).node(view_of(api, node)))
}

fn view_of(api: &Api, node: &Node) -> NodeView {
    let mut view = view::node(&api.handle.model(), node);
    match api.nodes.status(&node.name) {
        Some((record, status)) => add_status(&mut view, node, &record, status),
        None => {
            view.version = Some(env!("CARGO_PKG_VERSION").to_owned());
            view.last_contact_at = Some(view::rfc3339(clock::now()));
            view.host_name = nix::unistd::gethostname().ok().and_then(|it| it.into_string().ok());
            add_facts(&mut view, danlu_node::facts(&api.config.data, ""));
        }
    }
    let live = api.usage.live();
    let failed = live.get(&node.id).into_iter().flat_map(|samples| &samples.failed_probes);
    view.failed_metrics = failed.map(danlu_messages::machines::failed_metric).collect();
    view.same_as = api.nodes.same_as(&node.name, &api.config.node_name);
    view
}

fn add_status(view: &mut NodeView, node: &Node, record: &NodeRecord, status: Status) {
    view.route = record.route.to_string();
    view.role = record.role.into();
    view.version = status.version;
    view.last_contact_at = status.last_contact_at.map(view::rfc3339);
    view.host_name = status.machine.map(|machine| machine.host_name);
    view.clock_ahead_ms = status.clock_ahead;
    if let Some(facts) = status.facts {
        add_facts(view, facts);
    }
    let found = u32::try_from(node.gpus.len()).unwrap_or(u32::MAX);
    let problem = match (status.problem, record.expect_gpus) {
        (Some(reason), _) => reason.problem,
        (None, Some(expected)) if status.link == LinkState::Connected && found < expected => {
            MachineProblem::TooFewGpus { found, expected }
        }
        (None, _) => return,
    };
    view.problem = Some(problem.message());
    view.hint = Some(problem.hint()).filter(|hint| !hint.is_empty());
}

fn add_facts(view: &mut NodeView, facts: Facts) {
    view.memory_used = facts.memory_used;
    view.load = Some(f64::from(facts.load) / 100.0);
    (view.disk_free, view.disk_total) = (facts.disk_free, facts.disk_total);
    (view.received, view.sent) = (Some(facts.received), Some(facts.sent));
    view.probe = Some(facts.probe).filter(|probe| !probe.is_empty());
    view.system = Some(facts.system);
}

fn answer(api: &Api, caller: &Caller, name: &str) -> Result<Json<Document<OneNode>>, ApiError> {
    Ok(Json(Document::new(OneNode { node: named(api, caller, name)? })))
}

pub(super) fn unknown(name: &str) -> ApiError {
    ApiError::not_found(errors::no_such_machine(&name), errors::danlu_nodes_lists_them())
}

fn id_of(api: &Api, name: &str) -> Result<NodeId, ApiError> {
    let model = api.handle.model();
    let node = model.nodes.values().find(|node| node.name == name);
    Ok(node.ok_or_else(|| unknown(name))?.id)
}

impl From<BadNode> for ApiError {
    fn from(bad: BadNode) -> ApiError {
        ApiError::new(ErrorCode::Refused, bad.message, bad.hint)
    }
}

pub(super) async fn add(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<NewNode>, ApiError>,
) -> Result<(StatusCode, Json<Document<AddedNode>>), ApiError> {
    let Json(wanted) = body?;
    let token = new(&api, &caller, &wanted).await?;
    Ok((StatusCode::CREATED, with_token(&api, &caller, &wanted.name, token)?))
}

/// The token of a machine that dials in.
pub(crate) async fn new(
    api: &Api,
    caller: &Caller,
    wanted: &NewNode,
) -> Result<Option<String>, ApiError> {
    caller.require_admin()?;
    let mut record = NodeRecord::new(wanted)?;
    let token = match record.route {
        NodeRoute::DialIn(_) => Some(give_token(api, &mut record)?),
        NodeRoute::Ssh(_) => None,
    };
    let input = Input::AddNode {
        by: caller.actor(),
        name: record.name.clone(),
        labels: wanted.labels.clone(),
    };
    let Reply::Node(node) = caller.ask(api, input).await? else {
        return Err(ApiError::new(
            ErrorCode::Internal,
            errors::no_machine_was_added(),
            errors::report_this(),
        ));
    };
    if let Err(not_now) = api.handle.keep(vec![put_record(&record)], None).await {
        // All of it or nothing.
        caller.ask(api, Input::RemoveNode { by: caller.actor(), node }).await?;
        return Err(not_now.into());
    }
    if record.role == NodeRole::Data {
        caller.ask(api, Input::Drain { by: caller.actor(), node }).await?;
    }
    // Logins for an earlier machine of this name do not apply.
    api.logins.forget(&api.handle, |login| login.node == record.name).await?;
    api.nodes.add(record);
    Ok(token)
}

/// The old token becomes invalid. With a self-signed certificate, the token contains its fingerprint.
fn give_token(api: &Api, record: &mut NodeRecord) -> Result<String, ApiError> {
    let secret = random_secret().map_err(|error| {
        ApiError::new(ErrorCode::Internal, error.to_string(), errors::see_the_systems_randomness())
    })?;
    record.route = NodeRoute::DialIn(Some(SecretHash::of(&secret)));
    Ok(match crate::daemon::tls::own_fingerprint(&api.config) {
        Some(fingerprint) => format!("{secret}.{fingerprint}"),
        None => secret,
    })
}

fn with_token(
    api: &Api,
    caller: &Caller,
    name: &str,
    token: Option<String>,
) -> Result<Json<Document<AddedNode>>, ApiError> {
    let Json(Document { content: OneNode { node }, .. }) = answer(api, caller, name)?;
    let addresses = match &token {
        Some(_) => addresses(api),
        None => Vec::new(),
    };
    Ok(Json(Document::new(AddedNode { node, token, addresses })))
}

/// The address for other machines: the host name if the server listens on all addresses.
fn addresses(api: &Api) -> Vec<String> {
    let bound = api.addresses.get().map_or(&[][..], Vec::as_slice);
    let name = &api.config.node_name;
    bound.iter().map(|it| it.replace("0.0.0.0", name).replace("[::]", name)).collect()
}

/// For the audit log; what the core decides is written there by itself.
fn deed(caller: &Caller, act: Act, name: &str) -> Deed {
    let (by, target, detail) = (caller.asker(), format!("node {name}"), String::new());
    Deed { user: by.name, origin: by.origin, act, target, detail }
}

/// Another token for a machine that dials in, or none.
async fn renew_token(
    api: &Api,
    caller: &Caller,
    name: &str,
    revoke: bool,
) -> Result<Json<Document<AddedNode>>, ApiError> {
    let not_so = || {
        let message = errors::no_token_without_dial_in(&name);
        ApiError::new(ErrorCode::Refused, message, errors::see_connections())
    };
    let (mut record, _) = api.nodes.status(name).ok_or_else(not_so)?;
    if !matches!(record.route, NodeRoute::DialIn(_)) {
        return Err(not_so());
    }
    let token = if revoke {
        record.route = NodeRoute::DialIn(None);
        None
    } else {
        Some(give_token(api, &mut record)?)
    };
    let act = if revoke { Act::RevokeTokenOf } else { Act::GiveTokenTo };
    api.handle.keep(vec![put_record(&record)], Some(deed(caller, act, name))).await?;
    api.nodes.add(record);
    with_token(api, caller, name, token)
}

pub(super) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Document<Removed>>, ApiError> {
    delete(&api, &caller, &name).await?;
    Ok(Json(Document::new(Removed { removed: name })))
}

pub(crate) async fn delete(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    caller.require_admin()?;
    let node = id_of(api, name)?;
    if is_here(api, name) {
        return Err(ApiError::refused(
            errors::is_server_machine(&name),
            &errors::drain_instead(&name),
        ));
    }
    check_idle(api, node)?;
    caller.ask(api, Input::RemoveNode { by: caller.actor(), node }).await?;
    api.nodes.remove(name);
    api.handle.keep(vec![remove_record(name)], None).await?;
    Ok(api.logins.forget(&api.handle, |login| login.node == name).await?)
}

/// Tasks are named as people know them; how to get rid of them depends on whether more could come.
fn check_idle(api: &Api, node: NodeId) -> Result<(), ApiError> {
    let model = api.handle.model();
    let there = |run: &&danlu_core::Run| run.part_on(node).is_some_and(|part| !part.is_ended());
    let tasks: Vec<String> =
        model.active_runs().filter(there).map(|run| run.task.to_string()).collect();
    let Some(node) = model.nodes.get(&node).filter(|_| !tasks.is_empty()) else { return Ok(()) };
    let (name, few) = (&node.name, tasks.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>());
    let (list, rest) = (few.join(", "), tasks.len() - few.len());
    let message = match rest {
        0 => errors::tasks_run_there(name, &list),
        _ => errors::more_tasks_run_there(name, &list, &rest, &tasks.len()),
    };
    let is_away = node.live_session().is_none();
    let hint = match (node.draining, is_away) {
        (_, true) => errors::wait_or_declare_lost(name),
        (true, false) => errors::wait_or_cancel(&few.join(" ")),
        (false, false) => errors::drain_first(name),
    };
    Err(ApiError::refused(message, &hint))
}

/// Tasks in one sentence.
const MOST_NAMED: usize = 10;

/// The server's own machine has no entry.
pub(crate) fn is_here(api: &Api, name: &str) -> bool {
    api.nodes.status(name).is_none()
}

/// What is done with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeAct {
    /// Nothing new; what runs goes on.
    Drain,
    Undrain,
    /// Accepts the machine that answers at its address from now on.
    Accept,
    /// Runs there that the server does not know are ended.
    EndUnknown,
}

impl NodeAct {
    pub(crate) fn named(name: &str) -> Option<NodeAct> {
        match name {
            "drain" => Some(NodeAct::Drain),
            "undrain" => Some(NodeAct::Undrain),
            "accept" => Some(NodeAct::Accept),
            "end-unknown" => Some(NodeAct::EndUnknown),
            _ => None,
        }
    }
}

pub(crate) async fn perform(
    api: &Api,
    caller: &Caller,
    name: &str,
    act: NodeAct,
) -> Result<(), ApiError> {
    caller.require_admin()?;
    let (node, by) = (id_of(api, name)?, caller.actor());
    match act {
        NodeAct::Drain => drop(caller.ask(api, Input::Drain { by, node }).await?),
        NodeAct::Undrain if is_for_data(api, name) => {
            return Err(ApiError::refused(
                errors::name_is_for_files_only(&name),
                errors::add_without_data_role(),
            ));
        }
        NodeAct::Undrain => drop(caller.ask(api, Input::Undrain { by, node }).await?),
        NodeAct::EndUnknown => drop(caller.ask(api, Input::EndUnknownRuns { by, node }).await?),
        NodeAct::Accept => accept(api, caller, name).await?,
    }
    Ok(())
}

/// Waiting tasks are matched against the new labels at once; running tasks go on.
pub(super) async fn label(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<LabelChange>, ApiError>,
) -> Result<Json<Document<OneNode>>, ApiError> {
    let Json(LabelChange { labels }) = body?;
    caller.require_admin()?;
    let node = id_of(&api, &name)?;
    caller.ask(&api, Input::SetLabels { by: caller.actor(), node, change: labels }).await?;
    answer(&api, &caller, &name)
}

pub(super) async fn declare_lost(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<DeclareLost>, ApiError>,
) -> Result<Json<Document<DeclaredLost>>, ApiError> {
    let Json(DeclareLost { force }) = body?;
    caller.require_admin()?;
    let node = id_of(&api, &name)?;
    let model = api.handle.model();
    let there = |run: &&danlu_core::Run| run.part_on(node).is_some_and(|part| !part.is_ended());
    let tasks = model.active_runs().filter(there).map(|run| run.task.0).collect();
    caller.ask(&api, Input::DeclareLost { by: caller.actor(), node, force }).await?;
    Ok(Json(Document::new(DeclaredLost { name, tasks })))
}

pub(super) fn is_for_data(api: &Api, name: &str) -> bool {
    api.nodes.status(name).is_some_and(|(record, _)| record.role == NodeRole::Data)
}

/// `drain`, `undrain`, `accept`, `check`, `token` or `revoke`.
pub(super) async fn act(
    State(api): State<Api>,
    caller: Caller,
    Path((name, act)): Path<(String, String)>,
) -> Result<Json<Document<serde_json::Value>>, ApiError> {
    match act.as_str() {
        "check" => return Ok(Json(json(check(&api, &caller, &name).await?)?)),
        "token" | "revoke" => {
            caller.require_admin()?;
            id_of(&api, &name)?;
            let Json(Document { content, .. }) =
                renew_token(&api, &caller, &name, act == "revoke").await?;
            return Ok(Json(json(content)?));
        }
        _ => {}
    }
    let known = NodeAct::named(&act).ok_or_else(|| {
        ApiError::not_found(
            errors::machines_cannot_be_asked_to_act(&format_args!("{act:?}")),
            errors::machine_acts(),
        )
    })?;
    perform(&api, &caller, &name, known).await?;
    let Json(Document { content, .. }) = answer(&api, &caller, &name)?;
    Ok(Json(json(content)?))
}

fn json(content: impl serde::Serialize) -> Result<Document<serde_json::Value>, ApiError> {
    let value = serde_json::to_value(content).map_err(|error| {
        ApiError::new(ErrorCode::Internal, error.to_string(), errors::report_this())
    })?;
    Ok(Document::new(value))
}

async fn accept(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    let Some((record, _)) = api.nodes.status(name) else { return Ok(()) };
    let record = NodeRecord { machine: None, ..record };
    let deed = deed(caller, Act::Accept, name);
    api.handle.keep(vec![put_record(&record)], Some(deed)).await?;
    let by_ssh = matches!(record.route, NodeRoute::Ssh(_));
    api.nodes.add(record);
    api.logins.drop_ssh(&api.handle, name).await?;
    if by_ssh {
        // Whether it can be reached now is part of the answer.
        let _ = tokio::time::timeout(ACCEPTED, api.nodes.tried(name, 0)).await;
        let problem = api.nodes.status(name).and_then(|(_, status)| status.problem);
        return problem.map_or(Ok(()), |reason| Err(not_reached(name, &reason.problem)));
    }
    Ok(())
}

/// The next machine that answers is accepted; so far none has.
fn not_reached(name: &str, problem: &MachineProblem) -> ApiError {
    let message = errors::still_not_reached(&name, &problem.message());
    ApiError::new(ErrorCode::Unavailable, message, problem.hint())
}

/// For the first try to reach a machine that was accepted.
const ACCEPTED: std::time::Duration = std::time::Duration::from_secs(20);

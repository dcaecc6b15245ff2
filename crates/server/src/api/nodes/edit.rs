//! Changes how a machine is reached. Runs on it continue.

use super::{answer, deed, id_of};
use crate::api::body::Json;
use crate::api::{Api, ApiError, Caller};
use crate::fleet::remote::{NodeRecord, NodeRoute, put_record};
use axum::extract::{Path, State};
use danlu_core::{Input, NodeId};
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_wire::api::{Document, NewNode, NodeChange, NodeRole, OneNode};

pub(in crate::api) async fn edit(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<NodeChange>, ApiError>,
) -> Result<Json<Document<OneNode>>, ApiError> {
    let Json(change) = body?;
    caller.require_admin()?;
    let node = id_of(&api, &name)?;
    let Some((before, _)) = api.nodes.status(&name) else {
        let message = errors::is_server_machine(&name);
        return Err(ApiError::refused(message, errors::see_config_show()));
    };
    if before.from_file {
        let message = errors::name_stands_in_a_file(&name);
        return Err(ApiError::refused(message, errors::change_node_file()));
    }
    let moves = change.data.is_some() && change.data != before.data;
    if moves && is_busy(&api, node) {
        let message = errors::files_stay_where_started(&name);
        return Err(ApiError::refused(message, &errors::drain_first(&name)));
    }
    let role = change.role;
    let mut record = NodeRecord::new(&changed(&before, change))?;
    record.machine.clone_from(&before.machine);
    if matches!(before.route, NodeRoute::DialIn(_)) {
        record.route.clone_from(&before.route);
    }
    let deed = deed(&caller, Act::Edit, &name);
    api.handle.keep(vec![put_record(&record)], Some(deed)).await?;
    let is_elsewhere = record.address() != before.address();
    // The machine at the new address is unknown until it answers.
    api.nodes.add(record);
    if is_elsewhere {
        api.logins.drop_ssh(&api.handle, &name).await?;
    }
    let by = caller.actor();
    match role {
        Some(NodeRole::Data) => drop(caller.ask(&api, Input::Drain { by, node }).await?),
        Some(NodeRole::Tasks) => drop(caller.ask(&api, Input::Undrain { by, node }).await?),
        None => {}
    }
    answer(&api, &caller, &name)
}

fn is_busy(api: &Api, node: NodeId) -> bool {
    let model = api.handle.model();
    model.active_runs().any(|run| run.part_on(node).is_some_and(|part| !part.is_ended()))
}

/// Missing fields keep their values.
fn changed(before: &NodeRecord, change: NodeChange) -> NewNode {
    let mut now = NewNode {
        name: before.name.clone(),
        sudo: change.sudo.unwrap_or(before.sudo),
        data: change.data.or_else(|| before.data.clone()),
        probe: change.probe.or_else(|| before.probe.clone()),
        expect_gpus: change.expect_gpus.or(before.expect_gpus),
        sim_gpus: before.sim_gpus,
        role: change.role.unwrap_or(before.role),
        logs: change.logs.or_else(|| before.logs.clone()),
        ..NewNode::default()
    };
    match &before.route {
        NodeRoute::Ssh(target) => {
            let identity = target.identity.as_ref().map(|path| path.display().to_string());
            now.ssh = change.ssh.or_else(|| Some(target.to_string()));
            now.identity = change.identity.or(identity);
            now.accept_new_key = change.accept_new_key.unwrap_or(target.accept_new);
        }
        NodeRoute::DialIn(_) => {
            now.dial_in = true;
            // Invalid combinations are refused with a reason.
            (now.ssh, now.identity) = (change.ssh, change.identity);
            now.accept_new_key = change.accept_new_key.unwrap_or(false);
        }
    }
    now
}

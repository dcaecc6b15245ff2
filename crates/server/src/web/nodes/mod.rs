//! Machines: state, running tasks, and actions for administrators.

mod node_text;

use super::acts::{ConfirmPage, done};
use super::amounts;
use super::charts;
use super::form::{Sent, encode};
use super::gpu_map::{self, Cell};
use super::moment::Moment;
use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::rows::{TaskRow, row};
use crate::api::nodes::{self, NodeAct};
use crate::api::{Api, ApiError, Filter, select};
use crate::parse::pair::parse_pair;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect};
use danlu_messages::web::charts as chart_words;
use danlu_messages::web::nodes as msg;
use danlu_messages::web::pages;
use danlu_wire::api::{CheckedStep, Line, NewNode, NodeRole, NodeStateName, NodeView};

/// Of its tasks; the rest is one step away.
const ROWS: usize = 50;

/// A machine as it is shown.
struct Machine {
    view: NodeView,
    /// Of the pill: `good`, `warns` or `failed`.
    class: &'static str,
    state: &'static str,
    problem: Option<(String, String)>,
    last_contact: Option<Moment>,
    /// Of its connection, where that is gone.
    down_since: Option<Moment>,
}

#[derive(Template)]
#[template(path = "nodes.html")]
struct NodesPage<'a> {
    context: &'a PageContext,
    nodes: Vec<Machine>,
}

pub(super) async fn list(State(api): State<Api>, visit: Visit) -> PageResult {
    let views = nodes::views(&api, &visit.caller).into_iter();
    let nodes = views.map(|view| machine(view, &visit.context)).collect();
    Ok(page(&NodesPage { context: &visit.context, nodes }))
}

fn machine(view: NodeView, context: &PageContext) -> Machine {
    let (class, state) = node_text::state(view.state);
    let problem =
        view.problem.clone().map(|problem| (problem, view.hint.clone().unwrap_or_default()));
    let last_contact = view.last_contact_at.as_deref().and_then(|at| Moment::read(at, context.now));
    let since = view.since.as_deref().filter(|_| view.state == NodeStateName::Down);
    let down_since = since.and_then(|at| Moment::read(at, context.now));
    Machine { view, class, state, problem, last_contact, down_since }
}

impl Machine {
    /// Its button gives it tasks again, instead of draining it.
    fn can_be_undrained(&self) -> bool {
        match self.view.state {
            NodeStateName::Draining => true,
            NodeStateName::Ready => !self.view.schedulable,
            NodeStateName::Unverified
            | NodeStateName::Unfit
            | NodeStateName::Down
            | NodeStateName::Unknown => false,
        }
    }

    fn memory(&self) -> String {
        match self.view.memory_used {
            _ if self.view.memory_total == 0 => "–".to_owned(),
            Some(used) => amounts::part_of(used, self.view.memory_total),
            None => amounts::bytes(self.view.memory_total),
        }
    }

    fn memory_percent(&self) -> u64 {
        amounts::percent(self.view.memory_used.unwrap_or(0), self.view.memory_total)
    }

    fn disk(&self) -> Option<String> {
        Some(amounts::part_of(self.disk_used()?, self.view.disk_total?))
    }

    fn disk_used(&self) -> Option<u64> {
        Some(self.view.disk_total?.saturating_sub(self.view.disk_free?))
    }

    fn disk_percent(&self) -> u64 {
        let total = self.view.disk_total.unwrap_or(0);
        amounts::percent(self.disk_used().unwrap_or(0), total)
    }

    fn load(&self) -> String {
        self.view.load.map_or_else(|| "–".to_owned(), |load| format!("{load:.2}"))
    }

    /// Nothing is known of a machine that was never reached.
    fn cores(&self) -> String {
        if self.view.cpus == 0 { "–".to_owned() } else { self.view.cpus.to_string() }
    }

    /// Only a warning: containers and cloned disks look the same.
    fn same_as(&self) -> Option<String> {
        let others = self.view.same_as.join(", ");
        (!others.is_empty()).then(|| msg::same_machine(&others))
    }

    fn labels(&self) -> Vec<String> {
        self.view.labels.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }
}

#[derive(Template)]
#[template(path = "node.html")]
struct NodePage<'a> {
    context: &'a PageContext,
    node: Machine,
    facts: Vec<(&'static str, String)>,
    cells: Vec<Cell>,
    rows: Vec<TaskRow>,
    rows_not_shown: usize,
    /// The server's own machine cannot be taken out.
    is_here: bool,
    titles: String,
}

pub(super) async fn one(
    State(api): State<Api>,
    visit: Visit,
    Path(name): Path<String>,
) -> PageResult {
    let context = &visit.context;
    let view = nodes::named(&api, &visit.caller, &name).map_err(visit.no())?;
    let maps = gpu_map::nodes(&api, &visit).into_iter();
    let cells = maps.filter(|map| map.name == name).flat_map(|map| map.cells).collect();
    let filter = Filter {
        node: Some(name.clone()),
        state: Some("starting,running,paused,stopping,lost".to_owned()),
        limit: ROWS,
        ..Filter::default()
    };
    let found = select(&api, &visit.caller, filter).await.map_err(visit.no())?;
    let (total, line) = (found.tasks.total, |task| Line { task, array: None });
    let rows = found.tasks.tasks.into_iter();
    let rows: Vec<TaskRow> =
        rows.map(|task| row(&line(task), &found.model, &visit, None)).collect();
    let node = machine(view, context);
    Ok(page(&NodePage {
        context,
        facts: facts(&node),
        node,
        cells,
        rows_not_shown: total.saturating_sub(rows.len()),
        rows,
        is_here: nodes::is_here(&api, &name),
        titles: charts::titles(),
    }))
}

/// All that is known and is not shown above.
fn facts(node: &Machine) -> Vec<(&'static str, String)> {
    let view = &node.view;
    let whether = if view.schedulable { msg::yes() } else { msg::no() };
    let mut facts = vec![
        (msg::reached_by(), node_text::route(&view.route)),
        (msg::gets_tasks(), whether.to_owned()),
    ];
    if view.role.is(&NodeRole::Data) {
        facts.push((msg::for_(), msg::files_only().to_owned()));
    }
    let mut add = |name, value: Option<String>| facts.extend(value.map(|it| (name, it)));
    add(msg::host_name(), view.host_name.clone());
    add(msg::system(), view.system.clone());
    add(msg::danlu(), view.version.clone());
    add(msg::asks_gpus_by(), view.probe.clone());
    add(msg::clock(), view.clock_ahead_ms.map(node_text::clock));
    let traffic = view.received.zip(view.sent).map(|(received, sent)| {
        let (received, sent) = (amounts::bytes(received), amounts::bytes(sent));
        msg::traffic_since_boot(&received, &sent)
    });
    add(msg::network(), traffic);
    facts
}

/// A form for a new machine.
pub(super) async fn add(State(api): State<Api>, sent: Sent) -> PageResult {
    let wanted = wanted(&sent).map_err(sent.visit.no())?;
    nodes::new(&api, &sent.visit.caller, &wanted).await.map_err(sent.visit.no())?;
    let page = format!("/nodes/{}", encode(&wanted.name));
    Ok(Redirect::to(&page).into_response())
}

fn wanted(sent: &Sent) -> Result<NewNode, ApiError> {
    let given = |name: &str| Some(sent.field(name).trim().to_owned()).filter(|it| !it.is_empty());
    let number = |name: &str| match given(name).map(|text| text.parse::<u32>()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => {
            Err(ApiError::bad_request(msg::gpus_not_whole(), msg::go_back_and_correct()))
        }
    };
    let mut labels = std::collections::BTreeMap::new();
    for word in sent.field("labels").split_whitespace() {
        let pair = parse_pair(word);
        let pair = pair.map_err(|complaint| ApiError::bad_request(complaint, "room=b12"))?;
        labels.insert(pair.name, pair.value);
    }
    Ok(NewNode {
        name: given("name").unwrap_or_default(),
        ssh: given("ssh"),
        identity: given("identity"),
        labels,
        accept_new_key: given("accept_new_key").is_some(),
        sudo: given("sudo").is_some(),
        data: given("data"),
        probe: given("probe"),
        expect_gpus: number("expect_gpus")?,
        ..NewNode::default()
    })
}

/// All actions but `check` ask for confirmation.
pub(super) async fn act(
    State(api): State<Api>,
    Path(name): Path<String>,
    sent: Sent,
) -> PageResult {
    let (caller, act) = (&sent.visit.caller, sent.field("act"));
    nodes::named(&api, caller, &name).map_err(sent.visit.no())?;
    caller.require_admin().map_err(sent.visit.no())?;
    if act == "check" {
        let checked = nodes::check(&api, caller, &name).await.map_err(sent.visit.no())?;
        return Ok(page(&CheckPage::new(&sent.visit.context, &name, checked.steps)));
    }
    if sent.field("sure").is_empty() {
        return confirmation(&sent, &name, act);
    }
    let result = match (act, NodeAct::named(act)) {
        ("remove", _) => nodes::delete(&api, caller, &name).await,
        (_, Some(act)) => nodes::perform(&api, caller, &name, act).await,
        (_, None) => Err(no_such_act()),
    };
    done(&sent, result)
}

fn confirmation(sent: &Sent, name: &str, act: &str) -> PageResult {
    let context = &sent.visit.context;
    let Some((question, consequence, button)) = node_text::asked(act, name) else {
        return done(sent, Err(no_such_act()));
    };
    let address = format!("/nodes/{}", encode(name));
    let after = if act == "remove" { "/nodes" } else { address.as_str() };
    Ok(page(&ConfirmPage {
        context,
        question,
        consequence,
        act,
        button,
        fields: vec![("back", after.to_owned())],
        no: msg::back(),
        back: &address,
        action: address.clone(),
        waiting: Vec::new(),
    }))
}

fn no_such_act() -> ApiError {
    ApiError::bad_request(msg::unknown_machine_action(), msg::choose_one_of_the_buttons())
}

#[derive(Template)]
#[template(path = "node_check.html")]
struct CheckPage<'a> {
    context: &'a PageContext,
    name: &'a str,
    steps: Vec<(&'static str, CheckedStep)>,
}

impl<'a> CheckPage<'a> {
    fn new(context: &'a PageContext, name: &'a str, steps: Vec<CheckedStep>) -> CheckPage<'a> {
        let said = |step: CheckedStep| (node_text::step(step.step), step);
        CheckPage { context, name, steps: steps.into_iter().map(said).collect() }
    }

    fn is_whole(&self) -> bool {
        self.steps.iter().all(|(_, step)| step.ok)
    }
}

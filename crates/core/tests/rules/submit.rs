//! What is accepted, and what is refused at once.

use crate::lab::{ADMIN, ANN, BOB, after, ending, lab, wants};
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::refusal::{Lack, NameKind, SizedNode, TextField};
use danlu_core::resources::NodeSelector;
use danlu_core::run::{Ending, Exit, RunUsage};
use danlu_core::task::{ArraySpec, DependencyKind, LaunchSpec, TaskSpec};
use danlu_core::{Actor, Input, Refusal, Reply, Request, Span, TaskId, UserId, limits};

fn refused(spec: TaskSpec) -> Refusal {
    let mut lab = lab(&[4, 4]);
    lab.try_act(Input::Submit { by: ANN, spec, key: None }).unwrap_err()
}

#[test]
fn what_can_never_run_is_refused() {
    assert!(matches!(refused(wants(5)), Refusal::Impossible { .. }));
    let mut huge = wants(9);
    huge.request.span_nodes = true;
    assert!(matches!(refused(huge), Refusal::Impossible { .. }));
    let mut model = wants(1);
    model.request.gpu_model = Some("H200".into());
    assert!(matches!(refused(model), Refusal::Impossible { .. }));
    let mut cpus = wants(1);
    cpus.request.cpus = 17;
    assert!(matches!(refused(cpus), Refusal::Impossible { .. }));
}

#[test]
fn what_a_node_that_is_away_could_run_is_accepted() {
    let mut lab = lab(&[4]);
    lab.hear(1, danlu_core::NodeMessage::Lost);
    lab.submit(wants(4));
    let five = Input::Submit { by: ANN, spec: wants(5), key: None };
    assert!(matches!(lab.try_act(five), Err(Refusal::Impossible { .. })));
}

#[test]
fn names_that_mean_nothing_are_refused_with_the_nearest_one_though_a_node_was_never_reached() {
    let mut lab = lab(&[4, 4]);
    let (by, name) = (Actor::Daemon, "n3".to_owned());
    let labels = [("room".to_owned(), "east".to_owned())].into();
    lab.act(Input::AddNode { by, name, labels });
    let mut refused = |request: Request| {
        let spec = TaskSpec { request: request.into(), ..wants(0) };
        lab.try_act(Input::Submit { by: ANN, spec, key: None }).unwrap_err()
    };
    let unknown = |kind, name: &str, nearest: Option<&str>| Refusal::UnknownName {
        kind,
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    };
    let node = |name: &str| Some(NodeSelector::Name(name.to_owned()));
    let label = |key: &str, value: &str| {
        Some(NodeSelector::Label { key: key.to_owned(), value: value.to_owned() })
    };
    let on = |node| Request { node, ..Request::gpus(1) };
    assert_eq!(refused(on(node("n33"))), unknown(NameKind::Node, "n33", Some("n3")));
    assert_eq!(refused(on(node("storage"))), unknown(NameKind::Node, "storage", None));
    let east = unknown(NameKind::Label, "room=eest", Some("room=east"));
    assert_eq!(refused(on(label("room", "eest"))), east);
    let resources = [("licence".to_owned(), 1)].into();
    let licence = Request { resources, ..Request::gpus(1) };
    assert_eq!(refused(licence), unknown(NameKind::Resource, "licence", None));
    // What is known of the others is not changed by one that never reported.
    let large = Request { node: node("n1"), ..Request::gpus(5) };
    assert!(matches!(refused(large), Refusal::Impossible { .. }));
    let gang = Request { nodes: 4, ..Request::gpus(4) };
    assert!(matches!(refused(gang), Refusal::TooFewNodes { nodes: 3, .. }));
    // It may have what is asked for.
    for request in [on(node("n3")), Request::gpus(5), Request { nodes: 3, ..Request::gpus(3) }] {
        lab.submit(TaskSpec { request: request.into(), ..wants(0) });
    }
}

#[test]
fn what_is_too_much_is_told_with_numbers() {
    let Refusal::Impossible { lacks: Some(lacks), .. } = refused(wants(5)) else { panic!() };
    let sized = |name: &str| SizedNode { name: name.to_owned(), gpus: 4 };
    let largest = vec![sized("n1"), sized("n2")];
    assert_eq!(lacks, Lack::Gpus { wanted: 5, most: 4, equal: 2, largest });
    let mut model = wants(1);
    model.request.gpu_model = Some("H200".into());
    let Refusal::Impossible { lacks: Some(lacks), .. } = refused(model) else { panic!() };
    let there_are = vec!["NVIDIA A100-SXM4-80GB".to_owned()];
    assert_eq!(lacks, Lack::Model { model: "H200".into(), there_are });
}

#[test]
fn before_any_node_is_known_everything_is_accepted() {
    lab(&[]).submit(wants(64));
}

#[test]
fn limits_are_kept() {
    let many = TaskSpec { command: vec!["x".repeat(limits::COMMAND_BYTES)], ..wants(1) };
    assert!(matches!(refused(many), Refusal::TooLong { what: TextField::Command, .. }));
    let empty = TaskSpec { command: vec![], ..wants(1) };
    assert_eq!(refused(empty), Refusal::EmptyCommand);
    let name = TaskSpec { name: "n".repeat(300), ..wants(1) };
    assert!(matches!(refused(name), Refusal::TooLong { what: TextField::Name, .. }));
    let unknown = after(DependencyKind::AfterOk, &[99]);
    assert_eq!(refused(unknown), Refusal::NoSuchTask(TaskId(99)));
}

#[test]
fn a_description_that_means_nothing_is_refused() {
    let empty = |command: &[&str], shell| {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        let launch = LaunchSpec { shell, ..LaunchSpec::default() }.into();
        refused(TaskSpec { command, launch, ..wants(1) })
    };
    assert_eq!(empty(&[""], false), Refusal::EmptyCommand);
    assert_eq!(empty(&["", "x"], false), Refusal::EmptyCommand);
    assert_eq!(empty(&[" \n"], true), Refusal::EmptyCommand);
    assert_eq!(empty(&["a\0b"], false), Refusal::ControlCharacter { what: TextField::Command });
    let odd = |change: fn(&mut TaskSpec)| {
        let mut spec = wants(1);
        change(&mut spec);
        refused(spec)
    };
    let control = |what| Refusal::ControlCharacter { what };
    assert_eq!(odd(|it| it.name = "a\nb".into()), control(TextField::Name));
    assert_eq!(odd(|it| it.description = "a\x1b[31m".into()), control(TextField::Description));
    assert_eq!(
        odd(|it| drop(it.labels.insert("k".into(), "\t".into()))),
        control(TextField::Label)
    );
    assert_eq!(odd(|it| it.project = Some("\u{7f}".into())), control(TextField::Project));
    assert_eq!(odd(|it| it.launch.directory = "/\0".into()), control(TextField::Path));
    let named = |name: &str| Refusal::BadVariable { name: name.into() };
    let variable = |name: &str| {
        let mut spec = wants(1);
        spec.launch.variables.insert(name.into(), "1".into());
        refused(spec)
    };
    assert_eq!(variable(""), named(""));
    assert_eq!(variable("A="), named("A="));
    assert_eq!(variable("A\0"), control(TextField::Variable));
    assert_eq!(odd(|it| it.time_limit = Some(Span(0))), Refusal::BadTimeLimit);
    assert_eq!(odd(|it| it.time_limit = Some(Span(u64::MAX))), Refusal::BadTimeLimit);
}

#[test]
fn only_admins_let_a_task_pass_everybody() {
    let mut lab = lab(&[1]);
    let early = || TaskSpec { priority: 4, ..wants(1) };
    let urgent = || TaskSpec { urgent: true, ..wants(1) };
    let submit = |by, spec| Input::Submit { by, spec, key: None };
    for spec in [early(), urgent()] {
        assert_eq!(lab.try_act(submit(ANN, spec.clone())), Err(Refusal::PassesEverybody));
        lab.act(submit(ADMIN, spec));
    }
    let task = lab.submit(TaskSpec { priority: 9, ..wants(1) });
    let edit = |by, spec| Input::Edit { by: Actor::User(by), task, spec };
    assert_eq!(lab.try_act(edit(ANN, early())), Err(Refusal::PassesEverybody));
    lab.act(edit(ANN, wants(1)));
    lab.act(edit(ADMIN, early()));
    // What an admin has given is kept when the owner changes something else.
    lab.act(edit(ANN, TaskSpec { name: "renamed".into(), ..early() }));
}

#[test]
fn a_repeated_key_answers_with_the_same_task() {
    let mut lab = lab(&[1]);
    let submit = |spec| Input::Submit { by: ANN, spec, key: Some("k1".into()) };
    let first = lab.act(submit(wants(1)));
    assert_eq!(lab.act(submit(wants(1))), first);
    assert_eq!(lab.try_act(submit(wants(0))), Err(Refusal::KeyReused));
    let other_user = Input::Submit { by: BOB, spec: wants(1), key: Some("k1".into()) };
    assert_eq!(lab.act(other_user), Reply::Task(TaskId(2)));
}

#[test]
fn an_unknown_user_is_refused() {
    let spec = wants(1);
    let input = Input::Submit { by: UserId(9), spec, key: None };
    assert_eq!(lab(&[1]).try_act(input), Err(Refusal::NoSuchUser));
}

#[test]
fn only_the_owner_or_an_admin_may_touch_a_task() {
    let acts: [fn(Actor) -> Input; 5] = [
        |by| Input::Cancel { by, task: TaskId(1) },
        |by| Input::Hold { by, task: TaskId(1) },
        |by| Input::Release { by, task: TaskId(1) },
        |by| Input::Retry { by, task: TaskId(1) },
        |by| Input::Remove { by, task: TaskId(1) },
    ];
    for act in acts {
        let mut lab = lab(&[1]);
        lab.submit(wants(1));
        assert_eq!(lab.try_act(act(Actor::User(BOB))), Err(Refusal::NotPermitted));
        for allowed in [ANN, crate::lab::ADMIN] {
            let answer = lab.try_act(act(Actor::User(allowed)));
            assert_ne!(answer, Err(Refusal::NotPermitted));
        }
    }
}

#[test]
fn only_admins_change_nodes_users_and_settings() {
    let by = Actor::User(ANN);
    let node = danlu_core::NodeId(1);
    let acts = [
        Input::AddNode { by, name: "x".into(), labels: Default::default() },
        Input::RemoveNode { by, node },
        Input::Drain { by, node },
        Input::Undrain { by, node },
        Input::AddUser { by, name: "x".into(), admin: true },
        Input::Configure { by, settings: Default::default() },
    ];
    for act in acts {
        assert_eq!(lab(&[1]).try_act(act), Err(Refusal::AdminOnly));
    }
}

#[test]
fn a_user_has_so_many_open_tasks_unless_a_quota_says_otherwise() {
    let mut lab = lab(&[1]);
    assert_eq!(lab.state.settings().limits.open_tasks_per_user, 100_000);
    lab.configure(|settings| settings.limits.open_tasks_per_user = 2);
    lab.submit(TaskSpec { hold: true, ..wants(1) });
    let array = |count: u32| {
        let (indices, at_once) = ((0..count).collect(), None);
        TaskSpec { array: Some(ArraySpec { indices, at_once, grid: vec![] }), ..wants(1) }
    };
    let ask = |spec| Input::Submit { by: ANN, spec, key: None };
    let refusal = lab.try_act(ask(array(2))).unwrap_err();
    let (whose, limit) = (Party::User("ann".into()), Limit::OpenTasks);
    assert_eq!(refusal, Refusal::OverQuota(Excess { whose, limit, in_use: 1, most: 2 }));
    lab.submit(wants(1));
    assert!(lab.try_act(ask(wants(1))).is_err());
    lab.act(Input::Submit { by: crate::lab::BOB, spec: wants(1), key: None });
    lab.configure(|settings| settings.quota.user.open_tasks = Some(3));
    lab.act(ask(wants(1)));
    assert!(lab.try_act(ask(wants(1))).is_err());
}

#[test]
fn a_user_whose_logs_fill_their_share_submits_nothing_until_some_are_removed() {
    let mut lab = lab(&[1, 1]);
    assert_eq!(lab.state.settings().limits.log_bytes_per_user, Some(1 << 40));
    lab.configure(|settings| settings.limits.log_bytes_per_user = Some(3 << 20));
    let mut gang = wants(2);
    gang.request.nodes = 2;
    lab.submit(gang);
    lab.schedule();
    let used = RunUsage { log_bytes: 3 << 19, ..RunUsage::default() };
    lab.ended_with(1, Ending { used, ..ending(Exit::Code(0), false) });
    assert_eq!(lab.state.log_bytes_of(ANN), 3 << 20, "the parts add up");
    let ask = |by| Input::Submit { by, spec: wants(1), key: None };
    let refusal = lab.try_act(ask(ANN)).unwrap_err();
    let full = Refusal::LogsFull { user: "ann".into(), kept: 3 << 20, most: 3 << 20 };
    assert_eq!(refusal, full);
    let retry = Input::Retry { by: Actor::User(ANN), task: TaskId(1) };
    assert_eq!(lab.try_act(retry), Err(refusal));
    lab.act(ask(BOB));
    for unlimited in [None, Some(0)] {
        lab.configure(|settings| settings.limits.log_bytes_per_user = unlimited);
        lab.act(ask(ANN));
    }
    lab.configure(|settings| settings.limits.log_bytes_per_user = Some(1));
    assert!(lab.try_act(ask(ANN)).is_err());
    lab.act(Input::Remove { by: Actor::User(ANN), task: TaskId(1) });
    assert_eq!(lab.state.log_bytes_of(ANN), 0);
    lab.act(ask(ANN));
}

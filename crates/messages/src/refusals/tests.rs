use super::refusal;
use crate::Language;
use danlu_core::ids::Epoch;
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::refusal::{
    AxisProblem, Counted, Lack, Largest, NameKind, Share, SizedNode, TaskAct, TaskStage, TextField,
};
use danlu_core::resources::Request;
use danlu_core::{NodeId, Refusal, RunId, Span, TaskId, Thousandths};

#[track_caller]
fn check(it: &Refusal, english: (&str, &str), chinese: (&str, &str)) {
    let told = |language: Language| language.within(|| refusal(it));
    let (message, hint) = told(Language::English);
    assert_eq!((message.as_str(), hint.as_str()), english);
    let (message, hint) = told(Language::Chinese);
    assert_eq!((message.as_str(), hint.as_str()), chinese);
}

fn lacks_gpus(wanted: u32, names: &[&str]) -> Refusal {
    let sized = |name: &&str| SizedNode { name: (*name).to_owned(), gpus: 8 };
    let largest: Vec<SizedNode> = names.iter().map(sized).collect();
    let lacks = Some(Lack::Gpus { wanted, most: 8, equal: names.len(), largest });
    let wanted = Box::new(Request::gpus(wanted));
    Refusal::Impossible { wanted, most: Largest::default(), lacks }
}

#[test]
fn too_many_gpus_are_refused_with_numbers_and_a_way_out() {
    check(
        &lacks_gpus(16, &["gpu1", "gpu2"]),
        (
            "no node has 16 GPUs (gpu1 and gpu2 have 8 each)",
            "--nodes 2 --gpus 8 runs on 2 nodes together",
        ),
        (
            "没有机器有 16 块 GPU（gpu1 和 gpu2 各有 8 块）",
            "--nodes 2 --gpus 8 可同时在 2 台机器上运行",
        ),
    );
    check(
        &lacks_gpus(9, &["gpu1"]),
        ("no node has 9 GPUs (gpu1 has 8)", "--gpus 8 is the most on one node"),
        ("没有机器有 9 块 GPU（gpu1 有 8 块）", "单台机器最多 --gpus 8"),
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    let (kind, name) = (NameKind::Node, "gpu77".to_owned());
    check(
        &Refusal::UnknownName { kind, name, nearest: Some("gpu7".to_owned()) },
        ("there is no machine called gpu77", "did you mean gpu7?"),
        ("没有名为 gpu77 的机器", "是否想写 gpu7？"),
    );
}

#[test]
fn refusals_say_what_they_are_about() {
    let excess =
        Excess { whose: Party::User("ann".into()), limit: Limit::RunningGpus, in_use: 4, most: 4 };
    let (_, hint) = refusal(&Refusal::OverQuota(excess.clone()));
    check(
        &Refusal::OverQuota(excess),
        ("over ann's quota: 4 of 4 GPUs in use", &hint),
        ("超出用户 ann 的配额：4/4 块 GPU 在使用", "请等待部分任务结束、减少请求，或联系管理员"),
    );
    check(
        &Refusal::LogsFull { user: "ann".to_owned(), kept: 3 << 29, most: 1 << 30 },
        (
            "the logs of user ann use 1.5 GiB of 1.0 GiB",
            "remove finished tasks and their logs: danlu rm ID",
        ),
        (
            "用户 ann 的任务日志已占用 1.5 GiB，上限为 1.0 GiB",
            "请删除已结束的任务及其日志：danlu rm 编号",
        ),
    );
    check(
        &Refusal::WrongState { task: TaskId(3), state: TaskStage::Finished, act: TaskAct::Cancel },
        (
            "task 3 is finished: only waiting or running tasks can be cancelled",
            "danlu show ID shows the state of a task",
        ),
        ("任务 3 已结束：只能取消等待或运行中的任务", "用 danlu show 编号 查看任务状态"),
    );
    let wanted = Box::new(Request { nodes: 3, ..Request::gpus(6) });
    check(
        &Refusal::TooFewNodes { wanted, nodes: 2 },
        (
            "too few nodes can run this: it needs 2 GPUs on each of 3 machines, \
             only 2 nodes are large enough",
            "danlu gpus lists the GPUs",
        ),
        (
            "能运行它的机器不足。需要：3 台机器上各 2 块 GPU；符合要求的只有 2 台",
            "用 danlu gpus 查看 GPU",
        ),
    );
    let most = Largest { gpus: 8, gpus_in_all: 16, cpus: 64, ..Largest::default() };
    let wanted = Box::new(Request { cpus: 200, ..Request::gpus(1) });
    check(
        &Refusal::Impossible { wanted, most, lacks: None },
        (
            "no node can ever run this: it needs 1 GPU and 200 CPUs on one machine; \
             the most there is: 8 GPUs on one machine (16 in total), 64 CPUs",
            "danlu gpus lists the GPUs",
        ),
        (
            "没有机器能运行它。需要：同一台机器上的 1 块 GPU 和 200 个 CPU；\
             现有最多：单台机器 8 块 GPU（共 16 块），64 个 CPU",
            "用 danlu gpus 查看 GPU",
        ),
    );
}

/// One of each, so that people can read them all: `cargo test -p danlu-messages every_refusal -- --nocapture`.
#[test]
fn every_refusal_has_a_sentence_and_a_hint_in_both_languages() {
    for it in one_of_each() {
        let (english, hint) = Language::English.within(|| refusal(&it));
        let (chinese, next) = Language::Chinese.within(|| refusal(&it));
        println!("{english}\n    {hint}\n{chinese}\n    {next}");
        assert!(!english.is_empty() && !hint.is_empty(), "{it:?}");
        assert!(english.is_ascii() && hint.is_ascii(), "{it:?}");
        assert!(!chinese.is_ascii() && !next.is_empty(), "{it:?}");
        for end in [&english, &hint] {
            assert!(!end.ends_with('.'), "{end}");
        }
    }
}

fn one_of_each() -> Vec<Refusal> {
    use Refusal::*;
    let (task, run) = (TaskId(7), RunId { epoch: Epoch(1), number: 9 });
    let name = || "gpu1".to_owned();
    let wanted = || Box::new(Request::gpus(3));
    let excess = |limit| Excess { whose: Party::Project("llm".into()), limit, in_use: 4, most: 4 };
    let limits = [
        Limit::RunningTasks,
        Limit::RunningGpus,
        Limit::QueuedTasks,
        Limit::OpenTasks,
        Limit::GpuHours,
    ];
    let mut all = vec![
        NoSuchTask(task),
        NoSuchRun(run),
        NoSuchNode(NodeId(1)),
        NoSuchGpu { index: 3 },
        NoSuchUser,
        BadSlots { most: 64 },
        ShareWithoutMemory,
        BadUtilization,
        Locked,
        Oneself,
        BadUserName,
        BadEmail,
        BadLanguage,
        NotPermitted,
        AdminOnly,
        RunEnded(run),
        NodeReachable(run),
        NodeHeard { name: name() },
        MayStillRun { name: name(), away: Span(61_500) },
        StillNeeded { task, by: TaskId(8) },
        NameTaken { name: name() },
        NameMissing,
        NodeBusy { node: NodeId(1), runs: 1 },
        NodeBusy { node: NodeId(1), runs: 2 },
        Impossible { wanted: wanted(), most: Largest::default(), lacks: None },
        UnequalNodes { nodes: 2, gpus: 5 },
        GangNamesOne { nodes: 2 },
        BadVariable { name: "A=".to_owned() },
        BadTimeLimit,
        NoTimeLimit(task),
        ExtendedTooFar(Span::from_secs(3_600)),
        KeptTooLong(Span::from_secs(3_600)),
        NotIdle(RunId::FIRST),
        IdleOrder,
        PassesEverybody,
        LogsFull { user: "ann".to_owned(), kept: 10, most: 1 << 20 },
        KeyReused,
        Circle(task),
        NoRoom(task),
        BadArray,
        EmptyCommand,
        RunsUnknown { task, run, node: name() },
        NoUnknownRuns { name: name() },
        EpochGoesBack,
    ];
    all.extend(limits.map(|limit| OverQuota(excess(limit))));
    all.extend([0, 1, 2].map(|nodes| TooFewNodes { wanted: wanted(), nodes }));
    let acts = [
        TaskAct::Cancel,
        TaskAct::Requeue,
        TaskAct::Hold,
        TaskAct::Release,
        TaskAct::Retry,
        TaskAct::Remove,
        TaskAct::Move,
        TaskAct::Pause,
        TaskAct::Resume,
        TaskAct::Extend,
        TaskAct::Keep,
        TaskAct::Edit,
        TaskAct::Start,
    ];
    let stages = [
        TaskStage::Held,
        TaskStage::Blocked,
        TaskStage::Queued,
        TaskStage::Active,
        TaskStage::Finished,
    ];
    all.extend(acts.map(|act| WrongState { task, state: TaskStage::Held, act }));
    all.extend(stages.map(|state| WrongState { task, state, act: TaskAct::Pause }));
    let texts = [
        TextField::Name,
        TextField::Description,
        TextField::Project,
        TextField::Label,
        TextField::Key,
        TextField::Command,
        TextField::NodeName,
        TextField::NodeLabel,
        TextField::GpuModel,
        TextField::ResourceName,
        TextField::SweepName,
        TextField::SweepValue,
        TextField::Path,
        TextField::GpuArgument,
        TextField::Shell,
        TextField::PythonEnvironment,
        TextField::Variable,
        TextField::Variables,
        TextField::Announcement,
        TextField::Group,
        TextField::OsUser,
        TextField::Email,
        TextField::Language,
        TextField::Template,
        TextField::NotifyTarget,
    ];
    all.extend(texts.map(|what| TooLong { what, limit: 256 }));
    all.extend(texts.map(|what| ControlCharacter { what }));
    let things = [
        Counted::Gpus,
        Counted::GpuNumbers,
        Counted::NodesOfTask,
        Counted::Nodes,
        Counted::Retries,
        Counted::NamedResources,
        Counted::SweepNames,
        Counted::Combinations,
        Counted::Labels,
        Counted::ArrayTasks,
        Counted::OpenTasks,
        Counted::Dependencies,
        Counted::Users,
        Counted::Groups,
        Counted::UserQuotas,
        Counted::ProjectQuotas,
        Counted::RecentTasks,
        Counted::Exempt,
        Counted::NotifyRules,
    ];
    all.extend(things.map(|what| TooMany { what, limit: 9 }));
    let (least, most) = (Thousandths(1), Thousandths::MOST);
    all.extend([Share::Priority, Share::Weight].map(|what| OutOfRange { what, least, most }));
    let problems = [AxisProblem::BadCharacter, AxisProblem::Taken, AxisProblem::NoValues];
    all.extend(problems.map(|why| BadAxis { name: "lr".to_owned(), why }));
    let kinds = [NameKind::Node, NameKind::Label, NameKind::Resource, NameKind::Channel];
    all.extend(kinds.map(|kind| UnknownName { kind, name: name(), nearest: None }));
    let (model, there_are) = ("H200".to_owned(), vec!["A100".to_owned()]);
    let lacks = Some(Lack::Model { model, there_are });
    all.push(Impossible { wanted: wanted(), most: Largest::default(), lacks });
    all.push(lacks_gpus(16, &["gpu1", "gpu2"]));
    all
}

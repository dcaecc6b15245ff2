//! Sums are exact: over any grouping, over neighbouring times, and compared with counting by hand.

use super::calendar::Unit;
use super::figures::Figures;
use super::file::{Book, Booked};
use super::fold::{FilterIds, Filters, Fold, Grouping, LineKey, ReportQuestion};
use super::names::{NameId, Names};
use super::piece::{Measured, Piece, RunFacts, TaskCount, first_start, pieces};
use danlu_core::{Epoch, FailureClass, GpuId, Run, RunId, Task, Time, UserId};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use std::collections::BTreeMap;

const DAY: i64 = 86_400_000;
/// A little more than a week from here.
const FIRST: i64 = 20_000 * DAY;

fn some_piece() -> impl Strategy<Value = Piece> {
    let names = (0..3_u32, 0..3_u32, 0..3_u32, 1..4_u32);
    let amounts = (0..1_000_000_i64, 0..500_000_i64, 0..9_000_000_i64, 0..99_999_i64);
    let end = (0..6_u8, proptest::option::of(0..100_000_i64), 0..4_usize);
    // Some have no length at all.
    let length = prop_oneof![1 => Just(0), 4 => 1..3 * DAY];
    (-2 * DAY..9 * DAY, length, 0..9_u32, names, amounts, end).prop_map(
        |(begun, length, gpus, (project, node, model, user), amounts, (end, waited, failure))| {
            let (held, idle, used, energy) = amounts;
            let task = match end {
                0 => Some(TaskCount::Succeeded),
                1 => Some(TaskCount::Failed),
                2 => Some(TaskCount::Cancelled),
                3 => Some(TaskCount::TimedOut),
                _ => None,
            };
            Piece {
                run: RunId { epoch: Epoch(1), number: 0 },
                place: 0,
                user: UserId(user),
                project: NameId(project),
                node: NameId(node),
                model: NameId(model),
                begun: FIRST + begun,
                ended: FIRST + begun + length,
                gpus,
                cpu: held + idle,
                waited: waited.filter(|_| task.is_some()),
                task,
                failure: FailureClass::ALL.get(failure * 5).copied(),
                measured: Measured { held, idle, used, known: held, energy },
            }
        },
    )
}

fn some_pieces() -> impl Strategy<Value = Vec<Piece>> {
    proptest::collection::vec(some_piece(), 0..40).prop_map(|mut pieces| {
        for (number, piece) in (1..).zip(&mut pieces) {
            piece.run.number = number;
        }
        pieces
    })
}

fn some_grouping() -> impl Strategy<Value = Vec<Grouping>> {
    let of = |names: &'static [Grouping]| proptest::sample::subsequence(names, 0..=names.len());
    let names = of(&[Grouping::User, Grouping::Project, Grouping::Node, Grouping::Model]);
    let unit =
        proptest::sample::select(vec![None, Some(Unit::Day), Some(Unit::Week), Some(Unit::Month)]);
    (names, unit).prop_map(|(names, unit)| {
        names.into_iter().take(2).chain(unit.map(Grouping::Period)).collect()
    })
}

fn some_range() -> impl Strategy<Value = (i64, i64)> {
    (0..8 * DAY, 0..8 * DAY).prop_map(|(a, b)| (FIRST + a.min(b), FIRST + a.max(b) + 1))
}

fn question((from, to): (i64, i64), by: &[Grouping], zone: &str) -> ReportQuestion {
    ReportQuestion {
        from: Time(from),
        to: Time(to),
        open: false,
        now: Time(to + 99 * DAY),
        zone: super::zone(zone).unwrap(),
        by: by.to_vec(),
        only: Filters::default(),
    }
}

const ALL: FilterIds = FilterIds { user: None, project: None, node: None, model: None };

fn folded(question: &ReportQuestion, pieces: &[Piece]) -> Fold {
    let mut fold = Fold::new(question, ALL).unwrap();
    pieces.iter().for_each(|piece| fold.add(piece).unwrap());
    fold
}

/// Without the waits, whose order is of no interest, but with how many there are and their sum.
fn plain(figures: &Figures) -> (Figures, Option<(u64, i64)>) {
    let mut copy = figures.clone();
    let waits = copy.waits();
    let sum = waits.map(|waits| (waits.tasks, copy.take_waits()));
    copy.take_waits();
    (copy, sum)
}

fn sum<'a>(all: impl Iterator<Item = &'a Figures>) -> Figures {
    all.fold(Figures::default(), |mut sum, one| {
        sum.plus(one);
        sum
    })
}

/// By adding up every piece's overlap, with nothing but comparisons.
fn by_hand(pieces: &[Piece], (from, to): (i64, i64)) -> (i64, u64, u64) {
    let overlap = |piece: &Piece| (piece.ended.min(to) - piece.begun.max(from)).max(0);
    let gpu = pieces.iter().map(|piece| overlap(piece) * i64::from(piece.gpus)).sum();
    let ends = || pieces.iter().filter(|piece| from <= piece.ended && piece.ended < to);
    let tasks = ends().filter(|piece| piece.task.is_some()).count() as u64;
    let failures = ends().filter(|piece| piece.failure.is_some()).count() as u64;
    (gpu, tasks, failures)
}

proptest! {
    #[test]
    fn lines_add_up_to_the_total_by_whatever_they_are(
        pieces in some_pieces(), by in some_grouping(), range in some_range(),
        zone in proptest::sample::select(vec!["UTC", "+08:00", "-09:30"]),
    ) {
        let fold = folded(&question(range, &by, zone), &pieces);
        prop_assert_eq!(plain(&sum(fold.lines.values())), plain(&folded(&question(range, &[], zone), &pieces).total()));
        let (gpu, tasks, failures) = by_hand(&pieces, range);
        prop_assert_eq!(fold.total().gpu, gpu);
        prop_assert_eq!(fold.total().tasks(), tasks);
        prop_assert_eq!(fold.total().failures.values().sum::<u64>(), failures);
    }

    /// Every line is what a report with that alone has.
    #[test]
    fn a_line_is_the_report_of_what_it_is_of(pieces in some_pieces(), range in some_range()) {
        let by_user = folded(&question(range, &[Grouping::User], "UTC"), &pieces);
        for user in 1..4 {
            let mut only = Fold::new(
                &question(range, &[], "UTC"), FilterIds { user: Some(UserId(user)), ..ALL },
            ).unwrap();
            pieces.iter().for_each(|piece| only.add(piece).unwrap());
            let line = by_user.lines.get(&[user, 0, 0]).cloned().unwrap_or_default();
            prop_assert_eq!(plain(&only.total()), plain(&line));
        }
    }

    #[test]
    fn neighbouring_times_add_up_to_both(
        pieces in some_pieces(), (from, to) in some_range(), share in 0.0..1.0_f64,
    ) {
        let middle = from + ((to - from) as f64 * share) as i64;
        let total = |range| folded(&question(range, &[], "UTC"), &pieces).total();
        let parts = [total((from, middle)), total((middle, to))];
        let parts = if from == middle { vec![parts[1].clone()] } else { parts.to_vec() };
        prop_assert_eq!(plain(&sum(parts.iter())), plain(&total((from, to))));
    }

    #[test]
    fn what_is_booked_is_read_back(pieces in some_pieces(), (from, to) in some_range()) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("reports.db");
        let mut book = Book::open(&path).unwrap();
        let booked = Booked { epoch: Epoch(1), event: 7 };
        // Twice: what is booked again changes nothing.
        for _ in 0..2 {
            book.transaction(|book| {
                pieces.iter().try_for_each(|piece| book.put(piece))?;
                book.put_booked(booked)
            }).unwrap();
        }
        let mut found = Vec::new();
        Book::open_to_read(&path).unwrap().between(from, to, |piece| {
            found.push(*piece);
            true
        }).unwrap();
        let mut expect: Vec<Piece> =
            pieces.iter().filter(|it| it.ended >= from && it.begun < to).copied().collect();
        expect.sort_by_key(|piece| (piece.ended, piece.run));
        prop_assert_eq!(found, expect);
        prop_assert_eq!(book.booked().unwrap(), Some(booked));
    }
}

#[test]
fn days_are_exact() {
    let piece = Piece { gpus: 2, ..one_piece(FIRST - 3_600_000, FIRST + 2 * 3_600_000) };
    let question = question((FIRST - DAY, FIRST + DAY), &[Grouping::Period(Unit::Day)], "UTC");
    let fold = folded(&question, &[piece]);
    let of = |day: u32| -> &Figures { &fold.lines[&([day, 0, 0] as LineKey)] };
    assert_eq!((of(0).gpu, of(1).gpu), (2 * 3_600_000, 4 * 3_600_000));
    assert_eq!((of(0).tasks(), of(1).tasks()), (0, 1), "it ended on the second");
    assert_eq!((of(0).measured.energy, of(1).measured.energy), (333, 667), "of 1000");
}

#[test]
fn what_runs_counts_so_far() {
    let now = FIRST + DAY;
    let running = Piece { task: Some(TaskCount::Running), ..one_piece(FIRST, now) };
    let ask = |from, to, open| {
        let asked = ReportQuestion { open, now: Time(now), ..question((from, to), &[], "UTC") };
        let total = folded(&asked, &[running]).total();
        (total.gpu / 3_600_000, total.running)
    };
    assert_eq!(ask(FIRST - DAY, now, true), (24, 1));
    assert_eq!(ask(FIRST - DAY, FIRST + DAY / 2, false), (12, 0), "it ran then, and goes on");
}

fn one_piece(begun: i64, ended: i64) -> Piece {
    Piece {
        run: RunId { epoch: Epoch(1), number: 1 },
        place: 0,
        user: UserId(1),
        project: NameId(0),
        node: NameId(1),
        model: NameId(2),
        begun,
        ended,
        gpus: 1,
        cpu: 0,
        task: Some(TaskCount::Succeeded),
        waited: None,
        failure: None,
        measured: Measured { energy: 1_000, ..Measured::default() },
    }
}

/// Two attempts on two machines: the first was preempted, the second one failed.
#[test]
fn every_attempt_and_every_machine_counts() {
    let task: Task = serde_json::from_str(
        r#"{"id":7,"owner":2,"spec_id":3,"submitted_at":1000,"state":{"finished":{"outcome":{"failed":{"exit":{"code":1}}},
        "at":90000}},"attempts":2,"last_run":{"epoch":1,"number":5}}"#,
    )
    .unwrap();
    let run = |number: u64, launched: i64, ends: [i64; 2], class: &str| -> Run {
        let part = |node: u32, gpus: &str, ended: i64| {
            format!(
                r#"{{"node":{node},"gpus":[{gpus}],"started_at":{},"state":{{"ended":{{"exit":{{"code":1}},
                "stopped":false,"at":{ended}}}}}}}"#,
                launched + 500
            )
        };
        let json = format!(
            r#"{{"id":{{"epoch":1,"number":{number}}},"task":7,"attempt":{number},"launched_at":{launched},
            "expected_end_at":null,"parts":[{},{}],"state":{{"ended":{{"exit":{{"code":1}},"failure":{{"class":"{class}",
            "evidence":""}},"at":{}}}}},"used":{{"peak_memory":null,"oom_kills":null,"largest_process":0,"cpu_time":5001,
            "log_bytes":0}}}}"#,
            part(1, r#""a","b","x""#, ends[0]),
            part(2, r#""c""#, ends[1]),
            ends[1],
        );
        serde_json::from_str(&json).unwrap()
    };
    let runs =
        [run(4, 3_000, [13_500, 23_500], "preempted"), run(5, 50_000, [60_500; 2], "cuda_oom")];
    let models: BTreeMap<&str, &str> = [("a", "A100"), ("b", "A100"), ("c", "H100")].into();
    let model = |gpu: &GpuId| models.get(&*gpu.0).map(|model| (*model).to_owned());
    let mut names = Names::default();
    let mut booked = Vec::new();
    for run in &runs {
        let first = first_start(runs.iter());
        assert_eq!(first, Some(Time(3_000)));
        let facts = RunFacts { task: &task, run, first_start: first, summary: None };
        booked.extend(pieces(&facts, &mut names, |part| part.node.to_string(), model, Time(0)));
    }
    let told: Vec<(u64, u16, &str, &str, i64, u32)> = booked
        .iter()
        .map(|it| {
            let (node, model) = (names.name(it.node).unwrap(), names.name(it.model).unwrap_or("-"));
            (it.run.number, it.place, node, model, it.ended - it.begun, it.gpus)
        })
        .collect();
    let expect = [
        (4, 0, "1", "-", 10_000, 1),
        (4, 1, "1", "A100", 10_000, 2),
        (4, 2, "2", "H100", 20_000, 1),
        (5, 0, "1", "-", 10_000, 1),
        (5, 1, "1", "A100", 10_000, 2),
        (5, 2, "2", "H100", 10_000, 1),
    ];
    assert_eq!(told, expect);
    assert_eq!(booked.iter().map(|piece| piece.cpu).sum::<i64>(), 2 * 5_001);
    let ends: Vec<_> = booked.iter().map(|it| (it.task, it.failure, it.waited)).collect();
    let nothing = (None, None, None);
    let preempted = (None, Some(FailureClass::Preempted), None);
    let failed = (Some(TaskCount::Failed), Some(FailureClass::CudaOom), Some(2_000));
    assert_eq!(ends, [preempted, nothing, nothing, failed, nothing, nothing]);
}

/// Nothing ran: it took no time, and nobody failed.
#[test]
fn what_never_started_takes_no_time() {
    let task: Task = serde_json::from_str(
        r#"{"id":7,"owner":2,"spec_id":3,"submitted_at":1000,"state":{"queued":{"since":9}}}"#,
    )
    .unwrap();
    let run: Run = serde_json::from_str(
        r#"{"id":{"epoch":1,"number":4},"task":7,"attempt":1,"launched_at":2000,"expected_end_at":null,
        "parts":[{"node":1,"gpus":["a"],"started_at":null,"state":{"ended":{"exit":"never_started","stopped":false,
        "at":9000}}}],"state":{"ended":{"exit":"never_started","at":9000}}}"#,
    )
    .unwrap();
    let facts = RunFacts { task: &task, run: &run, first_start: None, summary: None };
    let mut names = Names::default();
    let found = pieces(&facts, &mut names, |_| "m".into(), |_| None, Time(0));
    let [piece] = found[..] else { panic!("{found:?}") };
    assert_eq!((piece.begun, piece.ended, piece.task, piece.failure), (9_000, 9_000, None, None));
    assert_eq!(first_start([&run].into_iter()), None);
}

#[test]
fn too_many_lines_are_refused() {
    let by = [Grouping::User, Grouping::Node, Grouping::Model];
    let mut fold = Fold::new(&question((FIRST, FIRST + DAY), &by, "UTC"), ALL).unwrap();
    let piece = one_piece(FIRST, FIRST + 1);
    let added = |fold: &mut Fold, user| fold.add(&Piece { user: UserId(user), ..piece });
    assert!((0..20_000).all(|user| added(&mut fold, user).is_ok()));
    assert!(added(&mut fold, 20_001).is_err());
    assert!(added(&mut fold, 3).is_ok(), "it has a line already");
    let century = question((0, 100 * 365 * DAY), &[Grouping::Period(Unit::Day)], "UTC");
    assert!(Fold::new(&century, ALL).is_err());
    assert_eq!(TimeZone::UTC, super::zone("UTC").unwrap());
}

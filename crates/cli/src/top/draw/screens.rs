//! Whole screens, in both languages and at both sizes, as they are recorded in `snapshots/`.
//!
//! Recorded anew with `INSTA_UPDATE=always cargo nextest run -p danlu top::draw`.

use danlu_messages::Language;
use insta::{Settings, assert_snapshot};
use ratatui::{
    Terminal,
    backend::TestBackend,
    buffer::Buffer,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
};

use super::*;
use crate::top::model::{
    LogNews, LogSubject, TaskScope, TopInput, TopOrder, TopScreen,
    sample::{self, now},
};

const NARROW: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (200, 50);

fn model(screen: TopScreen, size: (u16, u16)) -> TopModel {
    let mut model = TopModel::new(screen, TaskScope::Everybody, size);
    model.take(TopInput::Tasks(Box::new(sample::overview())), now());
    let (gpus, holders) = (sample::gpus(), sample::holders());
    model.take(TopInput::Gpus { gpus, holders }, now());
    model
}

fn press(model: &mut TopModel, keys: &[KeyCode]) -> Vec<TopOrder> {
    let key = |code: &KeyCode| KeyEvent::new(*code, KeyModifiers::NONE);
    keys.iter().flat_map(|code| model.take(TopInput::Key(key(code)), now())).collect()
}

fn frame(model: &TopModel, has_colours: bool) -> Buffer {
    let (columns, rows) = model.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a test has room");
    let palette = Palette { has_colours };
    terminal.draw(|frame| draw(frame, model, palette, now())).expect("a test has room");
    terminal.backend().buffer().clone()
}

/// As text, without the cells that the right halves of wide letters take.
fn written(model: &TopModel) -> String {
    let buffer = frame(model, true);
    let mut out = String::new();
    for row in 0..buffer.area.height {
        let (mut line, mut hidden) = (String::new(), 0);
        for column in 0..buffer.area.width {
            let symbol = buffer[(column, row)].symbol();
            if hidden == 0 {
                line += symbol;
            }
            hidden = if hidden > 0 { hidden - 1 } else { width::of(symbol).saturating_sub(1) };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn both_languages(make: impl Fn() -> TopModel) -> String {
    let english = Language::English.within(|| written(&make()));
    let chinese = Language::Chinese.within(|| written(&make()));
    format!("{english}\n{}\n\n{chinese}", "=".repeat(40))
}

#[track_caller]
fn check(name: &str, make: impl Fn() -> TopModel) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, both_languages(make)));
}

fn with_log(size: (u16, u16)) -> TopModel {
    let mut model = model(TopScreen::Top, size);
    press(&mut model, &[KeyCode::Down]);
    let subject = model.log.subject.expect("a running task has a log");
    assert_eq!(subject.task, 412);
    let text = "epoch 1 loss 0.93\nepoch 2 loss 0.71\nepoch 3  40%|####\repoch 3  80%|########";
    model.take(TopInput::Log(subject, LogNews::Bytes(text.into())), now());
    model
}

#[test]
fn tasks_at_80_by_24() {
    check("top_tasks_80x24", || with_log(NARROW));
}

#[test]
fn gpus_at_80_by_24() {
    check("top_gpus_80x24", || {
        let mut model = with_log(NARROW);
        press(&mut model, &[KeyCode::Tab]);
        model
    });
}

#[test]
fn everything_at_200_by_50() {
    check("top_200x50", || with_log(WIDE));
}

#[test]
fn help_why_and_the_question() {
    for size in [NARROW, WIDE] {
        let name = |what: &str| format!("top_{what}_{}x{}", size.0, size.1);
        check(&name("help"), || {
            let mut model = with_log(size);
            press(&mut model, &[KeyCode::Char('?')]);
            model
        });
        check(&name("cancel"), || {
            let mut model = with_log(size);
            press(&mut model, &[KeyCode::Char('c')]);
            model
        });
        check(&name("why"), || {
            let mut model = with_log(size);
            press(&mut model, &[KeyCode::Down, KeyCode::Down, KeyCode::Char('w')]);
            let text = "task 420 (llama-70b) waits: it needs 8 GPUs on one machine. 1st of 6 in line.\n  gpu1  1 free\n".to_owned();
            model.take(TopInput::Reason { task: 420, text }, now());
            model
        });
    }
}

#[test]
fn the_whole_log_at_80_by_24() {
    check("top_log_80x24", || {
        let mut model = with_log(NARROW);
        let orders = press(&mut model, &[KeyCode::Enter]);
        let [TopOrder::ReadLog(Some(subject))] = orders[..] else { panic!("{orders:?}") };
        let many: String = (0..100).map(|step| format!("step {step}\n")).collect();
        model.take(TopInput::Log(subject, LogNews::Bytes(many.into())), now());
        press(&mut model, &[KeyCode::PageUp]);
        model
    });
}

#[test]
fn the_list_alone_at_80_by_24() {
    check("ls_watch_80x24", || model(TopScreen::List, NARROW));
}

#[test]
fn a_small_terminal_is_told_what_is_needed() {
    let shown = Language::English.within(|| written(&model(TopScreen::Top, (40, 8))));
    assert!(shown.starts_with("needs 60×10, has 40×8\n"), "{shown}");
}

#[test]
fn without_colours_nothing_has_one() {
    let buffer = frame(&with_log(WIDE), false);
    let plain = |cell: &ratatui::buffer::Cell| {
        cell.fg == ratatui::style::Color::Reset && cell.bg == ratatui::style::Color::Reset
    };
    assert!(buffer.content.iter().all(plain));
    let coloured = frame(&with_log(WIDE), true);
    assert!(!coloured.content.iter().all(plain));
}

#[test]
fn any_size_is_drawn_without_a_panic() {
    for columns in (1..220).step_by(7) {
        for rows in [1, 2, 9, 10, 11, 24, 60] {
            let mut model = with_log_of_any((columns, rows));
            for key in ['?', 'q', 'w', 'q', 'c', 'n', '/', 'x'] {
                frame(&model, true);
                press(&mut model, &[KeyCode::Char(key)]);
            }
            press(&mut model, &[KeyCode::Esc, KeyCode::Tab, KeyCode::End, KeyCode::Enter]);
            frame(&model, true);
        }
    }
}

fn with_log_of_any(size: (u16, u16)) -> TopModel {
    let mut model = model(TopScreen::Top, size);
    let subject = LogSubject { task: 398, attempt: 1, lines: 200 };
    model.take(TopInput::Log(subject, LogNews::Bytes("一二三\n".repeat(90).into())), now());
    model
}

#[test]
fn a_server_that_is_away_is_told_and_comes_back() {
    let mut model = with_log(NARROW);
    model.take(TopInput::Away, now());
    assert!(!model.is_up());
    let away = Language::English.within(|| written(&model));
    assert!(away.contains("the server does not answer since"), "{away}");
    let orders = model.take(TopInput::Back, now());
    assert!(orders.contains(&TopOrder::FetchTasks), "{orders:?}");
    // Its output is read anew.
    assert!(orders.iter().any(|it| matches!(it, TopOrder::ReadLog(Some(_)))), "{orders:?}");
}

#[test]
fn a_filter_is_typed_and_asked_for() {
    let mut model = with_log(NARROW);
    press(&mut model, &[KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Char('训')]);
    let shown = Language::English.within(|| written(&model));
    assert!(shown.contains("words: q训"), "{shown}");
    let orders = press(&mut model, &[KeyCode::Backspace, KeyCode::Enter]);
    assert_eq!(orders, [TopOrder::FetchTasks]);
    assert_eq!(model.tasks.wanted.filter, "q");
}

#[test]
fn a_click_selects_and_the_wheel_scrolls() {
    use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
    let mut model = with_log(WIDE);
    let mouse = |kind, column, row| {
        let modifiers = KeyModifiers::NONE;
        TopInput::Mouse(MouseEvent { kind, column, row, modifiers })
    };
    let selected = |model: &TopModel| model.tasks.selected_line().map(|line| line.task.id);
    let press = MouseEventKind::Down(MouseButton::Left);
    // The fourth task; title and headings are above.
    model.take(mouse(press, 150, 7), now());
    assert_eq!(selected(&model), Some(420));
    model.take(mouse(MouseEventKind::ScrollUp, 150, 7), now());
    assert_eq!(selected(&model), Some(398));
    // A GPU of another task.
    model.take(mouse(press, 5, 4), now());
    assert_eq!(selected(&model), Some(412));
    assert_eq!(model.pane, PaneName::Gpus);
}

#[test]
fn acts_are_ordered_for_the_selected_line() {
    use crate::top::model::TopAct;
    use danlu_wire::api::ActName;
    let order = |act, task, array| [TopOrder::Act(TopAct { act, task, array })];
    let mut model = with_log(NARROW);
    let acts = |orders: Vec<TopOrder>| -> Vec<TopOrder> {
        orders.into_iter().filter(|it| matches!(it, TopOrder::Act(_))).collect()
    };
    // One that runs cannot be held.
    assert_eq!(acts(press(&mut model, &[KeyCode::Char('h')])), []);
    let cancelled = press(&mut model, &[KeyCode::Char('c'), KeyCode::Char('y')]);
    assert_eq!(acts(cancelled), order(ActName::Cancel, 412, None));
    let kept = press(&mut model, &[KeyCode::Char('c'), KeyCode::Char('n')]);
    assert_eq!(acts(kept), []);
    let released = press(&mut model, &[KeyCode::Down, KeyCode::Char('h')]);
    assert_eq!(acts(released), order(ActName::Release, 416, None));
    let held = press(&mut model, &[KeyCode::Down, KeyCode::Down, KeyCode::Char('h')]);
    assert_eq!(acts(held), order(ActName::Hold, 421, Some(421)));
    // One that has ended is left alone.
    assert_eq!(
        acts(press(&mut model, &[KeyCode::Down, KeyCode::Char('c'), KeyCode::Char('y')])),
        []
    );
}

#[test]
fn only_what_changed_is_written() {
    let mut model = with_log(WIDE);
    let before = frame(&model, true);
    press(&mut model, &[KeyCode::Down]);
    let after = frame(&model, true);
    let rows: std::collections::BTreeSet<u16> =
        before.diff(&after).iter().map(|(_, row, _)| *row).collect();
    // Two rows of the list, and the log below.
    assert!(rows.len() <= 8, "{rows:?}");
}

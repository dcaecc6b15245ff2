//! What each key does.

use danlu_messages::cli::top as msg;
use danlu_wire::api::{ActName, ArrayLine, Line, TaskStateName};
use jiff::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{
    LogView, Overlay, PaneName, ServerLink, TaskScope, TopAct, TopModel, TopOrder, TopScreen,
};
use crate::screen::{tasks, width};

/// Letters of a filter, as the server takes them.
const LONGEST_FILTER: usize = 200;

/// A step through a list or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Travel {
    By(isize),
    Pages(isize),
    First,
    Last,
}

impl TopModel {
    pub(super) fn key(&mut self, key: KeyEvent, now: Timestamp) -> Vec<TopOrder> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return vec![TopOrder::Quit],
                KeyCode::Char('z') => return vec![TopOrder::Suspend],
                _ => {}
            }
        }
        // What was said last has been read, unless it is about the server.
        self.word = None;
        match &self.overlay {
            Overlay::Nothing => self.key_on_panes(key, now),
            Overlay::Help => {
                self.overlay = Overlay::Nothing;
                Vec::new()
            }
            Overlay::Reason { .. } => self.key_on_reason(key),
            Overlay::Question { act, .. } => {
                let act = act.clone();
                self.key_on_question(key, act)
            }
            Overlay::Filter { text } => {
                let text = text.clone();
                self.key_on_filter(key, text)
            }
            Overlay::Log(view) => {
                let view = *view;
                self.key_on_log(key, view)
            }
        }
    }

    fn key_on_panes(&mut self, key: KeyEvent, now: Timestamp) -> Vec<TopOrder> {
        if let Some(travel) = travel(key.code) {
            return self.travel(travel);
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return vec![TopOrder::Quit],
            KeyCode::Char('?') | KeyCode::F(1) => self.overlay = Overlay::Help,
            KeyCode::Tab | KeyCode::BackTab if self.screen == TopScreen::Top => {
                self.pane = match self.pane {
                    PaneName::Gpus => PaneName::Tasks,
                    PaneName::Tasks => PaneName::Gpus,
                };
            }
            KeyCode::Char('s') => {
                let height = self.task_rows();
                self.tasks.sort_next(now, height);
            }
            _ if self.screen == TopScreen::List => {}
            KeyCode::Char('a') => {
                let scope = match self.tasks.wanted.scope {
                    TaskScope::Everybody => TaskScope::Mine,
                    TaskScope::Mine => TaskScope::Everybody,
                };
                let filter = self.tasks.wanted.filter.clone();
                self.tasks.ask_for(scope, filter);
                return vec![TopOrder::FetchTasks];
            }
            KeyCode::Char('/') => {
                self.overlay = Overlay::Filter { text: self.tasks.wanted.filter.clone() };
            }
            KeyCode::Char('l') | KeyCode::Enter => return self.open_log(),
            KeyCode::Char('w') => return self.ask_why(),
            KeyCode::Char('c') => self.ask_to_cancel(),
            KeyCode::Char('h') => return self.hold_or_release(),
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn travel(&mut self, travel: Travel) -> Vec<TopOrder> {
        if self.pane == PaneName::Gpus {
            let height = self.gpu_rows();
            let far = isize::try_from(self.gpus.rows.len()).unwrap_or(isize::MAX);
            self.gpus.scroll(step(travel, height, far), height);
            return Vec::new();
        }
        let height = self.task_rows();
        let turned = match travel {
            Travel::By(_) | Travel::Pages(_) => self.tasks.go(step(travel, height, 0), height),
            Travel::First => self.tasks.first(height),
            Travel::Last => self.tasks.last(height),
        };
        let page = turned.then_some(TopOrder::FetchTasks);
        page.into_iter().chain(self.turn_log()).collect()
    }

    fn open_log(&mut self) -> Vec<TopOrder> {
        if self.tasks.selected_line().is_none() {
            return Vec::new();
        }
        self.overlay = Overlay::Log(LogView::Following);
        self.turn_log().into_iter().collect()
    }

    fn ask_why(&mut self) -> Vec<TopOrder> {
        let Some(line) = self.tasks.selected_line() else { return Vec::new() };
        let task = line.task.id;
        self.overlay = Overlay::Reason { task, text: None, top: 0 };
        vec![TopOrder::Explain { task }]
    }

    fn ask_to_cancel(&mut self) {
        let Some(line) = self.tasks.selected_line() else { return };
        let (count, question) = match &line.array {
            Some(array) => {
                let open = open_of(array);
                let name = width::plain(&line.task.name);
                (open, msg::cancel_array(&open, &array.first, &array.last, &name))
            }
            None => {
                let name = width::plain(&tasks::name(&line.task));
                let count = usize::from(!line.task.state.is_over());
                (count, msg::cancel_task(&line.task.id, &name))
            }
        };
        if count == 0 {
            self.word = Some(msg::nothing_to_do().to_owned());
            return;
        }
        let act = act_on(line, ActName::Cancel);
        self.overlay = Overlay::Question { question, act };
    }

    fn hold_or_release(&mut self) -> Vec<TopOrder> {
        let Some(line) = self.tasks.selected_line() else { return Vec::new() };
        let act = match line.task.state {
            TaskStateName::Held => ActName::Release,
            TaskStateName::Queued | TaskStateName::Blocked => ActName::Hold,
            TaskStateName::Starting
            | TaskStateName::Running
            | TaskStateName::Paused
            | TaskStateName::Stopping
            | TaskStateName::Lost
            | TaskStateName::Succeeded
            | TaskStateName::Failed
            | TaskStateName::Cancelled
            | TaskStateName::TimedOut
            | TaskStateName::Unknown => {
                self.word = Some(msg::hold_only_waiting().to_owned());
                return Vec::new();
            }
        };
        vec![TopOrder::Act(act_on(line, act))]
    }

    fn key_on_reason(&mut self, key: KeyEvent) -> Vec<TopOrder> {
        let Some(travel) = travel(key.code) else {
            self.overlay = Overlay::Nothing;
            return Vec::new();
        };
        let height = self.log_rows();
        if let Overlay::Reason { text, top, .. } = &mut self.overlay {
            let lines = text.as_ref().map_or(0, |text| text.lines().count());
            let by = step(travel, height, isize::MAX);
            *top = top.saturating_add_signed(by).min(lines.saturating_sub(1));
        }
        Vec::new()
    }

    fn key_on_question(&mut self, key: KeyEvent, act: TopAct) -> Vec<TopOrder> {
        match key.code {
            KeyCode::Char('y' | 'Y') => {
                self.overlay = Overlay::Nothing;
                vec![TopOrder::Act(act)]
            }
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => {
                self.overlay = Overlay::Nothing;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn key_on_filter(&mut self, key: KeyEvent, mut text: String) -> Vec<TopOrder> {
        match key.code {
            KeyCode::Esc => {
                self.overlay = Overlay::Nothing;
                return Vec::new();
            }
            KeyCode::Enter => {
                self.overlay = Overlay::Nothing;
                let scope = self.tasks.wanted.scope;
                self.tasks.ask_for(scope, text.trim().to_owned());
                return vec![TopOrder::FetchTasks];
            }
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => text.clear(),
            KeyCode::Char(letter)
                if width::is_plain(letter) && text.chars().count() < LONGEST_FILTER =>
            {
                text.push(letter);
            }
            _ => {}
        }
        self.overlay = Overlay::Filter { text };
        Vec::new()
    }

    fn key_on_log(&mut self, key: KeyEvent, view: LogView) -> Vec<TopOrder> {
        match (key.code, travel(key.code)) {
            (KeyCode::Char('q' | 'l') | KeyCode::Esc, _) => {
                self.overlay = Overlay::Nothing;
                return self.turn_log().into_iter().collect();
            }
            (KeyCode::Char('f'), _) => self.overlay = Overlay::Log(LogView::Following),
            (_, Some(travel)) => self.scroll_log(view, travel),
            (_, None) => {}
        }
        Vec::new()
    }

    pub(super) fn scroll_log(&mut self, view: LogView, travel: Travel) {
        let (rows, height) = (self.all_log_rows(), self.log_rows());
        let view = view.scroll(step(travel, height, isize::MAX), rows, height);
        self.overlay = Overlay::Log(view);
    }

    /// Whether the server can be asked.
    pub(crate) fn is_up(&self) -> bool {
        self.link == ServerLink::Up
    }
}

fn travel(code: KeyCode) -> Option<Travel> {
    Some(match code {
        KeyCode::Down | KeyCode::Char('j') => Travel::By(1),
        KeyCode::Up | KeyCode::Char('k') => Travel::By(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Travel::Pages(1),
        KeyCode::PageUp | KeyCode::Char('b') => Travel::Pages(-1),
        KeyCode::Home | KeyCode::Char('g') => Travel::First,
        KeyCode::End | KeyCode::Char('G') => Travel::Last,
        _ => return None,
    })
}

fn step(travel: Travel, height: usize, far: isize) -> isize {
    let height = isize::try_from(height).unwrap_or(1).max(1);
    match travel {
        Travel::By(by) => by,
        Travel::Pages(pages) => pages * height,
        Travel::First => -far,
        Travel::Last => far,
    }
}

fn act_on(line: &Line, act: ActName) -> TopAct {
    TopAct { act, task: line.task.id, array: line.array.as_ref().map(|array| array.first) }
}

fn open_of(array: &ArrayLine) -> usize {
    let open = array.counts.iter().filter(|(state, _)| !state.is_over());
    open.map(|(_, count)| count).sum()
}

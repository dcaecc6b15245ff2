//! What the screen shows, and what keys, answers and the passing of time change about it. Does no I/O.

pub(crate) mod areas;
pub(crate) mod gpu_pane;
mod keys;
pub(crate) mod log_pane;
pub(crate) mod log_text;
mod mouse;
pub(crate) mod overlay;
pub(crate) mod pace;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod task_pane;

use danlu_messages::cli::top as msg;
use danlu_wire::api::{GpuView, Overview};
use jiff::Timestamp;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

pub(crate) use areas::Areas;
pub(crate) use gpu_pane::{GpuPane, Holder, Holders};
pub(crate) use log_pane::{LogNews, LogPane, LogSubject};
pub(crate) use overlay::{LogView, Overlay, TopAct};
pub(crate) use pace::Pace;
pub(crate) use task_pane::{ListRequest, TaskPane, TaskScope};

/// What the screen is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopScreen {
    /// `danlu top`.
    Top,
    /// `danlu ls --watch`: the list alone, as it was asked for.
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaneName {
    Gpus,
    Tasks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerLink {
    Up,
    Away { since: Timestamp },
}

/// What happens to the screen.
#[derive(Debug)]
pub(crate) enum TopInput {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Resized(u16, u16),
    Tasks(Box<Overview>),
    Gpus {
        gpus: Vec<GpuView>,
        holders: Holders,
    },
    Log(LogSubject, LogNews),
    Reason {
        task: u64,
        text: String,
    },
    /// A sentence about something that was done or refused.
    Word(String),
    Away,
    Back,
}

/// What has to be done because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TopOrder {
    Quit,
    Suspend,
    /// The list, as it is wanted now.
    FetchTasks,
    ReadLog(Option<LogSubject>),
    Explain {
        task: u64,
    },
    Act(TopAct),
}

#[derive(Debug)]
pub(crate) struct TopModel {
    pub(crate) screen: TopScreen,
    pub(crate) size: (u16, u16),
    pub(crate) pane: PaneName,
    pub(crate) tasks: TaskPane,
    pub(crate) gpus: GpuPane,
    pub(crate) log: LogPane,
    pub(crate) overlay: Overlay,
    pub(crate) link: ServerLink,
    /// What was said last, until the next key.
    pub(crate) word: Option<String>,
}

impl TopModel {
    pub(crate) fn new(screen: TopScreen, scope: TaskScope, size: (u16, u16)) -> Self {
        Self {
            screen,
            size,
            pane: PaneName::Tasks,
            tasks: TaskPane::new(scope),
            gpus: GpuPane::default(),
            log: LogPane::default(),
            overlay: Overlay::Nothing,
            link: ServerLink::Up,
            word: None,
        }
    }

    pub(crate) fn take(&mut self, input: TopInput, now: Timestamp) -> Vec<TopOrder> {
        match input {
            TopInput::Key(key) => return self.key(key, now),
            TopInput::Mouse(mouse) => return self.mouse(mouse),
            TopInput::Resized(columns, rows) => {
                self.size = (columns, rows);
                let height = self.task_rows();
                self.tasks.select(self.tasks.index().unwrap_or_default(), height);
                self.gpus.scroll(0, self.gpu_rows());
            }
            TopInput::Tasks(overview) => {
                let height = self.task_rows();
                let mut orders = Vec::new();
                if self.tasks.take(*overview, now, height) {
                    orders.push(TopOrder::FetchTasks);
                }
                orders.extend(self.turn_log());
                return orders;
            }
            TopInput::Gpus { gpus, holders } => {
                let height = self.gpu_rows();
                let me = self.tasks.overview.as_ref().map_or("", |overview| &overview.user);
                self.gpus.take(&gpus, &holders, me, height);
            }
            TopInput::Log(of, news) => self.log.take(of, news),
            TopInput::Reason { task, text } => {
                if let Overlay::Reason { task: of, text: shown, .. } = &mut self.overlay
                    && *of == task
                {
                    *shown = Some(text);
                }
            }
            TopInput::Word(words) => self.word = Some(words),
            TopInput::Away => {
                if self.link == ServerLink::Up {
                    self.link = ServerLink::Away { since: now };
                }
            }
            TopInput::Back => {
                if self.link != ServerLink::Up {
                    self.link = ServerLink::Up;
                    self.word = Some(msg::server_back().to_owned());
                    // A stream of output ended with the server.
                    self.log.subject = None;
                    let mut orders = vec![TopOrder::FetchTasks];
                    orders.extend(self.turn_log());
                    return orders;
                }
            }
        }
        Vec::new()
    }

    pub(crate) fn areas(&self) -> Option<Areas> {
        areas::areas(self.size, self.screen, self.pane)
    }

    /// The log shows the selected task.
    fn turn_log(&mut self) -> Option<TopOrder> {
        if self.screen == TopScreen::List {
            return None;
        }
        let lines = match self.overlay {
            Overlay::Log(_) => log_pane::MANY_LINES,
            _ => log_pane::FEW_LINES,
        };
        let task = self.tasks.selected_line().map(|line| &line.task);
        self.log.turn_to(task, lines).map(TopOrder::ReadLog)
    }

    /// Lines of tasks that fit: without the title and the headings.
    fn task_rows(&self) -> usize {
        let area = self.areas().and_then(|areas| areas.tasks);
        area.map_or(1, |area| usize::from(area.height.saturating_sub(2)))
    }

    fn gpu_rows(&self) -> usize {
        let area = self.areas().and_then(|areas| areas.gpus);
        area.map_or(1, |area| usize::from(area.height.saturating_sub(1)))
    }

    /// Rows of the whole log that fit, below its title.
    fn log_rows(&self) -> usize {
        self.areas().map_or(1, |areas| usize::from(areas.body.height.saturating_sub(1)))
    }

    /// How many rows the whole log has now.
    fn all_log_rows(&self) -> usize {
        let columns = usize::from(self.size.0);
        self.log.text.lines().iter().map(|line| log_text::wrapped(line, columns).len()).sum()
    }
}

//! The list of tasks: which page of it is there, in which order, and which line is selected.

use danlu_wire::api::{Line, Overview, TaskStateName, TaskView};
use jiff::Timestamp;

use crate::{
    client::OverviewPlace,
    screen::{clock, tasks},
};

/// Lines of one page.
pub(crate) const PAGE_LINES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskScope {
    Everybody,
    Mine,
}

/// What the lines are sorted by. What runs comes before what waits, and that before what has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineSort {
    /// As the server lists them.
    #[default]
    Queue,
    User,
    Gpus,
    Time,
}

impl LineSort {
    fn next(self) -> LineSort {
        match self {
            LineSort::Queue => LineSort::User,
            LineSort::User => LineSort::Gpus,
            LineSort::Gpus => LineSort::Time,
            LineSort::Time => LineSort::Queue,
        }
    }
}

/// What the server is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListRequest {
    pub(crate) scope: TaskScope,
    pub(crate) filter: String,
    pub(crate) place: OverviewPlace,
}

#[derive(Debug)]
pub(crate) struct TaskPane {
    pub(crate) wanted: ListRequest,
    pub(crate) sort: LineSort,
    pub(crate) overview: Option<Overview>,
    /// Of the overview, sorted.
    pub(crate) lines: Vec<Line>,
    /// By what does not change while the list does.
    selected: Option<u64>,
    /// The first visible line.
    pub(crate) top: usize,
    /// Which line of the next page is selected.
    landing: Landing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landing {
    /// The one that is selected now.
    Same,
    First,
    Last,
}

/// The id that stands for a line: of its task, or of the first element of its array.
pub(crate) fn line_key(line: &Line) -> u64 {
    line.array.as_ref().map_or(line.task.id, |array| array.first)
}

impl TaskPane {
    pub(crate) fn new(scope: TaskScope) -> Self {
        let wanted = ListRequest { scope, filter: String::new(), place: OverviewPlace::Start };
        Self {
            wanted,
            sort: LineSort::default(),
            overview: None,
            lines: Vec::new(),
            selected: None,
            top: 0,
            landing: Landing::Same,
        }
    }

    /// `true` when another page has to be asked for.
    pub(crate) fn take(&mut self, overview: Overview, now: Timestamp, height: usize) -> bool {
        // Tasks that were there have started or ended meanwhile.
        let is_beyond = overview.lines.is_empty() && self.wanted.place != OverviewPlace::Start;
        if is_beyond || overview.lines_before == 0 {
            self.wanted.place = OverviewPlace::Start;
        }
        let before = self.index();
        self.overview = Some(overview);
        self.sort_lines(now);
        match self.landing {
            Landing::First => self.select(0, height),
            Landing::Last => self.select(self.lines.len().saturating_sub(1), height),
            Landing::Same if self.selected_line().is_some() => {
                self.select(self.index().unwrap_or_default(), height);
            }
            // What was selected has left the list: its neighbour takes its place.
            Landing::Same => self.select(before.unwrap_or_default(), height),
        }
        self.landing = Landing::Same;
        is_beyond
    }

    pub(crate) fn sort_next(&mut self, now: Timestamp, height: usize) {
        self.sort = self.sort.next();
        self.sort_lines(now);
        self.select(self.index().unwrap_or_default(), height);
    }

    fn sort_lines(&mut self, now: Timestamp) {
        let Some(overview) = &self.overview else { return };
        let mut lines = overview.lines.clone();
        if overview.next_cursor.is_some() {
            // What waits goes on before what has ended.
            lines.retain(|line| !state(line).is_over());
        }
        let time = |task: &TaskView| match tasks::duration(task, now) {
            Some(seconds) => seconds,
            None => {
                let since = clock::read(&task.submitted_at);
                since.map_or(0, |since| clock::between(since, now))
            }
        };
        match self.sort {
            LineSort::Queue => {}
            LineSort::User => lines.sort_by_key(|line| (group(line), line.task.user.clone())),
            LineSort::Gpus => {
                lines.sort_by_key(|line| (group(line), std::cmp::Reverse(line.task.gpus)));
            }
            LineSort::Time => {
                lines.sort_by_key(|line| (group(line), std::cmp::Reverse(time(&line.task))));
            }
        }
        self.lines = lines;
    }

    pub(crate) fn selected_line(&self) -> Option<&Line> {
        self.lines.get(self.index()?)
    }

    pub(crate) fn index(&self) -> Option<usize> {
        let key = self.selected?;
        self.lines.iter().position(|line| line_key(line) == key)
    }

    /// Keeps it visible.
    pub(crate) fn select(&mut self, index: usize, height: usize) {
        let last = self.lines.len().saturating_sub(1);
        let index = index.min(last);
        self.selected = self.lines.get(index).map(line_key);
        self.show(index, height);
    }

    fn show(&mut self, index: usize, height: usize) {
        let height = height.max(1);
        self.top = self.top.clamp((index + 1).saturating_sub(height), index);
        self.top = self.top.min(self.lines.len().saturating_sub(height));
    }

    /// `true` when another page has to be asked for.
    pub(crate) fn go(&mut self, by: isize, height: usize) -> bool {
        let Some(index) = self.index() else { return false };
        let last = self.lines.len().saturating_sub(1);
        let overview = self.overview.as_ref();
        if by > 0 && index == last {
            let next = overview.and_then(|overview| overview.next_cursor.clone());
            return match next {
                Some(cursor) => self.turn(OverviewPlace::From(cursor), Landing::First),
                None => false,
            };
        }
        if by < 0 && index == 0 && overview.is_some_and(|overview| overview.lines_before > 0) {
            // Lines of a later page all wait: the first in the list of the server has the lowest id.
            let first = self.lines.iter().map(line_key).min();
            return match first {
                Some(first) => self.turn(OverviewPlace::Before(first), Landing::Last),
                None => false,
            };
        }
        self.select(index.saturating_add_signed(by), height);
        false
    }

    pub(crate) fn first(&mut self, height: usize) -> bool {
        if self.wanted.place != OverviewPlace::Start {
            return self.turn(OverviewPlace::Start, Landing::First);
        }
        self.select(0, height);
        false
    }

    pub(crate) fn last(&mut self, height: usize) -> bool {
        let has_more = self.overview.as_ref().is_some_and(|it| it.next_cursor.is_some());
        if has_more {
            return self.turn(OverviewPlace::Before(i64::MAX as u64), Landing::Last);
        }
        self.select(self.lines.len().saturating_sub(1), height);
        false
    }

    /// Everything else than before.
    pub(crate) fn ask_for(&mut self, scope: TaskScope, filter: String) {
        self.wanted = ListRequest { scope, filter, place: OverviewPlace::Start };
        self.landing = Landing::Same;
    }

    fn turn(&mut self, place: OverviewPlace, landing: Landing) -> bool {
        self.wanted.place = place;
        self.landing = landing;
        true
    }
}

fn state(line: &Line) -> TaskStateName {
    line.array.as_ref().map_or(line.task.state, danlu_wire::api::ArrayLine::state)
}

fn group(line: &Line) -> u8 {
    let state = state(line);
    if state.is_over() { 2 } else { u8::from(state.is_waiting()) }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const HEIGHT: usize = 5;

    fn pane(overview: Overview) -> TaskPane {
        let mut pane = TaskPane::new(TaskScope::Everybody);
        pane.take(overview, sample::now(), HEIGHT);
        pane
    }

    #[test]
    fn the_selection_stays_on_its_task_while_others_come_and_go() {
        let mut pane = pane(sample::queue(1..=20));
        pane.go(7, HEIGHT);
        assert_eq!(pane.selected_line().map(line_key), Some(8));
        pane.take(sample::queue(4..=30), sample::now(), HEIGHT);
        assert_eq!(pane.selected_line().map(line_key), Some(8));
        assert!((pane.top..pane.top + HEIGHT).contains(&4));
        // It has gone: the one at its place is next.
        pane.take(sample::queue(9..=30), sample::now(), HEIGHT);
        assert_eq!(pane.selected_line().map(line_key), Some(13));
    }

    #[test]
    fn at_the_ends_of_a_page_the_next_one_is_asked_for() {
        let mut first = sample::queue(1..=3);
        first.next_cursor = Some("4".to_owned());
        let mut pane = pane(first);
        assert!(!pane.go(2, HEIGHT));
        assert!(pane.go(1, HEIGHT));
        assert_eq!(pane.wanted.place, OverviewPlace::From("4".to_owned()));
        let mut second = sample::queue(4..=6);
        second.lines_before = 3;
        pane.take(second, sample::now(), HEIGHT);
        assert_eq!(pane.selected_line().map(line_key), Some(4));
        assert!(pane.go(-1, HEIGHT));
        assert_eq!(pane.wanted.place, OverviewPlace::Before(4));
        pane.take(sample::queue(1..=3), sample::now(), HEIGHT);
        assert_eq!(pane.selected_line().map(line_key), Some(3));
        assert_eq!(pane.wanted.place, OverviewPlace::Start);
    }

    #[test]
    fn a_page_that_has_become_empty_leads_to_the_first() {
        let mut first = sample::queue(1..=3);
        first.next_cursor = Some("4".to_owned());
        let mut pane = pane(first);
        pane.go(2, HEIGHT);
        pane.go(1, HEIGHT);
        let mut nothing = sample::queue(2..=2);
        nothing.lines.clear();
        assert!(pane.take(nothing, sample::now(), HEIGHT));
        assert_eq!(pane.wanted.place, OverviewPlace::Start);
    }

    #[test]
    fn sorting_keeps_what_runs_before_what_waits() {
        let mut pane = pane(sample::overview());
        let order = |pane: &TaskPane| pane.lines.iter().map(line_key).collect::<Vec<_>>();
        let queue = order(&pane);
        pane.sort_next(sample::now(), HEIGHT);
        assert_eq!(pane.sort, LineSort::User);
        assert!(pane.lines.windows(2).all(|two| group(&two[0]) <= group(&two[1])));
        for _ in 0..3 {
            pane.sort_next(sample::now(), HEIGHT);
        }
        assert_eq!(order(&pane), queue);
    }
}

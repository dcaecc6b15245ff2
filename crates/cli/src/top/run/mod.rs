//! Shows the screen: one loop that takes what the threads tell, asks the server, and draws.

mod feeds;
mod log_reader;
mod requests;
mod terminal;

use std::{
    io,
    process::ExitCode,
    sync::mpsc::{Receiver, Sender, SyncSender, sync_channel},
    time::{Duration, Instant},
};

use danlu_messages::cli::top as msg;
use danlu_wire::api::{GpuView, Overview};
use jiff::Timestamp;
use signal_hook::{
    consts::{SIGCONT, SIGTSTP},
    low_level::emulate_default_handler,
};

use super::{
    draw::{Palette, draw},
    model::{Holders, LogSubject, Pace, TopInput, TopModel, TopOrder, TopScreen},
};
use crate::{
    client::Client,
    failure::{Exit, Failure},
    screen::colour,
};
use feeds::ChangeFlag;
use log_reader::LogReader;
use requests::Fetch;
use terminal::Screen;

pub(crate) use requests::ListSource;

/// Frames, lists and readings come at most so often.
const BETWEEN_FRAMES: Duration = Duration::from_millis(100);
const BETWEEN_LISTS: Duration = Duration::from_millis(500);
const BETWEEN_READINGS: Duration = Duration::from_secs(2);
/// A selection that has moved on meanwhile is not worth a request.
const SETTLED: Duration = Duration::from_millis(120);
/// A thread that has more to tell waits.
const QUEUE: usize = 64;

/// What a thread tells the loop.
enum Happening {
    Input(TopInput),
    /// Something has changed at the server.
    Changed,
    Tasks(Box<Result<Overview, Failure>>),
    Gpus(Result<(Vec<GpuView>, Holders), Failure>),
    Signal(i32),
    /// The server does not let us in any more.
    Over(Failure),
}

/// Returns when the user has seen enough.
pub(crate) fn show(
    server: Option<&str>,
    mut model: TopModel,
    source: &ListSource,
) -> Result<ExitCode, Failure> {
    if !terminal::is_there() {
        let words = match model.screen {
            TopScreen::Top => msg::needs_a_terminal(),
            TopScreen::List => msg::watch_needs_a_terminal(),
        };
        return Err(Failure::new(Exit::Usage, words).hint(msg::use_ls()));
    }
    let client = Client::new(server)?;
    // Before the terminal is taken: what is wrong now is said as by any other verb.
    let first = source(&client, &model.tasks.wanted)?;
    let (tell, told) = sync_channel(QUEUE);
    feeds::signals(tell.clone()).map_err(|cause| no_terminal(&cause))?;
    let mut screen = Screen::take().map_err(|cause| no_terminal(&cause))?;
    let size = screen.terminal().size().map_err(|cause| no_terminal(&cause))?;
    model.size = (size.width, size.height);
    let changed = ChangeFlag::default();
    feeds::keys(tell.clone());
    feeds::events(Client::new(server)?, tell.clone(), changed.clone());
    let ask = requests::reader(client, ListSource::clone(source), tell.clone());
    let mut lists = Pace::new(BETWEEN_LISTS);
    lists.begin(Instant::now());
    let mut running = TopLoop {
        server: server.map(str::to_owned),
        palette: Palette { has_colours: colour::wanted(&io::stdout()) },
        frames: Pace::new(BETWEEN_FRAMES),
        lists,
        readings: Pace::new(BETWEEN_READINGS),
        log_wanted: None,
        log: None,
        model,
        screen,
        changed,
        ask,
        tell,
    };
    running.run(&told, first)
}

struct TopLoop {
    server: Option<String>,
    model: TopModel,
    screen: Screen,
    palette: Palette,
    frames: Pace,
    lists: Pace,
    readings: Pace,
    /// Which log is to be read from when on.
    log_wanted: Option<(Instant, Option<LogSubject>)>,
    log: Option<LogReader>,
    changed: ChangeFlag,
    ask: Sender<Fetch>,
    tell: SyncSender<Happening>,
}

impl TopLoop {
    fn run(&mut self, told: &Receiver<Happening>, first: Overview) -> Result<ExitCode, Failure> {
        let mut happening = Some(Happening::Tasks(Box::new(Ok(first))));
        loop {
            if let Some(happening) = happening.take()
                && let Some(end) = self.take(happening)
            {
                return end;
            }
            self.do_what_is_due(Instant::now()).map_err(|cause| no_terminal(&cause))?;
            let now = Instant::now();
            happening = match self.next_due(now) {
                None => told.recv().ok(),
                Some(due) => told.recv_timeout(due.saturating_duration_since(now)).ok(),
            };
        }
    }

    /// `Some` when it is over.
    fn take(&mut self, happening: Happening) -> Option<Result<ExitCode, Failure>> {
        let input = match happening {
            Happening::Input(input) => input,
            Happening::Changed => {
                self.changed.lower();
                self.lists.want();
                return None;
            }
            Happening::Tasks(answer) => {
                self.lists.done();
                match *answer {
                    Ok(overview) => TopInput::Tasks(Box::new(overview)),
                    Err(failure) => self.not_read(&failure)?,
                }
            }
            Happening::Gpus(answer) => {
                self.readings.done();
                self.readings.want();
                match answer {
                    Ok((gpus, holders)) => TopInput::Gpus { gpus, holders },
                    Err(failure) => self.not_read(&failure)?,
                }
            }
            Happening::Signal(SIGTSTP) => return self.suspend(),
            Happening::Signal(SIGCONT) => return self.resume(),
            Happening::Signal(signal) => {
                let status = u8::try_from(128 + signal).unwrap_or(1);
                return Some(Ok(ExitCode::from(status)));
            }
            Happening::Over(failure) => return Some(Err(failure)),
        };
        #[cfg(debug_assertions)]
        panic_if_asked(&input);
        self.frames.want();
        let orders = self.model.take(input, Timestamp::now());
        orders.into_iter().find_map(|order| self.carry_out(order))
    }

    /// The list is asked for again; whether the server is there is told by the stream of events.
    fn not_read(&mut self, failure: &Failure) -> Option<TopInput> {
        let is_away = failure.status() == Exit::Unreachable as u8;
        if is_away {
            self.lists.want();
        }
        (!is_away).then(|| TopInput::Word(failure.message().to_owned()))
    }

    fn carry_out(&mut self, order: TopOrder) -> Option<Result<ExitCode, Failure>> {
        match order {
            TopOrder::Quit => return Some(Ok(ExitCode::SUCCESS)),
            TopOrder::Suspend => return self.suspend(),
            TopOrder::FetchTasks => self.lists.want_now(),
            TopOrder::ReadLog(subject) => {
                self.log = None;
                self.log_wanted = Some((Instant::now() + SETTLED, subject));
            }
            TopOrder::Explain { task } => {
                requests::explain(self.server.clone(), task, self.tell.clone());
            }
            TopOrder::Act(act) => requests::act(self.server.clone(), act, self.tell.clone()),
        }
        None
    }

    fn do_what_is_due(&mut self, now: Instant) -> io::Result<()> {
        if self.model.is_up() {
            if self.lists.begin(now) {
                // The reader is there as long as this loop.
                let _ = self.ask.send(Fetch::Tasks(self.model.tasks.wanted.clone()));
            }
            if self.readings.begin(now) {
                match self.model.screen {
                    TopScreen::Top => drop(self.ask.send(Fetch::Gpus)),
                    // How long tasks have run is drawn anew.
                    TopScreen::List => {
                        self.readings.done();
                        self.readings.want();
                        self.frames.want();
                    }
                }
            }
        }
        if let Some((_, subject)) = self.log_wanted.take_if(|(due, _)| *due <= now)
            && let Some(subject) = subject
        {
            let reader = LogReader::start(self.server.as_deref(), subject, self.tell.clone());
            self.log = reader.ok();
        }
        if self.frames.begin(now) {
            let (model, palette) = (&self.model, self.palette);
            let drawn = Timestamp::now();
            self.screen.terminal().draw(|frame| draw(frame, model, palette, drawn))?;
            self.frames.done();
        }
        Ok(())
    }

    fn next_due(&self, now: Instant) -> Option<Instant> {
        let asked = [self.lists.due(now), self.readings.due(now)];
        let asked = asked.into_iter().flatten().filter(|_| self.model.is_up());
        let log = self.log_wanted.map(|(due, _)| due);
        asked.chain(self.frames.due(now)).chain(log).min()
    }

    /// Returns when the shell has brought the program back.
    fn suspend(&mut self) -> Option<Result<ExitCode, Failure>> {
        terminal::give_back();
        let stopped = emulate_default_handler(SIGTSTP);
        stopped.err().map(|cause| Err(no_terminal(&cause))).or_else(|| self.resume())
    }

    fn resume(&mut self) -> Option<Result<ExitCode, Failure>> {
        terminal::give_back();
        if let Err(cause) = self.screen.enter() {
            return Some(Err(no_terminal(&cause)));
        }
        if let Ok(size) = self.screen.terminal().size() {
            self.model.take(TopInput::Resized(size.width, size.height), Timestamp::now());
        }
        self.lists.want();
        self.frames.want();
        None
    }
}

fn no_terminal(cause: &io::Error) -> Failure {
    Failure::new(Exit::Internal, msg::terminal_failed(cause)).hint(msg::use_ls())
}

/// For the test that a panic leaves the terminal as it was.
#[cfg(debug_assertions)]
fn panic_if_asked(input: &TopInput) {
    use ratatui::crossterm::event::KeyCode;
    let asked = std::env::var_os("DANLU_TEST_PANIC").is_some();
    if let TopInput::Key(key) = input {
        assert!(!asked || key.code != KeyCode::Char('P'), "asked for by DANLU_TEST_PANIC");
    }
}

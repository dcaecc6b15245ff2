//! The threads that tell the screen what happens: keys, signals, and the events of the server.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::SyncSender,
    },
    thread,
    time::Duration,
};

use danlu_wire::api::ErrorCode;
use ratatui::crossterm::event::{self, Event as TerminalEvent};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP},
    iterator::Signals,
};

use super::{Happening, TopInput};
use crate::{
    client::{Client, Events, Problem, bytes_of},
    failure::Failure,
};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Events are told once until the screen has looked at them, however many they are.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeFlag(Arc<AtomicBool>);

impl ChangeFlag {
    fn raise(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    pub(super) fn lower(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

pub(super) fn keys(told: SyncSender<Happening>) {
    thread::spawn(move || {
        loop {
            let input = match event::read() {
                Ok(TerminalEvent::Key(key)) => TopInput::Key(key),
                Ok(TerminalEvent::Mouse(mouse)) => TopInput::Mouse(mouse),
                Ok(TerminalEvent::Resize(columns, rows)) => TopInput::Resized(columns, rows),
                Ok(TerminalEvent::FocusGained | TerminalEvent::FocusLost) => continue,
                Ok(TerminalEvent::Paste(_)) => continue,
                // The terminal is gone.
                Err(_) => {
                    let _ = told.send(Happening::Signal(SIGHUP));
                    return;
                }
            };
            if told.send(Happening::Input(input)).is_err() {
                return;
            }
        }
    });
}

pub(super) fn signals(told: SyncSender<Happening>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if told.send(Happening::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Tries again and again while the server is away.
pub(super) fn events(client: Client, told: SyncSender<Happening>, changed: ChangeFlag) {
    thread::spawn(move || {
        let mut pause = FIRST_PAUSE;
        loop {
            let happening = match client.open("/events", "text/event-stream") {
                Ok(answer) => {
                    pause = FIRST_PAUSE;
                    if told.send(Happening::Input(TopInput::Back)).is_err() {
                        return;
                    }
                    let mut events = Events::new(bytes_of(answer));
                    while let Ok(Some(_)) = events.next() {
                        if changed.raise() && told.send(Happening::Changed).is_err() {
                            return;
                        }
                    }
                    Happening::Input(TopInput::Away)
                }
                Err(problem) if is_final(&problem) => Happening::Over(Failure::from(problem)),
                Err(_) => Happening::Input(TopInput::Away),
            };
            if told.send(happening).is_err() {
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    });
}

/// The server has answered, and would not answer otherwise later.
fn is_final(problem: &Problem) -> bool {
    matches!(problem.code(), Some(ErrorCode::NotPermitted | ErrorCode::Unauthenticated))
}

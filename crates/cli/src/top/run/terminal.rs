//! The terminal while the screen is shown, and as it was before at every way out.

use std::{
    io::{self, BufWriter, IsTerminal as _, Stdout, Write as _},
    panic, process,
    sync::atomic::{AtomicBool, Ordering},
};

use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        execute,
        style::Print,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
    layout::Rect,
};

/// Clicks and the wheel, in SGR form. Not the moves of the pointer: they would be sent over every slow line.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// A frame is one write.
const FRAME: usize = 64 << 10;

/// Whether the terminal is ours now; also for a panic in another thread.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back when it is dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

/// Keys come from the one, frames go to the other.
pub(super) fn is_there() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb
}

impl Screen {
    pub(super) fn take() -> io::Result<Screen> {
        give_back_before_panics();
        let out = BufWriter::with_capacity(FRAME, io::stdout());
        let terminal = Terminal::new(CrosstermBackend::new(out))?;
        let mut screen = Screen { terminal };
        screen.enter()?;
        Ok(screen)
    }

    /// Also after something else had the terminal.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        TAKEN.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Print(MOUSE_ON))?;
        // Not `clear`: it asks the terminal for its cursor, and the thread that reads keys would take the answer.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    pub(super) fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<BufWriter<Stdout>>> {
        &mut self.terminal
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Once, whoever is first.
pub(super) fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // The terminal may be gone.
    let _ = execute!(io::stdout(), Print(MOUSE_OFF), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}

/// A panic of any thread ends the program: its message must be readable, and the terminal usable.
fn give_back_before_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if TAKEN.load(Ordering::SeqCst) {
            give_back();
            usual(panic);
            process::exit(101);
        }
        usual(panic);
    }));
}

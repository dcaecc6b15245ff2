//! A terminal that a test can type into and look at: tmux, with a server of its own.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::support::danlu::{BUILT, LONGEST};

pub(crate) struct Terminal {
    directory: TempDir,
}

/// What a full-screen program changes about a terminal, and must leave as it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TerminalState {
    /// Every setting of the line, as `stty -a` tells them.
    settings: String,
    /// Alternate screen, mouse reports, visible cursor.
    modes: String,
    prompt: String,
}

/// The first line of a shell that is ready.
const PROMPT: &str = "ready$";

impl Terminal {
    /// With a shell in it; `None` where tmux is not installed.
    pub(crate) fn open(columns: u16, rows: u16, variables: &[(&str, &str)]) -> Option<Terminal> {
        if !Path::new("/usr/bin/tmux").exists() {
            return None;
        }
        let terminal = Terminal { directory: tempfile::tempdir().expect("a temporary directory") };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut words = vec!["new-session", "-d", "-x", &columns, "-y", &rows];
        let variables: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        variables.iter().for_each(|variable| words.extend(["-e", variable]));
        let settings = terminal.directory.path().join("bashrc");
        let danlu = format!("danlu() {{ {BUILT} \"$@\"; }}");
        fs::write(&settings, format!("PS1='{PROMPT} '\n{danlu}\n")).expect("it can be written");
        let shell = format!("exec bash --noprofile --rcfile {} -i", settings.display());
        words.extend(["-e", "TZ=UTC", &shell]);
        terminal.tmux(&words);
        terminal.until_shows(PROMPT);
        Some(terminal)
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command.arg("-u").arg("-S").arg(self.directory.path().join("socket"));
        let said = command.args(["-f", "/dev/null"]).args(words).output().expect("tmux runs");
        assert!(said.status.success(), "{words:?}: {said:?}");
        String::from_utf8(said.stdout).expect("tmux says text")
    }

    /// Keys as tmux names them: `Enter`, `C-c`, `PageDown`, or text.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// A command line.
    pub(crate) fn enter(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.press(&["Enter"]);
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    #[track_caller]
    pub(crate) fn until_shows(&self, words: &str) {
        self.until(words, |screen| screen.contains(words));
    }

    #[track_caller]
    pub(crate) fn until(&self, what: &str, so: impl Fn(&str) -> bool) {
        let since = Instant::now();
        loop {
            let screen = self.screen();
            if so(&screen) {
                return;
            }
            assert!(since.elapsed() < LONGEST, "waited in vain for {what:?} on:\n{screen}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Of the shell that waits for a command.
    pub(crate) fn state(&self) -> TerminalState {
        let ask = |format: &str| self.tmux(&["display-message", "-p", format]).trim().to_owned();
        let tty = ask("#{pane_tty}");
        let stty = Command::new("stty").args(["-a", "-F", &tty]).output().expect("stty runs");
        TerminalState {
            settings: String::from_utf8(stty.stdout).expect("stty says text"),
            modes: ask("#{alternate_on} #{mouse_any_flag} #{mouse_sgr_flag} #{cursor_flag}"),
            prompt: self.screen().lines().next().unwrap_or_default().to_owned(),
        }
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

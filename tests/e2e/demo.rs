//! `danlu demo`.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, ChildStdout, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use crate::support::danlu::command;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

/// Nothing in here takes longer, even on a machine that has other things to do.
const LONGEST: Duration = Duration::from_secs(90);

/// A demo whose temporary directory is the test's.
struct Demo {
    scratch: TempDir,
    child: Child,
    lines: mpsc::Receiver<String>,
    said: String,
}

impl Demo {
    fn start(language: &str, arguments: &[&str], open_to_others: bool) -> Self {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let mode = if open_to_others { 0o711 } else { 0o700 };
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(mode)).expect("it is ours");
        let mut child = command(language)
            .arg("demo")
            .args(arguments)
            .env("TMPDIR", scratch.path())
            // Of another server: none of it may matter.
            .env("DANLU_SERVER", "/nowhere/danlu.sock")
            .env("DANLU_TOKEN", "of somewhere else")
            .env("DANLU_SIM_GPUS", "none")
            .env("DANLU_CONFIG", "/nowhere/danlu.toml")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let lines = lines_of(child.stdout.take().expect("it was piped"));
        Self { scratch, child, lines, said: String::new() }
    }

    /// Reads on until a line has these words in it.
    #[track_caller]
    fn read_until(&mut self, words: &str) {
        let since = Instant::now();
        loop {
            let left = LONGEST.saturating_sub(since.elapsed());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("`{words}` is not said:\n{}", self.said));
            self.said += &line;
            if line.contains(words) {
                return;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        kill(pid, signal).expect("it runs");
    }

    /// What it said and its status; nothing of it may be left.
    #[track_caller]
    fn end(mut self) -> (String, i32) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            if since.elapsed() > LONGEST {
                let _ = self.child.kill();
                panic!("it does not end:\n{}", self.said);
            }
            thread::sleep(Duration::from_millis(10));
        };
        self.said.extend(self.lines.iter());
        let mut errors = String::new();
        let stderr = self.child.stderr.as_mut().expect("it was piped");
        stderr.read_to_string(&mut errors).expect("it is text");
        assert_eq!(errors, "", "{}", self.said);
        let left = fs::read_dir(self.scratch.path()).expect("it is ours").count();
        assert_eq!(left, 0, "files are left:\n{}", self.said);
        assert_eq!(processes_of(self.scratch.path()), Vec::<String>::new(), "{}", self.said);
        let status = status.code().expect("no signal ends it");
        (std::mem::take(&mut self.said), status)
    }
}

fn lines_of(stdout: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        while stdout.read_line(&mut line).is_ok_and(|count| count > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                // The test has seen enough: whoever writes on notices.
                return;
            }
        }
    });
    lines
}

/// Whoever has this directory in its command or in its environment.
fn processes_of(directory: &Path) -> Vec<String> {
    let directory = directory.to_str().expect("a plain name");
    let processes = fs::read_dir("/proc").expect("Linux has it");
    let mine = |process: &fs::DirEntry| {
        ["cmdline", "environ"].iter().any(|file| {
            let bytes = fs::read(process.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains(directory)
        })
    };
    let command = |process: fs::DirEntry| {
        let bytes = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    processes.filter_map(Result::ok).filter(mine).map(command).collect()
}

#[test]
fn the_tour_shows_everything_in_both_languages_and_leaves_nothing() {
    let check = |language, expect: &[&str]| {
        let demo = Demo::start(language, &["--once"], true);
        let (said, status) = demo.end();
        assert_eq!(status, 0, "{said}");
        for words in expect {
            assert!(said.contains(words), "no `{words}` in:\n{said}");
        }
        let widest = said.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{said}");
        assert!(!said.contains('\x1b'), "colours without a terminal:\n{said}");
    };
    check(
        "en",
        &[
            "Danlu demo",
            "danlu submit -J prepare -g 0 prepare.sh",
            "prepare     running",
            "train       blocked    after 1",
            "succeeded  after 1.",
            "train       running    on GPU",
            "failed     could not start: command not found: `pyhton`",
            "danlu why 10",
            "task 10 (big) ",
            "big         running    on GPU",
            "tune        queued     for a running task to end",
            "report      blocked    after 10",
            "danlu ls -a",
            "WHY / WHERE",
            "6 succeeded",
            "export DANLU_SERVER=/",
            "danlu logs -f 10",
            "listens on http://127.0.0.1:",
            "all gone",
        ],
    );
    check(
        "zh",
        &[
            "丹炉演示",
            "受阻  等待任务 1",
            "失败  无法启动",
            "任务 10（big）",
            "6 个成功",
            "已全部清除",
        ],
    );
}

#[test]
fn two_users_submit_where_that_is_possible() {
    let demo = Demo::start("en", &["--once"], true);
    let two = nix::unistd::geteuid().is_root();
    let (said, _) = demo.end();
    assert_eq!(said.contains("tasks of two users: "), two, "{said}");
    if !two {
        crate::support::danlu::skip("only root can be several users");
    }
}

#[test]
fn one_user_submits_where_others_cannot_reach_the_server() {
    let demo = Demo::start("en", &["--once"], false);
    let (said, status) = demo.end();
    assert!(said.contains("the tasks are yours, ") && status == 0, "{said}");
}

#[test]
fn the_demo_stays_until_ctrl_c() {
    let mut demo = Demo::start("en", &[], true);
    demo.read_until("Ctrl-C ends all of it");
    demo.signal(Signal::SIGINT);
    let (said, status) = demo.end();
    assert_eq!(status, 0, "{said}");
}

#[test]
fn ctrl_c_in_the_middle_leaves_nothing() {
    for words in ["Danlu demo", "-J prepare", "-J sweep", "why 10"] {
        let mut demo = Demo::start("en", &["--once"], true);
        demo.read_until(words);
        demo.signal(Signal::SIGINT);
        let (said, status) = demo.end();
        assert_eq!(status, 130, "{said}");
        assert!(!said.contains("Try it, in another terminal"), "{said}");
    }
}

#[test]
fn the_demo_ends_on_a_signal_or_when_its_terminal_is_closed() {
    let mut demo = Demo::start("en", &[], true);
    demo.read_until("Ctrl-C ends all of it");
    demo.signal(Signal::SIGTERM);
    assert_eq!(demo.end().1, 0);

    let mut demo = Demo::start("en", &[], true);
    demo.read_until("Ctrl-C ends all of it");
    drop(demo.child.stdin.take());
    assert_eq!(demo.end().1, 0);

    // `danlu demo | head -1`.
    let mut demo = Demo::start("en", &[], true);
    demo.read_until("Danlu demo");
    drop(std::mem::replace(&mut demo.lines, mpsc::channel().1));
    assert_eq!(demo.end().1, 130);
}

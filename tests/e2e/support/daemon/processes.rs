//! Processes as `/proc` shows them, identified by a word that only those of one test have.

use std::{fs, thread, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) pid: i32,
    pub(crate) command: String,
}

/// Those that have the word in their environment or their command line. Zombies have neither.
pub(crate) fn with(word: &str) -> Vec<Found> {
    let entries = fs::read_dir("/proc").expect("there is /proc");
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let own = i32::try_from(std::process::id()).expect("a process id");
    let pids = entries.filter_map(Result::ok).filter_map(pid).filter(|pid| *pid != own);
    pids.filter_map(|pid| {
        let read = |name| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let line = read("cmdline");
        let has = |content: &[u8]| content.windows(word.len()).any(|part| part == word.as_bytes());
        (has(&line) || has(&read("environ"))).then(|| {
            let command = String::from_utf8_lossy(&line).replace('\0', " ");
            Found { pid, command }
        })
    })
    .collect()
}

/// Kills them until there are none, for a test that leaves early.
pub(super) fn end_all_with(word: &str) {
    for _ in 0..500 {
        let left = with(word);
        if left.is_empty() {
            return;
        }
        for found in left {
            let _ = kill(Pid::from_raw(found.pid), Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

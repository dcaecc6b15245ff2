//! An agent with its own root, and the messages it has sent.

use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::run::RunUsage;
use danlu_core::run::{Ending, Exit, ReportedState};
use danlu_core::{Epoch, RunId, Span, TaskId, Trouble};
use danlu_node::{Agent, Inventory, RunRoot, Settings};
use danlu_wire::launch::{Command, Environment};
use danlu_wire::{FromAgent, Hello, LaunchOrder, StopWhy, ToAgent};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Far beyond what anything here takes; a test that meets it has failed.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) cgroups: bool,
    agent: Option<Agent>,
    notices: Receiver<FromAgent>,
    started: BTreeMap<RunId, u32>,
    ended: BTreeMap<RunId, (Ending, RunUsage)>,
    report: Option<NodeReport>,
    /// What it has said of itself, the newest last.
    fitness: Vec<Option<Trouble>>,
    /// Whose logs are gone, as the agent says.
    pub(crate) dropped_logs: Vec<RunId>,
    last: u64,
    mounted: bool,
}

impl World {
    pub(crate) fn new() -> World {
        World::start(true)
    }

    pub(crate) fn without_cgroups() -> World {
        World::start(false)
    }

    /// `None`, and it says so, where file systems cannot be mounted.
    pub(crate) fn on_a_small_disk() -> Option<World> {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("node");
        fs::create_dir(&root).unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k,mode=711", "danlu-test"])
            .arg(&root)
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("skipped: a small file system cannot be mounted here");
            return None;
        }
        let mut world = World::with(directory, true);
        world.mounted = true;
        Some(world)
    }

    fn start(cgroups: bool) -> World {
        World::with(tempfile::tempdir().unwrap(), cgroups)
    }

    fn with(directory: tempfile::TempDir, cgroups: bool) -> World {
        // Other users must be able to come here.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut world = World {
            directory,
            cgroups,
            agent: None,
            notices: channel().1,
            started: BTreeMap::new(),
            ended: BTreeMap::new(),
            report: None,
            fitness: Vec::new(),
            dropped_logs: Vec::new(),
            last: 0,
            mounted: false,
        };
        world.start_agent();
        world
    }

    pub(crate) fn start_agent(&mut self) {
        let (said, notices) = channel();
        let settings = settings(&self.root_path(), self.cgroups, move |notice| {
            // The test may be over.
            let _ = said.send(notice);
        });
        self.agent = Some(Agent::start(settings).unwrap());
        self.notices = notices;
    }

    /// Its runs go on.
    pub(crate) fn end_agent(&mut self) {
        self.agent = None;
    }

    pub(crate) fn agent(&self) -> &Agent {
        self.agent.as_ref().unwrap()
    }

    pub(crate) fn root_path(&self) -> PathBuf {
        self.directory.path().join("node")
    }

    pub(crate) fn root(&self) -> RunRoot {
        RunRoot::open(&self.root_path()).unwrap()
    }

    pub(crate) fn run_path(&self, run: RunId) -> PathBuf {
        self.root_path().canonicalize().unwrap().join("runs").join(run.to_string())
    }

    /// A file for the test, not of the agent.
    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn order(&mut self, command: Command) -> LaunchOrder {
        self.last += 1;
        let run = RunId { epoch: Epoch(1), number: self.last };
        let directory = self.directory.path().to_str().unwrap();
        let mut order = LaunchOrder::new(run, TaskId(self.last + 100), command, directory);
        order.environment = Environment(vec![self.mark(), "PATH=/usr/bin:/bin".to_owned()]);
        order.grace = Span::from_secs(5);
        order.node = "here".to_owned();
        order
    }

    /// In the environment of everything that this world starts.
    fn mark(&self) -> String {
        format!("TEST_MARK={}", self.directory.path().display())
    }

    pub(crate) fn shell(&mut self, line: &str) -> LaunchOrder {
        self.order(Command::Shell {
            shell: "/bin/sh".to_owned(),
            line: line.to_owned(),
            of_user: false,
        })
    }

    pub(crate) fn argv(&mut self, words: &[&str]) -> LaunchOrder {
        self.order(Command::Argv(words.iter().map(|&word| word.to_owned()).collect()))
    }

    pub(crate) fn send(&self, order: ToAgent) {
        self.agent().send(order).unwrap();
    }

    pub(crate) fn launch(&self, order: &LaunchOrder) -> RunId {
        self.send(ToAgent::Launch(Box::new(order.clone())));
        order.run
    }

    pub(crate) fn launch_shell(&mut self, line: &str) -> RunId {
        let order = self.shell(line);
        self.launch(&order)
    }

    pub(crate) fn stop(&self, run: RunId, grace: Span) {
        self.send(ToAgent::Stop { run, why: StopWhy::Cancelled, grace });
    }

    fn hear(&mut self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.notices.recv_timeout(left).expect("the agent says something in time") {
            FromAgent::Started { run, leader, .. } => {
                assert_eq!(self.started.insert(run, leader), None, "{run} started twice");
                assert!(!self.ended.contains_key(&run), "{run} started after its end");
            }
            FromAgent::Ended { run, ending, used } => {
                assert_eq!(self.ended.insert(run, (ending, used)), None, "{run} ended twice");
            }
            FromAgent::Report(report) => self.report = Some(report),
            FromAgent::Fitness { trouble } => self.fitness.push(trouble),
            FromAgent::LogDropped { run } => self.dropped_logs.push(run),
            other => panic!("{other:?}"),
        }
    }

    /// The process id of its command.
    pub(crate) fn started(&mut self, run: RunId) -> u32 {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(leader) = self.started.get(&run) {
                return *leader;
            }
            assert!(!self.ended.contains_key(&run), "{:?}", self.ended[&run]);
            self.hear(deadline);
        }
    }

    pub(crate) fn ended(&mut self, run: RunId) -> Ending {
        self.used(run).0
    }

    pub(crate) fn used(&mut self, run: RunId) -> (Ending, RunUsage) {
        let deadline = Instant::now() + DEADLINE;
        while !self.ended.contains_key(&run) {
            self.hear(deadline);
        }
        self.ended[&run].clone()
    }

    pub(crate) fn exit(&mut self, run: RunId) -> Exit {
        self.ended(run).exit
    }

    pub(crate) fn is_started(&self, run: RunId) -> bool {
        self.started.contains_key(&run)
    }

    /// What was said of it is no longer of interest.
    pub(crate) fn forget_notices(&mut self, run: RunId) {
        self.started.remove(&run);
        self.ended.remove(&run);
    }

    /// Asks for one.
    pub(crate) fn report(&mut self) -> BTreeMap<RunId, ReportedState> {
        self.whole_report().runs.into_iter().map(|report| (report.run, report.state)).collect()
    }

    pub(crate) fn whole_report(&mut self) -> NodeReport {
        self.report = None;
        self.send(ToAgent::AskReport);
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(report) = self.report.take() {
                return report;
            }
            self.hear(deadline);
        }
    }

    /// A new connection, which is answered.
    pub(crate) fn greet(&mut self, hello: Hello) {
        self.send(ToAgent::Hello(hello));
        let said = self.notices.recv_timeout(DEADLINE).unwrap();
        assert!(matches!(said, FromAgent::Hello(_)), "{said:?}");
    }

    /// The next that it says of its fitness.
    pub(crate) fn fitness(&mut self) -> Option<Trouble> {
        let deadline = Instant::now() + DEADLINE;
        while self.fitness.is_empty() {
            self.hear(deadline);
        }
        self.fitness.remove(0)
    }

    /// Runs a command to its end.
    pub(crate) fn run(&mut self, order: &LaunchOrder) -> Exit {
        let run = self.launch(order);
        self.exit(run)
    }

    pub(crate) fn log(&self, run: RunId) -> String {
        self.root().log_path(run).map_or_else(String::new, |path| fs::read_to_string(path).unwrap())
    }

    /// Runs a shell line that succeeds, and gives back what it wrote.
    pub(crate) fn output_of(&mut self, order: &LaunchOrder) -> String {
        let exit = self.run(order);
        let log = self.log(order.run);
        assert_eq!(exit, Exit::Code(0), "{log}");
        log
    }

    /// Living processes with the mark of this world, by id. An opinion from outside.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = self.mark();
        let marked = |pid: &u32| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|content| {
                content.split(|&byte| byte == 0).any(|one| one == mark.as_bytes())
            })
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
            .filter(marked)
            .collect()
    }

    #[track_caller]
    pub(crate) fn check_nothing_left(&self) {
        let left = self.processes();
        let shown: Vec<String> = left
            .iter()
            .map(|pid| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default())
            .collect();
        assert!(left.is_empty(), "left: {left:?}\n{}", shown.join("\n"));
        let groups = self.groups();
        assert!(groups.is_empty(), "left: {groups:?}");
    }

    /// Control groups of this world's runs that hold processes or merely exist.
    fn groups(&self) -> Vec<PathBuf> {
        let states: Vec<String> = fs::read_dir(self.root_path().join("runs"))
            .unwrap()
            .filter_map(|entry| fs::read_to_string(entry.unwrap().path().join("state.json")).ok())
            .collect();
        states
            .iter()
            .filter_map(|state| {
                let state: serde_json::Value = serde_json::from_str(state).ok()?;
                Some(PathBuf::from(state["cgroups"]["unified"].as_str()?))
            })
            .filter(|path| path.exists())
            .collect()
    }

    pub(crate) fn fifo(&self, name: &str) -> Fifo {
        Fifo::new(&self.directory.path().join(name))
    }

    pub(crate) fn shim_of(&self, run: RunId) -> u32 {
        let state = fs::read_to_string(self.run_path(run).join("state.json")).unwrap();
        let state: serde_json::Value = serde_json::from_str(&state).unwrap();
        state["shim"]["pid"].as_u64().unwrap().try_into().unwrap()
    }
}

impl Drop for World {
    /// Nothing outlives its test, whatever became of the test.
    fn drop(&mut self) {
        if self.agent.is_none() && !std::thread::panicking() {
            self.start_agent();
        }
        if self.agent.is_some() && !std::thread::panicking() {
            for (run, state) in self.report() {
                if matches!(state, ReportedState::Alive { .. }) {
                    self.stop(run, Span::ZERO);
                    self.ended(run);
                }
            }
            self.check_nothing_left();
        }
        self.agent = None;
        for pid in self.processes() {
            kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
        if self.mounted {
            let unmounted =
                std::process::Command::new("umount").arg("-l").arg(self.root_path()).status();
            println!("unmounted: {}", unmounted.unwrap());
        }
    }
}

pub(crate) fn settings(
    root: &Path,
    cgroups: bool,
    notice: impl FnMut(FromAgent) + Send + 'static,
) -> Settings {
    let inventory = || Inventory {
        capacity: Capacity { cpus: 2, memory: 1 << 30 },
        free_memory: None,
        gpus: Vec::new(),
    };
    Settings {
        root: root.to_owned(),
        cgroups,
        inventory: Box::new(inventory),
        notice: Box::new(notice),
    }
}

pub(crate) fn kill(pid: u32, signal: nix::sys::signal::Signal) {
    let pid = nix::unistd::Pid::from_raw(pid.try_into().unwrap());
    let _ = nix::sys::signal::kill(pid, signal);
}

/// A command says something, and a test waits for it.
pub(crate) struct Fifo {
    pub(crate) path: String,
    reader: BufReader<fs::File>,
}

impl Fifo {
    fn new(path: &Path) -> Fifo {
        nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
        // Also for writing: it is then never at its end, and nobody waits to open it.
        let file = fs::File::options()
            .read(true)
            .write(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(path)
            .unwrap();
        Fifo { path: path.to_str().unwrap().to_owned(), reader: BufReader::new(file) }
    }

    pub(crate) fn line(&mut self) -> String {
        self.line_within(DEADLINE).expect("the command says something in time")
    }

    /// `None` when nothing comes for so long.
    pub(crate) fn line_within(&mut self, wait: Duration) -> Option<String> {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        let mut line = String::new();
        let deadline = Instant::now() + wait;
        loop {
            match self.reader.read_line(&mut line) {
                Ok(_) if line.ends_with('\n') => return Some(line.trim_end().to_owned()),
                Ok(_) => {}
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
            let left = deadline.saturating_duration_since(Instant::now()).as_millis();
            if left == 0 {
                return None;
            }
            let mut ready = [PollFd::new(self.reader.get_ref().as_fd(), PollFlags::POLLIN)];
            poll(&mut ready, PollTimeout::try_from(left).unwrap()).unwrap();
        }
    }

    /// What has been said is heard, and then nothing is said for a while.
    pub(crate) fn check_falls_silent(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        while self.line_within(Duration::from_millis(300)).is_some() {
            assert!(Instant::now() < deadline, "it goes on and on");
        }
    }
}

pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

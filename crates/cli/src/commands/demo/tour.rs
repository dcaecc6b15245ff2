//! The steps of the tour, in their order.

use std::{
    env, fs, io,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use danlu_messages::cli::demo as msg;
use danlu_wire::api::{TaskStateName, TaskView};
use jiff::Timestamp;

use super::{
    choose_gpus,
    interrupt::{Interrupt, Stop},
    server::DemoServer,
    task_changes::TaskChanges,
    tell,
    users::{self, DemoUser},
};
use crate::{
    client::{Client, Query},
    failure::{Exit, Failure},
    screen::{
        colour::{self, Colour},
        width,
    },
};

/// Between two looks at the tasks.
const LOOK: Duration = Duration::from_millis(40);
/// To read what was said before more comes.
const READING: Duration = Duration::from_millis(700);
/// For what takes seconds; longer and something is wrong.
const LONGEST: Duration = Duration::from_secs(30);

pub(super) fn show(interrupt: &Interrupt, once: bool, seen_all: &mut bool) -> Result<(), Stop> {
    let (server, gpus) = choose_gpus::start(interrupt)?;
    let path = server.data.parent().unwrap_or(&server.data).display().to_string();
    let shown = Tour::new(&server, interrupt).and_then(|mut tour| {
        tour.go(gpus)?;
        *seen_all = true;
        if once { Ok(()) } else { tour.stay(&path) }
    });
    // The terminal may be closed.
    let on = colour::wanted(&io::stdout());
    let words = msg::ending_the_tasks_and_the_server();
    let _ = tell(&format!("{}\n", colour::paint(words, Some(Colour::Dim), on)));
    server.end()?;
    let words = msg::all_gone_path_too(&path);
    let _ = tell(&colour::paint(&words, Some(Colour::Dim), on));
    shown
}

struct Tour<'a> {
    server: &'a DemoServer,
    interrupt: &'a Interrupt,
    client: Client,
    myself: DemoUser,
    users: [DemoUser; 2],
    changes: TaskChanges,
}

impl<'a> Tour<'a> {
    fn new(server: &'a DemoServer, interrupt: &'a Interrupt) -> Result<Self, Stop> {
        let users = users::two(&server.data, &server.lab);
        Ok(Self {
            client: server.client()?,
            server,
            interrupt,
            myself: DemoUser::myself(),
            users,
            changes: TaskChanges::since(Timestamp::now()),
        })
    }

    fn go(&mut self, gpus: u32) -> Result<(), Stop> {
        let [ann, bo] = self.users.clone();
        if ann.name == bo.name {
            let me = &ann.name;
            tell(&msg::your_tasks(&me))?;
        } else {
            let (ann, bo) = (&ann.name, &bo.name);
            tell(&msg::tasks_of_two_users_ann_and_bo(&ann, &bo))?;
        }
        let half = (gpus / 2).max(1);

        say_first(msg::two_tasks())?;
        let prepare = self.submit(&ann, "-J prepare -g 0 prepare.sh")?;
        self.submit(&ann, &format!("-J train -g {half} -d afterok:{prepare} train.sh"))?;
        self.look_for(READING)?;

        say_first(msg::array_tour())?;
        self.submit(&bo, "-J sweep -a 0-5%2 sweep.sh")?;
        self.look_for(READING)?;

        say_first(msg::typing_mistake())?;
        let wrong = self.submit(&bo, "-J eval -g 0 -- pyhton eval.py")?;
        self.look_until(|task| task.id != wrong || task.state.is_over())?;
        self.look_for(READING)?;

        say_first(msg::one_that_wants_all())?;
        let big = self.submit(&ann, &format!("-J big -g {gpus} big.sh"))?;
        self.look_for(2 * LOOK)?;
        self.run(&self.myself, &format!("why {big}"))?;
        self.look_until(|task| task.id != big || task.state == TaskStateName::Running)?;

        say_first(msg::those_after_it())?;
        self.submit(&bo, "-J tune -g 1 train.sh")?;
        self.submit(&ann, &format!("-J report -g 0 -d afterok:{big} report.sh"))?;
        self.look_for(READING)?;

        tell("\n")?;
        self.run(&self.myself, "ls -a")?;
        self.invite(big, wrong, half)
    }

    /// What to do next.
    fn invite(&self, big: u64, wrong: u64, half: u32) -> Result<(), Stop> {
        let (data, lab) = (self.server.data.display(), self.server.lab.display());
        let address = &self.server.address;
        let heading = bold(msg::now_you_in_another_terminal());
        let next = big + 1;
        let mut lines = vec![(format!("export DANLU_SERVER={data}"), String::new())];
        if let Some(directory) = directory_to_add() {
            lines.insert(0, (format!("export PATH={directory}:$PATH"), String::new()));
        }
        lines.push((format!("cd {lab}"), String::new()));
        for (command, words) in [
            ("danlu ls -a".to_owned(), msg::next_ls()),
            (format!("danlu why {next}"), msg::next_why()),
            (format!("danlu logs -f {big}"), msg::next_logs()),
            (format!("danlu show {wrong}"), msg::next_show()),
            (format!("danlu cancel {big}"), msg::next_cancel()),
            (format!("danlu submit -g {half} train.sh"), msg::next_submit()),
            ("danlu gpus".to_owned(), msg::next_gpus()),
            ("danlu user passwd".to_owned(), msg::next_passwd()),
        ] {
            lines.push((command, words.to_owned()));
        }
        let mut out = format!("\n{heading}\n");
        let on = colour::wanted(&io::stdout());
        for (command, words) in lines {
            let line = format!("  {command:<28} {}", colour::paint(&words, Some(Colour::Dim), on));
            out += &format!("{}\n", line.trim_end());
        }
        out += &msg::listening_on(&address);
        tell(&out)
    }

    /// Until the person leaves; what they do is shown meanwhile.
    fn stay(&mut self, path: &str) -> Result<(), Stop> {
        let words = msg::ctrl_c_removes(&path);
        tell(&format!("{}\n\n", bold(&words)))?;
        loop {
            self.look()?;
            self.interrupt.wait(5 * LOOK)?;
        }
    }

    /// The id of the task, the first one's of an array.
    fn submit(&mut self, person: &DemoUser, words: &str) -> Result<u64, Stop> {
        self.look()?;
        self.prompt(person, &format!("submit {words}"))?;
        let words: Vec<String> =
            format!("submit -q {words}").split(' ').map(str::to_owned).collect();
        let mut command = person.danlu(&words, &self.server.data, &self.server.lab);
        let output =
            command.stderr(Stdio::inherit()).output().map_err(|cause| odd(&cause.to_string()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let Ok(id) = said.trim().parse() else {
            // Ctrl-C reaches it as well, and a moment earlier.
            self.interrupt.wait(READING)?;
            return Err(odd(&said).into());
        };
        self.look_for(4 * LOOK)?;
        Ok(id)
    }

    /// Talks to the terminal by itself.
    fn run(&self, person: &DemoUser, words: &str) -> Result<(), Stop> {
        self.prompt(person, words)?;
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut command = person.danlu(&words, &self.server.data, &self.server.lab);
        let status = command.status().map_err(|cause| odd(&cause.to_string()))?;
        if !status.success() {
            self.interrupt.wait(READING)?;
            return Err(odd(&status.to_string()).into());
        }
        self.interrupt.wait(READING)
    }

    fn prompt(&self, person: &DemoUser, words: &str) -> Result<(), Stop> {
        let sign = if person.name == "root" { '#' } else { '$' };
        tell(&format!("{}{sign} {}\n", person.name, bold(&format!("danlu {words}"))))
    }

    fn look(&mut self) -> Result<Vec<TaskView>, Stop> {
        let all = self.client.list(&Query { oldest_first: true, ..Query::default() })?;
        let (columns, colour) = (width::of_stdout(), colour::wanted(&io::stdout()));
        for line in self.changes.of(&all, Timestamp::now()) {
            tell(&line.render(columns, colour))?;
        }
        Ok(all)
    }

    fn look_for(&mut self, time: Duration) -> Result<(), Stop> {
        let since = Instant::now();
        while since.elapsed() < time {
            self.look()?;
            self.interrupt.wait(LOOK)?;
        }
        Ok(())
    }

    fn look_until(&mut self, all: impl Fn(&TaskView) -> bool) -> Result<(), Stop> {
        let since = Instant::now();
        while !self.look()?.iter().all(&all) {
            // The user may have cancelled it: the tour goes on.
            if since.elapsed() > LONGEST {
                return Ok(());
            }
            self.interrupt.wait(LOOK)?;
        }
        Ok(())
    }
}

fn say_first(words: &str) -> Result<(), Stop> {
    let on = colour::wanted(&io::stdout());
    tell(&format!("\n{}\n", colour::paint(words, Some(Colour::Yellow), on)))
}

pub(super) fn bold(words: &str) -> String {
    if colour::wanted(&io::stdout()) { format!("\x1b[1m{words}\x1b[0m") } else { words.to_owned() }
}

/// Where this program is, unless a shell would find it anyway.
fn directory_to_add() -> Option<String> {
    let this = env::current_exe().ok()?;
    let directories = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&directories)
        .map(|directory| directory.join("danlu"))
        .find(|file| file.is_file());
    let same = |file: &Path| fs::canonicalize(file).ok() == fs::canonicalize(&this).ok();
    if found.is_some_and(|file| same(&file)) {
        return None;
    }
    Some(this.parent()?.display().to_string())
}

fn odd(words: &str) -> Failure {
    let words = words.trim();
    Failure::new(Exit::Internal, msg::demo_failed(&words))
}

//! `danlu run`: submits a task, prints its output, and exits with its exit code.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender, SyncSender, sync_channel},
    },
    thread,
};

use clap::Args;
use danlu_messages::cli::run as msg;
use danlu_wire::api::{Act, ActName, TaskStateName, TaskView};
use jiff::Timestamp;
use signal_hook::{consts::SIGINT, iterator::Signals};

use super::{
    logs::write,
    submit::{self, NewTask},
    task_output::{FollowEvent, FollowTarget, follow},
    wait,
};
use crate::{
    client::Client,
    failure::{Exit, Failure},
    screen::{self, amounts, clock, places, tasks, vram},
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::usage(),
    after_help = msg::help(),
)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    task: NewTask,

    #[arg(short, long, help_heading = msg::options(), help = msg::say_nothing_but_what_the_task_says())]
    quiet: bool,
}

/// After a detach the code of the task is not known.
const DETACHED: u8 = 130;

pub(crate) fn run(client: Client, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let task = arguments.task.describe(&client)?;
    if task.array.value().is_some() || task.hold.value() == Some(&true) {
        return Err(Failure::new(Exit::Usage, msg::run_follows_one_task_that_may_start())
            .hint(msg::use_danlu_submit_for_array_and_hold()));
    }
    let document = client.submit(&task)?;
    if arguments.task.dry_run {
        return submit::show_dry_run(&document).map(|()| ExitCode::SUCCESS);
    }
    let id = submit::submitted(&document)?.id;
    Session::begin(client, id, arguments.quiet)?.last()
}

/// Prints what a task prints until it ends, and ends as it does. Ctrl-C cancels it; a second one leaves it alone.
pub(crate) fn follow_run(client: Client, id: u64) -> Result<ExitCode, Failure> {
    Session { interrupt_cancels: true, ..Session::begin(client, id, true)? }.last()
}

/// What the main thread waits for.
enum Message {
    Task(Box<TaskView>),
    /// To be acknowledged, so that no more than one piece is under way.
    Bytes(Vec<u8>, SyncSender<()>),
    Ended(Box<TaskView>),
    Failed(Failure),
    Interrupt,
    /// What the person typed.
    Answer(String),
}

struct Session {
    client: Arc<Client>,
    id: u64,
    quiet: bool,
    messages: Receiver<Message>,
    answers: Sender<Message>,
    /// The last thing said about its state.
    said: String,
    cancelled: bool,
    /// Ctrl-C cancels it without a question.
    interrupt_cancels: bool,
}

enum Next {
    GoOn,
    Exit(u8),
}

impl Session {
    fn begin(client: Client, id: u64, quiet: bool) -> Result<Self, Failure> {
        let (sender, messages) = mpsc::channel();
        let client = Arc::new(client);
        listen_for_interrupts(sender.clone())?;
        follow_in_background(Arc::clone(&client), id, sender.clone());
        Ok(Self {
            client,
            id,
            quiet,
            messages,
            answers: sender,
            said: String::new(),
            cancelled: false,
            interrupt_cancels: false,
        })
    }

    fn last(mut self) -> Result<ExitCode, Failure> {
        loop {
            let message = self.messages.recv().expect("this very session keeps a sender");
            match self.take(message)? {
                Next::GoOn => {}
                Next::Exit(code) => return Ok(ExitCode::from(code)),
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<Next, Failure> {
        match message {
            Message::Task(task) => self.say(&state_in_words(&task)),
            Message::Bytes(bytes, acknowledge) => {
                if !write(&bytes)? {
                    return Ok(self.detach());
                }
                // The follower may have given up.
                let _ = acknowledge.send(());
            }
            Message::Ended(task) => {
                self.say(&end_in_words(&task));
                let used = task.details.as_ref().and_then(|it| vram::used_by(&it.runs));
                self.say(&used.map(vram::hint).unwrap_or_default());
                return Ok(Next::Exit(wait::exit_code(&task)));
            }
            Message::Failed(failure) => return Err(failure),
            Message::Interrupt => return self.ask(),
            // It came after the question had been settled.
            Message::Answer(_) => {}
        }
        Ok(Next::GoOn)
    }

    /// Detach, cancel, or go on. What comes meanwhile is kept until the person has answered.
    fn ask(&mut self) -> Result<Next, Failure> {
        if self.interrupt_cancels && !self.cancelled {
            self.cancel()?;
            return Ok(Next::GoOn);
        }
        if self.cancelled || !io::stdin().is_terminal() {
            return Ok(self.detach());
        }
        let question = msg::detach_or_cancel();
        let _ = io::stderr().write_all(question.as_bytes());
        read_answer(self.answers.clone());
        let mut kept = Vec::new();
        let answer = loop {
            match self.messages.recv().expect("this very session keeps a sender") {
                Message::Answer(answer) => break answer,
                // A second Ctrl-C detaches at once.
                Message::Interrupt => {
                    let _ = io::stderr().write_all(b"\n");
                    return Ok(self.detach());
                }
                other @ (Message::Task(_)
                | Message::Bytes(..)
                | Message::Ended(_)
                | Message::Failed(_)) => kept.push(other),
            }
        };
        match answer.trim().to_lowercase().as_str() {
            "d" | "detach" => return Ok(self.detach()),
            "c" | "cancel" => self.cancel()?,
            _ => {}
        }
        for message in kept {
            if let Next::Exit(code) = self.take(message)? {
                return Ok(Next::Exit(code));
            }
        }
        Ok(Next::GoOn)
    }

    fn cancel(&mut self) -> Result<(), Failure> {
        let act = Act::new(ActName::Cancel, vec![self.id]);
        self.client.send("POST", "/tasks/act", &act)?;
        self.cancelled = true;
        Ok(())
    }

    fn detach(&mut self) -> Next {
        let id = self.id;
        self.say(&msg::detached(&id));
        Next::Exit(DETACHED)
    }

    fn say(&mut self, words: &str) {
        if !self.quiet && self.said != words && !words.is_empty() {
            screen::aside(words);
            words.clone_into(&mut self.said);
        }
    }
}

fn listen_for_interrupts(sender: Sender<Message>) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT]).map_err(|cause| {
        Failure::new(Exit::Internal, msg::could_not_wait_for_signals_cause(&cause))
    })?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if sender.send(Message::Interrupt).is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn follow_in_background(client: Arc<Client>, id: u64, sender: Sender<Message>) {
    let subject =
        FollowTarget { id, only_run: None, from_first: true, node: None, stream: None, tail: None };
    thread::spawn(move || {
        let followed = follow(&client, &subject, &mut |news| match news {
            FollowEvent::Task(task) => Ok(sender.send(Message::Task(task)).is_ok()),
            FollowEvent::Bytes(bytes) => {
                let (acknowledge, acknowledged) = sync_channel(1);
                let sent = sender.send(Message::Bytes(bytes, acknowledge)).is_ok();
                Ok(sent && acknowledged.recv().is_ok())
            }
        });
        // The main thread may have left.
        let _ = match followed {
            Ok(Some(task)) => sender.send(Message::Ended(Box::new(task))),
            Ok(None) => Ok(()),
            Err(failure) => sender.send(Message::Failed(failure)),
        };
    });
}

fn read_answer(sender: Sender<Message>) {
    thread::spawn(move || {
        let mut answer = String::new();
        // The end of the input is no wish to cancel anything.
        if matches!(io::stdin().read_line(&mut answer), Ok(0) | Err(_)) {
            "detach".clone_into(&mut answer);
        }
        let _ = sender.send(Message::Answer(answer));
    });
}

fn state_in_words(task: &TaskView) -> String {
    let id = task.id;
    let place = places::place(task.node.as_deref(), &task.gpu_ids);
    match task.state {
        TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued => {
            let why = tasks::why(task, Timestamp::now());
            msg::task_id_waits_why(&id, &why)
        }
        TaskStateName::Starting | TaskStateName::Running => msg::task_id_runs_on_place(&id, &place),
        TaskStateName::Paused => msg::task_id_is_paused(&id),
        TaskStateName::Stopping => msg::task_id_is_being_stopped(&id),
        TaskStateName::Lost => msg::task_lost(&id, &place),
        TaskStateName::Succeeded
        | TaskStateName::Failed
        | TaskStateName::Cancelled
        | TaskStateName::TimedOut
        | TaskStateName::Unknown => String::new(),
    }
}

fn end_in_words(task: &TaskView) -> String {
    let id = task.id;
    let started = task.started_at.as_deref().and_then(clock::read);
    let ended = task.ended_at.as_deref().and_then(clock::read);
    let took = match (started, ended) {
        (Some(started), Some(ended)) => amounts::clock(clock::between(started, ended)),
        _ => amounts::clock(0),
    };
    match task.state {
        TaskStateName::Succeeded => msg::task_succeeded(&id, &took),
        TaskStateName::TimedOut => msg::task_timed_out(&id, &took),
        TaskStateName::Cancelled => msg::task_id_was_cancelled_after_took(&id, &took),
        TaskStateName::Failed
        | TaskStateName::Held
        | TaskStateName::Blocked
        | TaskStateName::Queued
        | TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Unknown => {
            let why = tasks::failure(task);
            msg::task_id_failed_after_took_why(&id, &took, &why)
        }
    }
}

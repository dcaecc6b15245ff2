//! `danlu run`: submit, show the output as it comes, exit with the task's code.

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
use danlu_wire::api::{Act, ActName, TaskStateName, TaskView};
use jiff::Timestamp;
use signal_hook::{consts::SIGINT, iterator::Signals};

use super::{
    following::{News, Subject, follow},
    logs::write,
    submit::{self, NewTask},
    wait,
};
use crate::{
    client::Client,
    failure::{Exit, Failure},
    language::{say, text},
    screen::{self, amounts, clock, places, tasks, vram},
};

#[derive(Debug, Args)]
#[command(
    about = text("Submit, follow the output, exit with the task's code", "提交并跟踪输出，以任务的退出码结束"),
    override_usage = text(
        "danlu run [OPTIONS] -- COMMAND…\n       danlu run [OPTIONS] SCRIPT [ARGUMENTS…]",
        "danlu run [选项] -- 命令…\n      danlu run [选项] 脚本 [参数…]",
    ),
    after_help = text(
        "Ctrl-C asks whether to detach or to cancel. The exit code is the task's own:\n\
         128+n for signal n, 124 for the time limit, 130 when cancelled or detached.\n\n\
         Examples:\n  \
           danlu run -g 1 -- python train.py\n  \
           danlu run -g 0 -- make test && echo fine",
        "Ctrl-C 会询问是脱离还是取消。退出码为任务自己的：被信号 n 终止为 128+n，超时 124，\n\
         取消或脱离 130。\n\n\
         示例：\n  \
           danlu run -g 1 -- python train.py\n  \
           danlu run -g 0 -- make test && echo fine",
    ),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    task: NewTask,

    #[arg(short, long, help_heading = text("Options", "选项"), help = text("Say nothing but what the task says", "除任务输出外不显示任何内容"))]
    quiet: bool,
}

/// After a detach the code of the task is not known.
const DETACHED: u8 = 130;

pub(crate) fn run(client: Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let task = arguments.task.describe(&client)?;
    if task.array.value().is_some() || task.hold.value() == Some(&true) {
        return Err(Failure::new(
            Exit::Usage,
            text("`run` follows one task that may start", "`run` 只跟踪一个可以开始的任务"),
        )
        .hint(text(
            "use danlu submit for --array and --hold",
            "--array 和 --hold 请用 danlu submit",
        )));
    }
    let document = client.submit(&task)?;
    if arguments.task.dry_run {
        return submit::show_dry_run(&document).map(|()| ExitCode::SUCCESS);
    }
    let id = submit::submitted(&document)?.id;
    Session::begin(client, id, arguments.quiet)?.last()
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
        if self.cancelled || !io::stdin().is_terminal() {
            return Ok(self.detach());
        }
        let question = text(
            "\n[d]etach, [c]ancel, [Enter] go on: ",
            "\n[d] 脱离，[c] 取消任务，[回车] 继续：",
        );
        let _ = io::stderr().write_all(question.as_bytes());
        read_answer(self.answers.clone());
        let mut kept = Vec::new();
        let answer = loop {
            match self.messages.recv().expect("this very session keeps a sender") {
                Message::Answer(answer) => break answer,
                // Whoever insists wants to be gone.
                Message::Interrupt => {
                    let _ = io::stderr().write_all(b"\n");
                    return Ok(self.detach());
                }
                other => kept.push(other),
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
        self.say(&say!(
            "task {id} goes on: danlu logs -f {id}, danlu cancel {id}",
            "任务 {id} 继续运行：danlu logs -f {id}，danlu cancel {id}",
        ));
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
        Failure::new(
            Exit::Internal,
            say!("could not wait for signals: {cause}", "无法等待信号：{cause}"),
        )
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
        Subject { id, only_run: None, from_first: true, node: None, stream: None, tail: None };
    thread::spawn(move || {
        let followed = follow(&client, &subject, &mut |news| match news {
            News::Task(task) => Ok(sender.send(Message::Task(task)).is_ok()),
            News::Bytes(bytes) => {
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
            say!("task {id} waits: {why}", "任务 {id} 等待中：{why}")
        }
        TaskStateName::Starting | TaskStateName::Running => {
            say!("task {id} runs on {place}", "任务 {id} 运行于 {place}")
        }
        TaskStateName::Paused => say!("task {id} is paused", "任务 {id} 已暂停"),
        TaskStateName::Stopping => say!("task {id} is being stopped", "任务 {id} 正在停止"),
        TaskStateName::Lost => {
            say!(
                "task {id} is out of sight: {place} does not answer",
                "任务 {id} 失联：{place} 没有应答"
            )
        }
        _ => String::new(),
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
        TaskStateName::Succeeded => {
            say!("task {id} ended with code 0 after {took}", "任务 {id} 成功结束，用时 {took}")
        }
        TaskStateName::TimedOut => {
            say!("task {id} reached its time limit after {took}", "任务 {id} 在 {took} 后超时")
        }
        TaskStateName::Cancelled => {
            say!("task {id} was cancelled after {took}", "任务 {id} 在 {took} 后被取消")
        }
        _ => {
            let why = tasks::failure(task);
            say!("task {id} failed after {took}: {why}", "任务 {id} 在 {took} 后失败：{why}")
        }
    }
}

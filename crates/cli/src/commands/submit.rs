//! `danlu submit`: queue a task, or an array of them.

use std::{env, path::Path};

use clap::Args;
use danlu_core::task::Stream;
use danlu_spec::{NewTaskOptions, Patch, Said, TaskOptions, name_of};
use danlu_wire::api::{Document, DryRun, Submitted};
use jiff::Timestamp;
use nix::{
    errno::Errno,
    unistd::{AccessFlags, access},
};

use crate::{
    captured::{environment, settled, umask, working_directory},
    client::{Client, read},
    failure::{Exit, Failure},
    language::{say, text},
    screen::{self, amounts, clock, places, vram},
    script,
};

#[derive(Debug, Args)]
#[command(
    about = text("Queue a task", "提交任务"),
    override_usage = text(
        "danlu submit [OPTIONS] -- COMMAND…\n       danlu submit [OPTIONS] SCRIPT [ARGUMENTS…]",
        "danlu submit [选项] -- 命令…\n      danlu submit [选项] 脚本 [参数…]",
    ),
    after_help = text(ENGLISH_NOTES, CHINESE_NOTES),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    task: NewTask,

    #[arg(short, long, help_heading = text("Options", "选项"), help = text("Print the id only (of an array: the first)", "只输出编号（数组为第一个）"))]
    quiet: bool,

    #[arg(long, conflicts_with = "quiet", help_heading = text("Options", "选项"), help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

/// A task that is to be made, with everything that describes it.
#[derive(Debug, Args)]
pub(crate) struct NewTask {
    #[command(flatten)]
    pub(super) options: TaskOptions,

    #[command(flatten)]
    pub(super) new: NewTaskOptions,

    #[arg(long, help_heading = text("Options", "选项"), help = text(
        "Say where and when it would start, and queue nothing",
        "只说明会在何处、何时开始，不真正提交",
    ))]
    pub(super) dry_run: bool,

    #[arg(value_name = "COMMAND", trailing_var_arg = true, help_heading = text("Arguments", "参数"), help = text(
        "The command with its arguments, after `--`; or a script with its arguments",
        "`--` 之后的命令及其参数；或脚本及其参数",
    ))]
    command: Vec<String>,
}

pub(super) const ENGLISH_NOTES: &str = "\
The task runs in the directory and with the environment from which it was
submitted. In its command and in the values of --env, {gpu_list}, {gpu_count}
and {task_id} are replaced.

A script can carry its options in lines at its beginning:
  #!/bin/bash
  #DANLU --gpus 2 --time 12h
  #DANLU --name resnet
Lines with #SBATCH are read as well. Options of the command line win.

Examples:
  danlu submit -- python train.py --lr 0.1
  danlu submit -g 2 -t 12h -J resnet -- torchrun --nproc-per-node 2 train.py
  danlu submit -g 0 -c 8 --mem 32G --shell 'make && ./preprocess > out.txt'
  danlu submit --array 0-99%4 -- bash -c 'python sweep.py --seed $DANLU_ARRAY_INDEX'
  danlu submit -d afterok:@ -- python eval.py
  danlu submit train.sh";

pub(super) const CHINESE_NOTES: &str = "\
任务在提交时的目录中、以提交时的环境变量运行。
命令和 --env 的值中的 {gpu_list}、{gpu_count}、{task_id} 会被替换。

脚本可以在开头写明选项：
  #!/bin/bash
  #DANLU --gpus 2 --time 12h
  #DANLU --name resnet
也读取 #SBATCH 行。命令行的选项优先于脚本中的选项。

示例：
  danlu submit -- python train.py --lr 0.1
  danlu submit -g 2 -t 12h -J resnet -- torchrun --nproc-per-node 2 train.py
  danlu submit -g 0 -c 8 --mem 32G --shell 'make && ./preprocess > out.txt'
  danlu submit --array 0-99%4 -- bash -c 'python sweep.py --seed $DANLU_ARRAY_INDEX'
  danlu submit -d afterok:@ -- python eval.py
  danlu submit train.sh";

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let task = arguments.task.describe(client)?;
    let document = client.submit(&task)?;
    if arguments.json {
        return screen::print_document(&document);
    }
    if arguments.task.dry_run {
        return show_dry_run(&document);
    }
    let Submitted { id, count, paths_unanswered } = submitted(&document)?;
    if paths_unanswered {
        eprintln!("{}", unanswered(id));
    }
    if arguments.quiet {
        return screen::print(&format!("{id}\n"));
    }
    screen::print(&said(id, count))
}

pub(super) fn submitted(document: &str) -> Result<Submitted, Failure> {
    Ok(read::<Document<Submitted>>(document)?.content)
}

/// It was accepted nevertheless.
fn unanswered(id: u64) -> String {
    say!(
        "note: the file system of its directory or output did not answer; the task starts when it does\n\
         hint: danlu why {id}",
        "注意：工作目录或输出所在的文件系统没有响应；响应后任务才会开始\n\
         hint: danlu why {id}"
    )
}

/// Scripts wait for this line.
pub(super) fn said(id: u64, count: u64) -> String {
    let last = id + count.saturating_sub(1);
    match count {
        1 => say!("submitted task {id}\n", "已提交任务 {id}\n"),
        _ => say!("submitted tasks {id}-{last}\n", "已提交任务 {id}-{last}\n"),
    }
}

pub(super) fn show_dry_run(document: &str) -> Result<(), Failure> {
    let would = read::<Document<DryRun>>(document)?.content.dry_run;
    let starts = would.expected_start_at.as_deref().and_then(clock::read);
    let words = match starts {
        _ if would.now => {
            let place = places::place(would.node.as_deref(), &would.gpu_ids);
            say!("would start now on {place}", "会立即在 {place} 上开始")
        }
        Some(at) => {
            let at = clock::short(at, Timestamp::now());
            say!("would wait; it starts at {at} at the latest", "需要等待；最迟 {at} 开始")
        }
        None => text(
            "would wait; nobody can tell how long: it is held, or what runs before it has no time limit",
            "需要等待；无法预计多久：任务被扣住，或之前的任务没有时限",
        )
        .to_owned(),
    };
    let learnt = would.learnt_gpu_memory.map(|bytes| vram::hint(bytes) + "\n").unwrap_or_default();
    let end = text("nothing was submitted", "未提交任务");
    screen::print(&format!("{words}\n{learnt}{end}\n"))
}

/// Only the user can tell what the user may write; hours later it would be too late.
fn refuse_unwritable(body: &Patch) -> Result<(), Failure> {
    let file = |stream: &Option<Stream>| match stream {
        Some(Stream::Append { path } | Stream::Truncate { path }) => Some(path.clone()),
        Some(Stream::Discard) | None => None,
    };
    let output = body.output();
    let files = [output.both.clone(), file(&output.stdout), file(&output.stderr)];
    // What words in a name will stand for is not known yet.
    for file in files.into_iter().flatten().filter(|file| !file.contains('{')) {
        let path = Path::new(body.directory()).join(&file);
        let parent = path.parent().unwrap_or(&path);
        let subject = if path.exists() { &path } else { parent };
        let answer = access(subject, AccessFlags::W_OK);
        if answer == Err(Errno::EACCES) || answer == Err(Errno::EROFS) {
            return Err(Failure::new(
                Exit::Refused,
                say!("you may not write to {file}", "您没有写入 {file} 的权限"),
            )
            .hint(text(
                "choose another file: --output, --stdout",
                "请换一个文件：--output、--stdout",
            )));
        }
    }
    Ok(())
}

impl NewTask {
    /// Everything that the server needs to know. Options of the command line win over those of a script.
    pub(super) fn describe(&self, client: &Client) -> Result<Patch, Failure> {
        let mut task = Patch::default();
        let (command, name) = self.command(client, &mut task)?;
        task.lay_over(settled(client, self.options.patch()?)?);
        task.lay_over(self.new.patch()?);
        self.tell_limit();
        task.command = Said::Value(command);
        task.environment = Said::Value(environment());
        task.umask = umask().map_or(Said::Nothing, Said::Value);
        task.dry_run = Said::Value(self.dry_run);
        if task.name.is_nothing() {
            task.name = Said::Value(name);
        }
        if task.directory.is_nothing() {
            task.directory = Said::Value(working_directory()?);
        }
        refuse_unwritable(&task)?;
        Ok(task)
    }

    /// The command, and a name for the task if it has none.
    fn command(&self, client: &Client, task: &mut Patch) -> Result<(Vec<String>, String), Failure> {
        let words = &self.command;
        if words.is_empty() {
            return Err(Failure::new(Exit::Usage, text("there is no command", "没有命令"))
                .hint("danlu submit -- python train.py"));
        }
        if self.options.is_shell_line() {
            return Ok((vec![words.join(" ")], name_of(words)));
        }
        // After `--` comes a command, whatever files there are.
        if !follows_dashes(words.len())
            && let Some(script) = script::read(words, client)?
        {
            *task = script.lines.patch(self.new.is_array());
            return Ok((script.command, script.name));
        }
        Ok((words.clone(), name_of(words)))
    }

    /// A limit without a unit is echoed, so that nobody is surprised.
    pub(super) fn tell_limit(&self) {
        tell_limit(&self.options);
    }
}

/// Whether the last `count` words of the command line come after `--`, which clap does not tell.
fn follows_dashes(count: usize) -> bool {
    let words: Vec<_> = env::args_os().collect();
    words.len().checked_sub(count + 1).is_some_and(|place| words[place] == "--")
}

/// With the command after `--`, where there is one.
pub(super) fn with_command(mut patch: Patch, words: &[String], shell: bool) -> Patch {
    if !words.is_empty() {
        patch.command = Said::Value(if shell { vec![words.join(" ")] } else { words.to_vec() });
        patch.shell = Said::Value(shell);
    }
    patch
}

pub(super) fn tell_limit(options: &TaskOptions) {
    if let Some(seconds) = options.ambiguous_limit() {
        let length = amounts::length(seconds);
        screen::note(&say!("the time limit is {length}", "时限为 {length}"));
    }
}

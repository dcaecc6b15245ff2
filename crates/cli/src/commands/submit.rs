//! `danlu submit`: queues a task or an array of tasks.

use std::{env, path::Path};

use clap::Args;
use danlu_core::task::Stream;
use danlu_messages::cli::submit as msg;
use danlu_spec::{Change, NewTaskOptions, Patch, TaskOptions, name_of};
use danlu_wire::api::{Document, DryRun, Submitted};
use jiff::Timestamp;
use nix::{
    errno::Errno,
    unistd::{AccessFlags, access},
};

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    screen::{self, amounts, clock, places, vram},
    script,
    submit_context::{environment, settled, umask, working_directory},
};

#[derive(Debug, Args)]
#[command(
    about = msg::queue_a_task(),
    override_usage = msg::usage(),
    after_help = msg::notes(),
)]
pub(crate) struct SubmitArguments {
    #[command(flatten)]
    task: NewTask,

    #[arg(short, long, help_heading = msg::options(), help = msg::print_id_only())]
    quiet: bool,

    #[arg(long, conflicts_with = "quiet", help_heading = msg::options(), help = msg::print_one_json_document())]
    json: bool,
}

/// A task that is to be made, with everything that describes it.
#[derive(Debug, Args)]
pub(crate) struct NewTask {
    #[command(flatten)]
    pub(super) options: TaskOptions,

    #[command(flatten)]
    pub(super) new: NewTaskOptions,

    #[arg(long, help_heading = msg::options(), help = msg::dry_run())]
    pub(super) dry_run: bool,

    #[arg(value_name = "COMMAND", trailing_var_arg = true, help_heading = msg::arguments(), help = msg::command())]
    command: Vec<String>,
}

pub(crate) fn run(client: &Client, arguments: &SubmitArguments) -> Result<(), Failure> {
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
    msg::paths_not_answering(&id)
}

/// Scripts wait for this line.
pub(super) fn said(id: u64, count: u64) -> String {
    let last = id + count.saturating_sub(1);
    match count {
        1 => msg::submitted_task_id(&id),
        _ => msg::submitted_tasks_id_last(&id, &last),
    }
}

pub(super) fn show_dry_run(document: &str) -> Result<(), Failure> {
    let would = read::<Document<DryRun>>(document)?.content.dry_run;
    let starts = would.expected_start_at.as_deref().and_then(clock::read);
    let words = match starts {
        _ if would.now => {
            let place = places::place(would.node.as_deref(), &would.gpu_ids);
            msg::would_start_now_on_place(&place)
        }
        Some(at) => {
            let at = clock::short(at, Timestamp::now());
            msg::dry_run_latest(&at)
        }
        None => msg::dry_run_unknown().to_owned(),
    };
    let learnt = would.learnt_gpu_memory.map(|bytes| vram::hint(bytes) + "\n").unwrap_or_default();
    let end = msg::nothing_was_submitted();
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
            return Err(Failure::new(Exit::Refused, msg::you_may_not_write_to_file(&file))
                .hint(msg::choose_another_file_output_stdout()));
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
        task.command = Change::Set(command);
        task.environment = Change::Set(environment());
        task.umask = umask().map_or(Change::Keep, Change::Set);
        task.dry_run = Change::Set(self.dry_run);
        if task.name.is_keep() {
            task.name = Change::Set(name);
        }
        if task.directory.is_keep() {
            task.directory = Change::Set(working_directory()?);
        }
        refuse_unwritable(&task)?;
        Ok(task)
    }

    /// The command, and a name for the task if it has none.
    fn command(&self, client: &Client, task: &mut Patch) -> Result<(Vec<String>, String), Failure> {
        let words = &self.command;
        if words.is_empty() {
            return Err(Failure::new(Exit::Usage, msg::no_command())
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

    /// A limit without a unit is echoed with the unit that was assumed.
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
        patch.command = Change::Set(if shell { vec![words.join(" ")] } else { words.to_vec() });
        patch.shell = Change::Set(shell);
    }
    patch
}

pub(super) fn tell_limit(options: &TaskOptions) {
    if let Some(seconds) = options.ambiguous_limit() {
        let length = amounts::length(seconds);
        screen::note(&msg::time_limit_is(&length));
    }
}

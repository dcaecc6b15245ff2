//! `danlu user passwd`: reads passwords from the input, never from arguments, which other users can see.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use clap::Args;
use danlu_messages::cli::user as msg;
use danlu_wire::api::{Document, NewPassword, PasswordSet, Secret};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

use crate::{
    client::{Client, path_segment, read},
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
pub(super) struct UserPasswd {
    #[arg(value_name = "NAME", help = msg::whose_your_own_unless_told())]
    name: Option<String>,

    #[arg(long, help = msg::password_from_stdin())]
    password_stdin: bool,

    #[arg(long, conflicts_with = "password_stdin", requires = "name", help = msg::one_time_password_option())]
    one_time: bool,
}

pub(super) fn run(client: &Client, passwd: &UserPasswd) -> Result<(), Failure> {
    let new = match (passwd.one_time, passwd.password_stdin) {
        (true, _) => None,
        (false, true) => Some(from_input()?),
        (false, false) => Some(typed_twice()?),
    };
    let path = match &passwd.name {
        Some(name) => format!("/users/{}/password", path_segment(name)),
        None => String::from("/me/password"),
    };
    let document = client.send("POST", &path, &NewPassword { old: None, new })?;
    let set = read::<Document<PasswordSet>>(&document)?.content;
    let name = &set.user;
    screen::print(&msg::password_set(&name))?;
    set.one_time_password.map_or(Ok(()), |made| show_once(&made))
}

pub(super) fn show_once(made: &Secret) -> Result<(), Failure> {
    let made = &made.0;
    screen::print(&msg::one_time_password(&made))
}

const LONGEST: u64 = 4096;

pub(super) fn from_input() -> Result<Secret, Failure> {
    let mut line = String::new();
    let read = io::stdin().lock().take(LONGEST).read_line(&mut line);
    read.map_err(|cause| {
        Failure::new(Exit::Usage, msg::could_not_read_the_password_cause(&cause))
    })?;
    Ok(Secret(line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn typed_twice() -> Result<Secret, Failure> {
    if !io::stdin().is_terminal() {
        let message = msg::no_terminal();
        return Err(Failure::new(Exit::Usage, message).hint("--password-stdin"));
    }
    let first = typed(msg::new_password())?;
    if first == typed(msg::once_more())? {
        return Ok(first);
    }
    Err(Failure::new(Exit::Usage, msg::passwords_differ()))
}

/// Not shown while it is typed.
fn typed(prompt: &str) -> Result<Secret, Failure> {
    eprint!("{prompt}");
    let stdin = io::stdin();
    let before = tcgetattr(&stdin).ok();
    if let Some(mut quiet) = before.clone() {
        quiet.local_flags.remove(LocalFlags::ECHO);
        let _ = tcsetattr(&stdin, SetArg::TCSAFLUSH, &quiet);
    }
    let read = from_input();
    if let Some(before) = before {
        let _ = tcsetattr(&stdin, SetArg::TCSAFLUSH, &before);
    }
    eprintln!();
    read
}

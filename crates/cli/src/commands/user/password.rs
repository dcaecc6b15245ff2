//! Passwords: from the input, never from the arguments, which others can see.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use clap::Args;
use danlu_wire::api::{Document, NewPassword, PasswordSet, Secret};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

use super::path_segment;
use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    language::{say, text},
    screen,
};

#[derive(Debug, Args)]
pub(super) struct Passwd {
    #[arg(value_name = "NAME", help = text("Whose; your own unless told", "用户名；默认为自己"))]
    name: Option<String>,

    #[arg(long, help = text("Read it from the first line of the input", "从标准输入的第一行读取"))]
    password_stdin: bool,

    #[arg(long, conflicts_with = "password_stdin", requires = "name", help = text("Make one that has to be changed at the first log-in, and print it", "生成一次性密码并显示，首次登录须修改"))]
    one_time: bool,
}

pub(super) fn run(client: &Client, passwd: &Passwd) -> Result<(), Failure> {
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
    screen::print(&say!("the password of {name} is set\n", "已设置 {name} 的密码\n"))?;
    set.one_time_password.map_or(Ok(()), |made| show_once(&made))
}

pub(super) fn show_once(made: &Secret) -> Result<(), Failure> {
    let made = &made.0;
    screen::print(&say!(
        "one-time password, to be changed at the first log-in: {made}\n",
        "一次性密码，首次登录后须修改：{made}\n"
    ))
}

const LONGEST: u64 = 4096;

pub(super) fn from_input() -> Result<Secret, Failure> {
    let mut line = String::new();
    let read = io::stdin().lock().take(LONGEST).read_line(&mut line);
    read.map_err(|cause| {
        Failure::new(
            Exit::Usage,
            say!("could not read the password: {cause}", "无法读取密码：{cause}"),
        )
    })?;
    Ok(Secret(line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn typed_twice() -> Result<Secret, Failure> {
    if !io::stdin().is_terminal() {
        let message =
            text("there is no terminal to ask for the password", "没有可以询问密码的终端");
        return Err(Failure::new(Exit::Usage, message).hint("--password-stdin"));
    }
    let first = typed(text("new password: ", "新密码："))?;
    if first == typed(text("once more: ", "再输入一次："))? {
        return Ok(first);
    }
    Err(Failure::new(Exit::Usage, text("these were two different passwords", "两次输入的密码不同")))
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

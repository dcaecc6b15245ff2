//! `danlu user`: lists and manages accounts.

mod accounts;
mod password;
mod ssh;

use std::io;

use clap::{Args, Subcommand};
use danlu_messages::cli::user as msg;
use danlu_wire::api::{Document, OneUser, UserView, Users};
use serde_json::{Map, Value};

use crate::{
    client::{Client, path_segment, read},
    failure::{Exit, Failure},
    parse::pair::{Pair, parse_pair},
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::usage(),
    after_help = msg::help(),
    disable_help_subcommand = true,
)]
pub(crate) struct UserArguments {
    #[command(subcommand)]
    what: Option<UserCommand>,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    #[command(about = msg::show_all_users(), override_usage = "danlu user list [--json]")]
    List {
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
    #[command(about = msg::add_an_account(), override_usage = msg::danlu_user_add_name_options())]
    Add(accounts::UserAdd),
    #[command(visible_alias = "rm", about = msg::about_del(), override_usage = msg::danlu_user_del_name_yes())]
    Del(accounts::UserDel),
    #[command(about = msg::about_lock(), override_usage = msg::danlu_user_lock_name())]
    Lock(accounts::UserNames),
    #[command(about = msg::let_its_owner_in_again(), override_usage = msg::danlu_user_unlock_name())]
    Unlock(accounts::UserNames),
    #[command(about = msg::make_somebody_an_admin(), override_usage = msg::danlu_user_grant_name())]
    Grant(accounts::UserNames),
    #[command(about = msg::make_an_admin_a_user_again(), override_usage = msg::danlu_user_revoke_name())]
    Revoke(accounts::UserNames),
    #[command(about = msg::about_passwd(), override_usage = msg::danlu_user_passwd_name_options())]
    Passwd(password::UserPasswd),
    #[command(about = msg::about_ssh(), override_usage = msg::usage_ssh())]
    Ssh(ssh::UserSsh),
    #[command(about = msg::change_what_a_user_has_at_once(), override_usage = msg::usage_set())]
    Set(UserSet),
}

#[derive(Debug, Args)]
struct UserSet {
    #[arg(value_name = "NAME", help = msg::user_argument())]
    name: String,

    #[arg(value_name = "KEY=VALUE", help = msg::setting_example())]
    pairs: Vec<String>,

    #[arg(long, value_name = "N", allow_hyphen_values = true, help = msg::for_balance())]
    priority: Option<String>,

    #[arg(long, value_name = "N", help = msg::for_fair())]
    weight: Option<String>,

    #[arg(long, value_name = "GROUP", help = msg::for_fair())]
    group: Option<String>,

    #[arg(long, value_name = "USER", help = msg::os_user())]
    os_user: Option<String>,

    #[arg(long, value_name = "MACHINE=USER", value_parser = parse_pair, help = msg::os_user_on())]
    os_user_on: Vec<Pair>,

    #[arg(long, value_name = "ADDRESS", help = msg::for_messages())]
    email: Option<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &UserArguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(UserCommand::Set(set)) => change(client, set),
        Some(UserCommand::Add(add)) => accounts::add(client, add),
        Some(UserCommand::Del(del)) => accounts::del(client, del),
        Some(UserCommand::Lock(named)) => accounts::set_each(client, named, "locked", true),
        Some(UserCommand::Unlock(named)) => accounts::set_each(client, named, "locked", false),
        Some(UserCommand::Grant(named)) => accounts::set_each(client, named, "admin", true),
        Some(UserCommand::Revoke(named)) => accounts::set_each(client, named, "admin", false),
        Some(UserCommand::Passwd(passwd)) => password::run(client, passwd),
        Some(UserCommand::Ssh(ssh)) => ssh::run(client, ssh),
        Some(UserCommand::List { json: true }) => {
            screen::print_document(&client.get_document("/users")?)
        }
        Some(UserCommand::List { json: false }) | None => {
            let users = read::<Document<Users>>(&client.get_document("/users")?)?.content.users;
            show(&users)
        }
    }
}

fn change(client: &Client, set: &UserSet) -> Result<(), Failure> {
    let document =
        client.send("PATCH", &format!("/users/{}", path_segment(&set.name)), &wanted(set)?)?;
    if set.json {
        return screen::print_document(&document);
    }
    show(&[read::<Document<OneUser>>(&document)?.content.user])
}

fn wanted(set: &UserSet) -> Result<Value, Failure> {
    let mut body = Map::new();
    let flags = [
        ("priority", &set.priority),
        ("weight", &set.weight),
        ("group", &set.group),
        ("os_user", &set.os_user),
        ("email", &set.email),
    ];
    for (key, value) in flags {
        if let Some(value) = value {
            body.insert(key.to_owned(), Value::String(value.clone()));
        }
    }
    if !set.os_user_on.is_empty() {
        let named = set.os_user_on.iter().map(|it| (it.name.clone(), it.value.clone().into()));
        body.insert("os_user_on".to_owned(), Value::Object(named.collect()));
    }
    for pair in &set.pairs {
        let Some((key, value)) = pair.split_once('=') else {
            let message = msg::pair_is_not_key_value(&pair);
            return Err(Failure::new(Exit::Usage, message).hint("danlu user set NAME priority=2"));
        };
        body.insert(key.to_owned(), Value::String(value.to_owned()));
    }
    if body.is_empty() {
        let message = msg::nothing_to_change_was_given();
        return Err(Failure::new(Exit::Usage, message).hint("danlu user set NAME priority=2"));
    }
    Ok(Value::Object(body))
}

fn show(users: &[UserView]) -> Result<(), Failure> {
    let mut table = Table::new(vec![
        Column::left(msg::user()),
        Column::left(msg::role()),
        Column::right(msg::priority()),
        Column::right(msg::weight()),
        Column::left(msg::group()),
        Column::right(msg::running()),
        Column::right(msg::gpus()),
        Column::right(msg::used_gpu_hours()),
    ]);
    for user in users {
        let role = match (user.locked, user.admin) {
            (true, _) => msg::locked(),
            (false, true) => msg::admin(),
            (false, false) => msg::role_user(),
        };
        let tenths = user.used_gpu_seconds / 360;
        table.row(vec![
            user.name.as_str().into(),
            role.into(),
            user.priority.to_string().into(),
            user.weight.to_string().into(),
            user.group.as_deref().unwrap_or_default().into(),
            user.running_tasks.to_string().into(),
            user.running_gpus.to_string().into(),
            format!("{}.{}", tenths / 10, tenths % 10).into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_an_address() {
        assert_eq!(path_segment("ann-1.b_c"), "ann-1.b_c");
        assert_eq!(path_segment("a/b é"), "a%2Fb%20%C3%A9");
    }
}

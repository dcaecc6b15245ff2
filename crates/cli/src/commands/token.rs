//! `danlu token`: access tokens for programs.

use std::io;

use clap::{Args, Subcommand, ValueEnum};
use danlu_messages::cli::token as msg;
use danlu_wire::api::{Document, MadeToken, MaybeNewer, NewToken, Scope, Tokens};
use serde_json::json;

use crate::{
    client::{Client, path_segment, read},
    failure::Failure,
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
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    what: Option<TokenCommand>,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    #[command(about = msg::show_your_tokens(), override_usage = "danlu token list [--json]")]
    List {
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
    #[command(about = msg::make_a_token_and_print_it_this_once(), override_usage = msg::danlu_token_new_name_options())]
    New(TokenNew),
    #[command(about = msg::make_a_token_worthless_at_once(), override_usage = msg::danlu_token_revoke_name_id())]
    Revoke {
        #[arg(value_name = "NAME|ID", required = true, help = msg::which())]
        which: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct TokenNew {
    #[arg(value_name = "NAME", help = msg::what_it_is_for())]
    name: String,

    #[arg(long, value_enum, default_value = "submit", value_name = "SCOPE", hide_possible_values = true, help = msg::read_submit_or_admin())]
    scope: TokenScope,

    #[arg(long, value_name = "TIME", help = msg::expires())]
    expires: Option<String>,

    #[arg(short, long, help = msg::print_the_token_alone())]
    quiet: bool,

    #[arg(long, conflicts_with = "quiet", help = msg::print_one_json_document())]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TokenScope {
    Read,
    Submit,
    Admin,
}

pub(crate) fn run(client: &Client, arguments: &TokenArguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(TokenCommand::New(new)) => make(client, new),
        Some(TokenCommand::Revoke { which }) => revoke(client, which),
        Some(TokenCommand::List { json: true }) => {
            screen::print_document(&client.get_document("/tokens")?)
        }
        Some(TokenCommand::List { json: false }) | None => show(client),
    }
}

fn make(client: &Client, new: &TokenNew) -> Result<(), Failure> {
    let scope = match new.scope {
        TokenScope::Read => Scope::Read,
        TokenScope::Submit => Scope::Submit,
        TokenScope::Admin => Scope::Admin,
    };
    let body = NewToken { name: new.name.clone(), scope, expires: new.expires.clone() };
    let document = client.send("POST", "/tokens", &body)?;
    if new.json {
        return screen::print_document(&document);
    }
    let made = read::<Document<MadeToken>>(&document)?.content;
    let secret = &made.secret.0;
    if new.quiet {
        return screen::print(&format!("{secret}\n"));
    }
    screen::print(&msg::shown_once(&secret))
}

fn revoke(client: &Client, which: &[String]) -> Result<(), Failure> {
    for name in which {
        client.send("DELETE", &format!("/tokens/{}", path_segment(name)), &json!({}))?;
        screen::print(&msg::revoked_name(&name))?;
    }
    Ok(())
}

fn show(client: &Client) -> Result<(), Failure> {
    let tokens = read::<Document<Tokens>>(&client.get_document("/tokens")?)?.content.tokens;
    if tokens.is_empty() {
        return screen::print(msg::no_tokens());
    }
    let mut table = Table::new(vec![
        Column::left("ID"),
        Column::left(msg::name()),
        Column::left(msg::scope()),
        Column::left(msg::made()),
        Column::left(msg::good_until()),
    ]);
    for token in &tokens {
        let scope = match &token.scope {
            MaybeNewer::Known(Scope::Read) => "read",
            MaybeNewer::Known(Scope::Submit) => "submit",
            MaybeNewer::Known(Scope::Admin) => "admin",
            MaybeNewer::Newer(name) => name,
        };
        let until = token.expires_at.as_deref();
        table.row(vec![
            token.id.as_str().into(),
            token.name.as_str().into(),
            scope.into(),
            token.created_at.as_str().into(),
            until.unwrap_or(msg::until_revoked()).into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

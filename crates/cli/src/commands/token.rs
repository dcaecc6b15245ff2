//! `danlu token`: for programs that come over the network.

use std::io;

use clap::{Args, Subcommand, ValueEnum};
use danlu_wire::api::{Document, MadeToken, NewToken, Scope, Tokens};
use serde_json::json;

use super::user::path_segment;
use crate::{
    client::{Client, read},
    failure::Failure,
    language::{say, text},
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Tokens for programs that come over the network", "供程序通过网络访问的令牌"),
    override_usage = text("danlu token [list | new NAME | revoke NAME]", "danlu token [list | new 名称 | revoke 名称]"),
    after_help = text(
        "Examples:\n  \
           danlu token new ci                             prints it, this once\n  \
           danlu token new board --scope read --expires 30d\n  \
           DANLU_SERVER=http://gpu1:8787 DANLU_TOKEN=$(danlu token new laptop -q) danlu ls\n  \
           danlu token revoke ci",
        "示例：\n  \
           danlu token new ci                             显示一次\n  \
           danlu token new board --scope read --expires 30d\n  \
           DANLU_SERVER=http://gpu1:8787 DANLU_TOKEN=$(danlu token new laptop -q) danlu ls\n  \
           danlu token revoke ci",
    ),
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(about = text("Show your tokens", "列出自己的令牌"), override_usage = "danlu token list [--json]")]
    List {
        #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
        json: bool,
    },
    #[command(about = text("Make a token and print it, this once", "生成令牌并显示一次"), override_usage = text("danlu token new NAME [OPTIONS]", "danlu token new 名称 [选项]"))]
    New(New),
    #[command(about = text("Make a token worthless, at once", "立即吊销令牌"), override_usage = text("danlu token revoke NAME|ID…", "danlu token revoke 名称|编号…"))]
    Revoke {
        #[arg(value_name = "NAME|ID", required = true, help = text("Which", "哪些"))]
        which: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct New {
    #[arg(value_name = "NAME", help = text("What it is for", "用途"))]
    name: String,

    #[arg(long, value_enum, default_value = "submit", value_name = "SCOPE", hide_possible_values = true, help = text("read, submit or admin", "read、submit 或 admin"))]
    scope: Wanted,

    #[arg(long, value_name = "TIME", help = text("Good for so long, such as 30d; until revoked unless told", "有效期，如 30d；默认直到吊销"))]
    expires: Option<String>,

    #[arg(short, long, help = text("Print the token alone", "只输出令牌"))]
    quiet: bool,

    #[arg(long, conflicts_with = "quiet", help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Wanted {
    Read,
    Submit,
    Admin,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(What::New(new)) => make(client, new),
        Some(What::Revoke { which }) => revoke(client, which),
        Some(What::List { json: true }) => screen::print_document(&client.get_document("/tokens")?),
        Some(What::List { json: false }) | None => show(client),
    }
}

fn make(client: &Client, new: &New) -> Result<(), Failure> {
    let scope = match new.scope {
        Wanted::Read => Scope::Read,
        Wanted::Submit => Scope::Submit,
        Wanted::Admin => Scope::Admin,
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
    screen::print(&say!(
        "{secret}\nThis is shown once. Programs use it as DANLU_TOKEN, or as `Authorization: Bearer …`.\n",
        "{secret}\n仅显示这一次。程序可通过 DANLU_TOKEN 或 `Authorization: Bearer …` 使用。\n"
    ))
}

fn revoke(client: &Client, which: &[String]) -> Result<(), Failure> {
    for name in which {
        client.send("DELETE", &format!("/tokens/{}", path_segment(name)), &json!({}))?;
        screen::print(&say!("revoked {name}\n", "已吊销 {name}\n"))?;
    }
    Ok(())
}

fn show(client: &Client) -> Result<(), Failure> {
    let tokens = read::<Document<Tokens>>(&client.get_document("/tokens")?)?.content.tokens;
    if tokens.is_empty() {
        return screen::print(text(
            "no tokens; make one: danlu token new NAME\n",
            "没有令牌；可用 danlu token new 名称 生成\n",
        ));
    }
    let mut table = Table::new(vec![
        Column::left("ID"),
        Column::left(text("NAME", "名称")),
        Column::left(text("SCOPE", "范围")),
        Column::left(text("MADE", "创建于")),
        Column::left(text("GOOD UNTIL", "有效期至")),
    ]);
    for token in &tokens {
        let scope = match token.scope {
            Scope::Read => "read",
            Scope::Submit => "submit",
            Scope::Admin => "admin",
        };
        let until = token.expires_at.as_deref();
        table.row(vec![
            token.id.as_str().into(),
            token.name.as_str().into(),
            scope.into(),
            token.created_at.as_str().into(),
            until.unwrap_or(text("it is revoked", "吊销为止")).into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

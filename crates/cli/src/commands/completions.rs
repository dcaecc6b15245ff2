//! `danlu completions SHELL`: what a shell needs to complete command lines of `danlu`.

use clap::Args;
use clap_complete::Shell;

use crate::{failure::Failure, help, language::text, screen};

#[derive(Debug, Args)]
#[command(
    about = text("Completions for your shell", "生成 shell 补全脚本"),
    override_usage = text("danlu completions SHELL", "danlu completions SHELL名"),
    after_help = text(
        "Examples:\n  \
           danlu completions bash > ~/.local/share/bash-completion/completions/danlu\n  \
           danlu completions zsh > \"${fpath[1]}/_danlu\"\n  \
           danlu completions fish > ~/.config/fish/completions/danlu.fish",
        "示例：\n  \
           danlu completions bash > ~/.local/share/bash-completion/completions/danlu\n  \
           danlu completions zsh > \"${fpath[1]}/_danlu\"\n  \
           danlu completions fish > ~/.config/fish/completions/danlu.fish",
    ),
)]
pub(crate) struct Arguments {
    #[arg(
        value_name = "SHELL",
        hide_possible_values = true,
        help = "bash, zsh, fish, elvish, powershell"
    )]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = Vec::new();
    clap_complete::generate(arguments.shell, &mut help::command(), "danlu", &mut out);
    screen::print(&String::from_utf8_lossy(&out))
}

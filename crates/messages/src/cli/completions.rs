//! Sentences of cli/completions.

messages! {
    completions_for_your_shell = "Completions for your shell", "生成 shell 补全脚本";
    danlu_completions_shell = "danlu completions SHELL", "danlu completions SHELL名";
    help =
        "Examples:\n  \
           danlu completions bash > ~/.local/share/bash-completion/completions/danlu\n  \
           danlu completions zsh > \"${fpath[1]}/_danlu\"\n  \
           danlu completions fish > ~/.config/fish/completions/danlu.fish",
        "示例：\n  \
           danlu completions bash > ~/.local/share/bash-completion/completions/danlu\n  \
           danlu completions zsh > \"${fpath[1]}/_danlu\"\n  \
           danlu completions fish > ~/.config/fish/completions/danlu.fish";
}

//! Sentences of cli/version.

messages! {
    show_the_version = "Show the version", "显示版本";
}

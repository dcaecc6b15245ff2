//! Sentences of cli/help.

messages! {
    show_this_help_or_that_of_a_verb = "Show this help, or that of a verb", "显示本帮助，或某个动词的帮助";
    danlu_help_verb = "danlu help [VERB]", "danlu help [动词]";
    verb = "The verb", "动词";
}

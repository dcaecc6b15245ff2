//! Sentences of cli/follow.

messages! {
    about = "The same as logs -f", "等同于 logs -f";
    danlu_follow_id_options = "danlu follow ID [OPTIONS]", "danlu follow 编号 [选项]";
    examples_danlu_follow = "Examples:\n  danlu follow @", "示例：\n  danlu follow @";
}

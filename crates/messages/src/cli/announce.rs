//! Sentences of cli/announce.

messages! {
    tell_everybody_something = "Show an announcement to all users", "发布公告";
    danlu_announce_text_clear = "danlu announce [TEXT… | --clear]", "danlu announce [内容… | --clear]";
    help =
        "Shown by `danlu ls` and on top of the web pages. For admins; without a text it shows what there is.\n\n\
         Examples:\n  danlu announce GPU 3 of gpu1 is replaced on Friday\n  danlu announce --clear",
        "显示在 `danlu ls` 和网页顶部。仅限管理员；不带内容则显示当前公告。\n\n\
         示例：\n  danlu announce 周五更换 gpu1 的 3 号卡\n  danlu announce --clear";
    what_to_say = "Text of the announcement", "公告内容";
    say_nothing_any_more = "Remove the announcement", "清除公告";
    nothing_is_announced = "no announcement\n", "没有公告\n";
    nothing_is_announced_any_more = "announcement removed\n", "已清除公告\n";
    announced = "announced\n", "已发布\n";
}

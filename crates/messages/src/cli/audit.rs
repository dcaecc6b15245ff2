//! Sentences of cli/audit.

messages! {
    about = "Who did what, from where", "审计：谁在何处做了什么";
    danlu_audit_target_options = "danlu audit [TARGET…] [OPTIONS]", "danlu audit [对象…] [选项]";
    help =
        "Newest first. For admins.\n\nExamples:\n  danlu audit\n  danlu audit task 12\n  danlu audit user ann -n 20",
        "最新的在前。仅限管理员。\n\n示例：\n  danlu audit\n  danlu audit task 12\n  danlu audit user ann -n 20";
    such_as_task_12_or_user_ann = "Such as `task 12` or `user ann`", "如 `task 12` 或 `user ann`";
    at_most_so_many = "Maximum number of entries", "最多条数";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    when = "WHEN", "时间";
    who = "WHO", "用户";
    from = "FROM", "来源";
    act = "ACT", "操作";
    what = "WHAT", "对象";
    detail = "DETAIL", "详情";
}

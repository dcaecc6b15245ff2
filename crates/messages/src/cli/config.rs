//! Sentences of cli/config.

messages! {
    about =
        "Show the configuration, and where each value comes from",
        "查看配置及每个值的来源";
    every_value_with_its_origin = "Every value with its origin", "每个值及其来源";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    key = "KEY", "名称";
    value = "VALUE", "值";
    from = "FROM", "来源";
}

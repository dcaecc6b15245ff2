//! Sentences of cli/set.

messages! {
    about = "Show or change settings of the running server", "查看或修改服务器的设置";
    danlu_set_key_value = "danlu set [KEY [VALUE]]", "danlu set [名称 [值]]";
    help =
        "A change takes effect at once and is kept. Lengths of time are in milliseconds.\n\n\
         Examples:\n  \
           danlu set                       all settings\n  \
           danlu set stop_grace            one of them\n  \
           danlu set stop_grace 30000      change it",
        "修改立即生效并会保存。时间长度以毫秒为单位。\n\n\
         示例：\n  \
           danlu set                       所有设置\n  \
           danlu set stop_grace            其中一项\n  \
           danlu set stop_grace 30000      修改";
    setting = "The setting", "设置的名称";
    new_value = "Its new value", "新的值";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    no_such_setting(key) = "there is no setting `{key}`", "没有名为 `{key}` 的设置";
}

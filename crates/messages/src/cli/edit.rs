//! Sentences of cli/edit.

messages! {
    change_tasks_that_wait = "Change waiting tasks", "修改等待中的任务";
    usage =
        "danlu edit ID… OPTIONS [-- COMMAND…]\n       danlu edit ID",
        "danlu edit 编号… 选项 [-- 命令…]\n      danlu edit 编号";
    help =
        "Options are those of submit. Without any, the task opens in your editor ($VISUAL, $EDITOR).\n\n\
         Examples:\n  danlu edit 12 --gpus 4 --time 2h\n  danlu edit 3-9 --priority 1\n  danlu edit 12",
        "选项与 submit 相同。不写选项则在编辑器（$VISUAL、$EDITOR）中打开。\n\n\
         示例：\n  danlu edit 12 --gpus 4 --time 2h\n  danlu edit 3-9 --priority 1\n  danlu edit 12";
    tasks_to_change = "The tasks to change", "要修改的任务";
    options = "Options", "选项";
    print_json =
        "Print the changed tasks, one JSON document each",
        "每个改动后的任务输出一个 JSON 文档";
    arguments = "Arguments", "参数";
    another_command = "Another command", "换一条命令";
    nothing_has_changed = "nothing was changed\n", "没有改动\n";
    changed_task_id(id) = "changed task {id}\n", "已修改任务 {id}\n";
    editor_failed_nothing_has_changed(editor) = "`{editor}` failed: nothing was changed", "`{editor}` 未能正常结束：没有改动";
    your_text_is_kept_in_kept(kept) = "your text is saved in {kept}", "文本已保存在 {kept}";
    could_not_open_an_editor_cause(cause) = "could not open an editor: {cause}", "无法打开编辑器：{cause}";
    nothing_is_to_be_changed = "nothing to change", "未指定要修改的内容";
    give_options =
        "give options such as --gpus 2, or one task for the editor",
        "请给出选项，如 --gpus 2；或只写一个任务以打开编辑器";
    form_head(id) =
        "# Task {id}. Edit, save and quit; the fields are those of danlu submit --help.\n\n",
        "# 任务 {id}。修改后保存并退出；字段与 danlu submit --help 相同。\n\n";
    name_is_missing(name) = "`{name}` is missing", "缺少 `{name}`";
    unknown_field_unknown(unknown) = "unknown field `{unknown}`", "未知的字段 `{unknown}`";
    bad_syntax = "invalid syntax", "写法有误";
}

//! Sentences of cli/clone.

messages! {
    about = "Submit a task like another, with changes", "按已有任务再提交一个，可作修改";
    danlu_clone_id_options_command = "danlu clone ID… [OPTIONS] [-- COMMAND…]", "danlu clone 编号… [选项] [-- 命令…]";
    help =
        "Everything is taken over, the environment included; options change it as with submit.\n\n\
         Examples:\n  danlu clone 12\n  danlu clone 12 --gpus 4 --name larger",
        "沿用原任务的一切，包括环境变量；选项与 submit 相同，用于修改。\n\n\
         示例：\n  danlu clone 12\n  danlu clone 12 --gpus 4 --name larger";
    tasks_to_copy = "The tasks to copy", "要复制的任务";
    options = "Options", "选项";
    print_the_ids_only = "Print the ids only", "只输出编号";
    print_one_json_document_for_each = "Print one JSON document for each", "每个任务输出一个 JSON 文档";
    arguments = "Arguments", "参数";
    another_command = "Another command", "换一条命令";
    submitted_task_new_a_copy_of_id(new, id) = "submitted task {new}, a copy of {id}\n", "已提交任务 {new}（复制自 {id}）\n";
    not_your_task(id, owner) =
        "permission denied: task {id} belongs to {owner}, only its owner can copy it",
        "没有权限：任务 {id} 属于 {owner}，只有其所有者可以复制";
    submit_as_your_own =
        "submit the command as your own: danlu submit -- COMMAND",
        "请自行提交该命令：danlu submit -- 命令";
}

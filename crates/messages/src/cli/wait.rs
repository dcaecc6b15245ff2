//! Sentences of cli/wait.

messages! {
    wait_until_tasks_have_ended = "Wait until tasks have ended", "等待任务结束";
    danlu_wait_id_all_options = "danlu wait [ID… | --all] [OPTIONS]", "danlu wait [编号… | --all] [选项]";
    without_ids_all_of_my_tasks_that_are_not_held =
        "Without ids: all of my tasks that are not held.\n\n\
         The exit code is 0 if all succeeded, else that of the lowest id that did not:\n\
         its own, 128+n for signal n, 124 for the time limit, 130 when cancelled, 1 when\n\
         there is none.\n\n\
         Examples:\n  \
           danlu wait 12 && danlu submit -- python eval.py\n  \
           danlu wait --all",
        "不写编号：我的所有未被扣住的任务。\n\n\
         全部成功时退出码为 0，否则取编号最小的未成功者：它自己的退出码；被信号 n 终止为 128+n；\n\
         超时 124；取消 130；没有退出码则为 1。\n\n\
         示例：\n  \
           danlu wait 12 && danlu submit -- python eval.py\n  \
           danlu wait --all";
    print_the_tasks_as_one_json_document = "Print the tasks as one JSON document", "以一个 JSON 文档输出这些任务";
}

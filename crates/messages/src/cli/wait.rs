//! Sentences of cli/wait.

messages! {
    danlu_wait_id_all_options = "danlu wait [ID… | --all] [OPTIONS]", "danlu wait [编号… | --all] [选项]";
    print_json = "Print the tasks as one JSON document", "以一个 JSON 文档输出这些任务";
    about = "Wait until tasks have ended or reached a state", "等待任务结束或达到某个状态";
    help =
        "Without ids: all of my tasks that are not held.\n\n\
         The exit code is 0 if all succeeded, else that of the lowest id that did not:\n\
         its own, 128+n for signal n, 124 for the time limit, 130 when cancelled, 1 when\n\
         there is none. With --until it is 0 if each task has been in one of the states, 1 if\n\
         a task has ended without that; 124 when --timeout is over.\n\n\
         Examples:\n  \
           danlu wait 12 && danlu submit -- python eval.py\n  \
           danlu wait --all\n  \
           danlu wait 12 --until running --timeout 10m",
        "不写编号：我的所有未被扣住的任务。\n\n\
         全部成功时退出码为 0，否则取编号最小的未成功者：它自己的退出码；被信号 n 终止为 128+n；\n\
         超时 124；取消 130；没有退出码则为 1。使用 --until 时：每个任务都到过其中一个状态为 0，\n\
         有任务未到过就已结束为 1；--timeout 到期为 124。\n\n\
         示例：\n  \
           danlu wait 12 && danlu submit -- python eval.py\n  \
           danlu wait --all\n  \
           danlu wait 12 --until running --timeout 10m";
    until =
        "Wait for one of these states instead: queued, running, paused, succeeded, …; or waiting, active, ended",
        "改为等待其中一个状态：queued、running、paused、succeeded 等；或 waiting、active、ended";
    timeout =
        "Give up after this long, with exit code 124: 90s, 10m (default: never)",
        "超过该时长则放弃，退出码为 124：90s、10m（默认：一直等）";
    timed_out_task_id_is_state(id, state) = "timeout: task {id} is {state}", "等待超时：任务 {id} 的状态为 {state}";
}

//! Sentences of cli/demo.

messages! {
    about = "See it at work, with nothing to set up", "无需任何准备，看看它如何工作";
    danlu_demo_options = "danlu demo [OPTIONS]", "danlu demo [选项]";
    help =
        "Starts a server of its own in a temporary directory, with simulated GPUs where the\nmachine has none, submits some tasks and shows what happens to them. It then stays\nfor you to play with until Ctrl-C, which ends every task and the server and removes\nthe directory. A server that runs already is not touched.\n\nExamples:\n  danlu demo            look, and play with it from another terminal\n  danlu demo --once     the tour alone, as in scripts: ends by itself\n\ndanlu sim --lab-week shows how policies compare.",
        "在临时目录中启动一个单独的服务器，机器没有 GPU 时用模拟的 GPU，提交若干任务并显示\n它们的经过。之后服务器会继续运行以供试用，直到按下 Ctrl-C：结束所有任务和服务器，删除该目录。\n不影响已在运行的服务器。\n\n示例：\n  danlu demo            看演示，并在另一个终端里试用\n  danlu demo --once     只看演示，看完自动结束（供脚本使用）\n\ndanlu sim --lab-week 可比较各种调度策略。";
    end_by_itself_after_the_tour = "End by itself after the tour", "演示完后自动结束";
    could_not_wait_for_signals_cause(cause) = "could not wait for signals: {cause}", "无法等待信号：{cause}";
    could_not_start_danlu_again_cause(cause) = "could not start danlu again: {cause}", "无法重新启动 danlu：{cause}";
    after_took(took) = "after {took}", "用时 {took}";
    without_a_gpu = "without a GPU", "不用 GPU";
    on_gpu_list(list) = "on GPU {list}", "GPU {list}";
    on_gpus_list(list) = "on GPUs {list}", "GPU {list}";
    server_did_not_start(said) = "the server did not start: {said}", "服务器未能启动：{said}";
    danlu_doctor_checks_this_machine = "danlu doctor checks this machine", "danlu doctor 可检查本机";
    could_not_remove_path_cause(path, cause) = "could not remove {path}: {cause}", "无法删除 {path}：{cause}";
    could_not_use_path_cause(path, cause) = "could not use {path}: {cause}", "无法使用 {path}：{cause}";
    tmpdir_names_another_directory = "TMPDIR names another directory", "可用 TMPDIR 指定另一个目录";
    title =
        "Danlu demo: a server of its own, with a few tasks",
        "丹炉演示：一个单独的服务器和几个任务";
    free_gpus_here(free) = "the free GPUs of this machine: {free}", "使用本机的 {free} 块空闲 GPU";
    those_of_this_machine_are_in_use = "those of this machine are in use", "本机的 GPU 都在使用中";
    no_gpus_here = "this machine has none", "本机没有 GPU";
    simulated_gpus(simulated, why) =
        "{simulated} simulated GPUs, because {why}\n",
        "{why}，使用 {simulated} 块模拟的 GPU\n";
    ending_the_tasks_and_the_server = "\nending the tasks and the server …", "\n正在结束任务和服务器……";
    all_gone_path_too(path) = "all gone, {path} too\n", "已全部清除，包括 {path}\n";
    your_tasks(me) = "the tasks are yours, {me}\n", "任务属于当前用户（{me}）\n";
    tasks_of_two_users_ann_and_bo(ann, bo) = "tasks of two users: {ann} and {bo}\n", "两个用户的任务：{ann} 和 {bo}\n";
    now_you_in_another_terminal = "Try it, in another terminal:", "现在可以在另一个终端里试试：";
    listening_on(address) = "\nThe server listens on {address}\n", "\n服务器监听 {address}\n";
    ctrl_c_removes(path) =
        "Ctrl-C ends all of it and removes {path}",
        "按 Ctrl-C 结束一切，并删除 {path}";
    demo_failed(words) = "the demo went wrong: {words}", "演示出错：{words}";
    two_tasks = "Two tasks, the second when the first has succeeded:", "两个任务，前一个成功后才开始后一个：";
    array_tour = "An array of six, two at a time:", "六个任务的数组，每次运行两个：";
    typing_mistake = "A typing mistake:", "命令写错了：";
    one_that_wants_all = "One that wants all GPUs waits. What for?", "需要全部 GPU 的任务要等待。等什么？";
    those_after_it = "And those that come after it:", "还有排在后面的：";
    next_ls = "what runs, what waits and why", "在运行什么，在等什么";
    next_why = "who holds its GPUs", "谁占着 GPU";
    next_logs = "its output as it comes", "跟踪输出";
    next_show = "what went wrong", "哪里出了错";
    next_cancel = "and see what starts here", "看看接下来什么会开始";
    next_submit = "one of your own", "提交自己的任务";
    next_gpus = "the GPUs and who holds them", "各块 GPU 及占用者";
    next_passwd = "a password for the pages", "设置网页登录密码";
}

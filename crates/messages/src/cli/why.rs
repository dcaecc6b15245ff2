//! Sentences of cli/why.

messages! {
    why_a_task_waits_and_when_it_may_start = "Why a task waits, and when it may start", "任务为何等待，何时可能开始";
    danlu_why_id_options = "danlu why ID [OPTIONS]", "danlu why 编号 [选项]";
    examples_danlu_why_12_danlu_why = "Examples:\n  danlu why 12\n  danlu why @", "示例：\n  danlu why 12\n  danlu why @";
    the_task_its_id_your_last_one_1_the_one =
        "The task: its id, `@` your last one, `@~1` the one before",
        "任务：编号、`@` 您最近的、`@~1` 再前一个";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    expected_start_at(at) = "expected start {at}\n", "预计开始于 {at}\n";
    task_id_name_is_held(id, name) = "task {id} ({name}) is held.\n", "任务 {id}（{name}）被扣住。\n";
    task_id_name_waits_words(id, name, words) =
        "task {id} ({name}) waits: {words}.\n",
        "任务 {id}（{name}）等待中：{words}。\n";
    task_id_name_does_not_wait_state_words(id, name, state, words) =
        "task {id} ({name}) does not wait: {state}, {words}\n",
        "任务 {id}（{name}）没有在等待：{state}，{words}\n";
    id_name_user_state_words(id, name, user, state, words) =
        "  {id} ({name}, {user}) {state}: {words}\n",
        "  {id}（{name}，{user}）{state}：{words}\n";
    danlu_gpu_disable_on_all_but_one_of_them_or =
        "danlu gpu disable on all but one of them, or danlu node remove NAME",
        "请在其余机器上停用：danlu gpu disable，或移除：danlu node remove 机器";
    danlu_gpus_names_the_processes = "danlu gpus names the processes", "danlu gpus 会列出这些进程";
    free_free(free) = "{free} free", "空闲 {free} 块";
    count_held_by_id_who(count, id, who) = "{count} held by {id}{who}", "{count} 块由 {id} 占用{who}";
    gpu_index_used_outside_danlu_by_who(index, who) =
        "GPU {index} used outside Danlu by {who}",
        "GPU {index} 被外部占用：{who}";
    user_ends_by_at(user, at) = " ({user}, ends by {at})", "（{user}，最迟 {at} 结束）";
    user(user) = " ({user})", "（{user}）";
}

//! Sentences of cli/why.

messages! {
    about = "Why a task waits, and when it may start", "任务为何等待，何时可能开始";
    danlu_why_id_options = "danlu why ID [OPTIONS]", "danlu why 编号 [选项]";
    examples_danlu_why_12_danlu_why = "Examples:\n  danlu why 12\n  danlu why @", "示例：\n  danlu why 12\n  danlu why @";
    task_id =
        "Task: its id, `@` for your last one, `@~1` for the one before",
        "任务：编号、`@`（最近的任务）或 `@~1`（再前一个）";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    task_id_name_is_held(id, name) = "task {id} ({name}) is held.\n", "任务 {id}（{name}）被扣住。\n";
    not_waiting(id, name, state, words) =
        "task {id} ({name}) is not waiting: {state}, {words}\n",
        "任务 {id}（{name}）没有在等待：{state}，{words}\n";
    id_name_user_state_words(id, name, user, state, words) =
        "  {id} ({name}, {user}) {state}: {words}\n",
        "  {id}（{name}，{user}）{state}：{words}\n";
    disable_or_remove =
        "disable it on all but one of them (danlu gpu disable), or remove one: danlu node remove NAME",
        "请在其余机器上停用（danlu gpu disable），或移除其中一台：danlu node remove 名称";
    danlu_gpus_names_the_processes = "danlu gpus lists the processes", "danlu gpus 会列出这些进程";
    free_free(free) = "{free} free", "空闲 {free} 块";
    gpu_index_used_outside_danlu_by_who(index, who) =
        "GPU {index} used outside Danlu by {who}",
        "GPU {index} 被外部占用：{who}";
    ends_by(user, at) = " ({user}, ends by {at})", "（{user}，最迟 {at} 结束）";
    user(user) = " ({user})", "（{user}）";
    place(place) = " {place}.", "{place}。";
    short(short) = ", {short}", "，{short}";
    waits_for_resources(id, name, needs, short, place) =
        "task {id} ({name}) waits: it needs {needs}{short}.{place}\n",
        "任务 {id}（{name}）等待中。需要：{needs}{short}。{place}\n";
    task_id_name_waits_words_place(id, name, words, place) =
        "task {id} ({name}) waits: {words}.{place}\n",
        "任务 {id}（{name}）等待中：{words}。{place}\n";
    semicolon = "; ", "；";
    expected_start(at) = "expected start {at}", "预计开始于 {at}";
    starts_when(all) = "It starts when {all}.", "以下条件全部满足后开始：{all}。";
    starts_when_expected(all, at) =
        "It starts when {all}: expected start {at}.",
        "以下条件全部满足后开始：{all}。预计开始于 {at}。";
    has_reservation = " It has the reservation for it.", "已为它预留。";
    or = ", or ", "，或 ";
    would_start_with(options) = "It would start now with: {options}\n", "改为以下选项可立即开始：{options}\n";
    no_model(model) = "no {model}", "没有 {model}";
    comma = ", ", "、";
    count_held_by_names(count, names) = "{count} held by {names}", "{count} 块被占用：{names}";
    count_shared_by_names(count, names) = "{count} shared by {names}", "{count} 块被共享：{names}";
}

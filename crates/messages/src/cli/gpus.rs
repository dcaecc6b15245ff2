//! Sentences of cli/gpus.

messages! {
    about = "The GPUs, their use, and who has them", "GPU 及其使用情况和占用者";
    danlu_gpus_options = "danlu gpus [OPTIONS]", "danlu gpus [选项]";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    no_gpus = "no GPUs; danlu doctor checks why\n", "没有 GPU；danlu doctor 可检查原因\n";
    node = "NODE", "机器";
    model = "MODEL", "型号";
    memory = "MEMORY", "显存";
    use_ = "USE", "利用率";
    holder = "HOLDER", "占用者";
    reported_twice(uuid, node, others, index) =
        "GPU {uuid} is reported by both {node} and {others} and is not assigned. Disable it on all but one (danlu gpu disable {index} --node {node}), or remove the other name (danlu node remove {others})",
        "GPU {uuid} 同时由 {node} 和 {others} 报告，不参与分配。请只在一台上启用（在其余机器上执行 danlu gpu disable {index} --node {node}），或移除另一个名称（danlu node remove {others}）";
    outside_who(who) = "outside: {who}", "外部：{who}";
    taken_of_slots_slots(taken, slots) = "{taken} of {slots} slots", "名额 {taken}/{slots}";
}

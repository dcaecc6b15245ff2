//! Sentences of cli/gpu.

messages! {
    about =
        "Which GPUs tasks are assigned to, and how many per GPU",
        "哪些 GPU 参与分配，各容纳几个任务";
    usage =
        "danlu gpu enable|disable ID…  |  slots ID=K…",
        "danlu gpu enable|disable 编号…  |  slots 编号=名额…";
    help =
        "Tasks already running on a disabled GPU continue. Enabling a GPU ends its quarantine.\n\nExamples:\n  danlu gpu disable 3\n  danlu gpu enable 0-2\n  danlu gpu slots 0=2 1=4",
        "停用的 GPU 上已运行的任务会继续。启用同时解除隔离。\n\n示例：\n  danlu gpu disable 3\n  danlu gpu enable 0-2\n  danlu gpu slots 0=2 1=4";
    about_enable =
        "Assign tasks to these GPUs again; ends their quarantine",
        "启用，并解除隔离";
    danlu_gpu_enable_id_node_name = "danlu gpu enable ID… [--node NAME]", "danlu gpu enable 编号… [--node 名称]";
    give_them_to_nobody_new = "Stop assigning tasks to these GPUs", "停用，不再分配";
    danlu_gpu_disable_id_node_name = "danlu gpu disable ID… [--node NAME]", "danlu gpu disable 编号… [--node 名称]";
    so_many_tasks_share_a_gpu_by_count = "Number of tasks that share a GPU", "一块 GPU 可同时容纳几个任务";
    danlu_gpu_slots_id_k_node_name = "danlu gpu slots ID=K… [--node NAME]", "danlu gpu slots 编号=名额… [--node 名称]";
    slots_argument = "GPU and number of tasks: 0=2", "GPU 编号与任务数：0=2";
    gpu_numbers = "GPUs by their numbers: 0, 0,2 or 0-3", "GPU 编号：0、0,2 或 0-3";
    on_this_machine = "On this machine", "所在机器";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
}

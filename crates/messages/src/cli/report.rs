//! Sentences of cli/report.

messages! {
    how_good_predictions_were = "Accuracy of predictions", "预测的准确程度";
    danlu_report_predictions_json = "danlu report --predictions [--json]", "danlu report --predictions [--json]";
    help =
        "Where nobody says how long a task runs, tasks that have ended tell (danlu set predictions).\n\n\
         Examples:\n  danlu report --predictions",
        "没有写明时限时，由已结束的任务来预测（danlu set predictions）。\n\n\
         示例：\n  danlu report --predictions";
    predictions =
        "How long tasks ran and waited, and what was predicted",
        "任务实际运行与等待多久，以及当时的预测";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    how_long_tasks_run = "how long tasks run", "运行时长";
    how_long_tasks_wait = "how long tasks wait", "等待时长";
    what_nothing_to_compare_yet(what) = "{what}: nothing to compare yet\n", "{what}：还没有可比较的任务\n";
    compared(what, compared, percent, bias) =
        "{what}: {compared} predictions, {percent:.0} % within ± 25 %{bias}\n",
        "{what}：{compared} 次预测，{percent:.0} % 误差在 ± 25 % 以内{bias}\n";
    percent_too_short_in_sum(percent) = ", {percent:.0} % too short in sum", "，总体偏短 {percent:.0} %";
    percent_too_long_in_sum(percent) = ", {percent:.0} % too long in sum", "，总体偏长 {percent:.0} %";
}

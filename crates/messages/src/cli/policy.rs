//! Sentences of cli/policy.

messages! {
    show_or_change_who_comes_first = "Show or change the scheduling policy", "查看或修改调度策略";
    danlu_policy_show_set_name = "danlu policy [show | set NAME]", "danlu policy [show | set 名称]";
    help =
        "NAME is an order, or an order and a backfill rule:\n  \
           balance  users in turn, who has few GPUs first (the default)\n  \
           fair     users in turn, who has used little of late first\n  \
           fifo     first come, first served\n  \
           auto     by what ended tasks tell, with a backfill rule of its own\n  \
           sjf      shortest first\n  \
           srtf     shortest rest first, preempts\n  \
           las      least service first, preempts\n\n  \
           none     the first in the queue blocks the others\n  \
           skip     whatever fits starts\n  \
           easy     a later task starts if it does not delay the first (the default)\n\n\
         Examples:\n  danlu policy\n  danlu policy set fifo+easy",
        "名称是次序，或次序加回填规则：\n  \
           balance  用户轮流，占用 GPU 少的优先（默认）\n  \
           fair     用户轮流，近来用得少的优先\n  \
           fifo     先来先服务\n  \
           auto     由已结束的任务推断，自带回填规则\n  \
           sjf      最短优先\n  \
           srtf     剩余最短优先，可抢占\n  \
           las      已得服务最少优先，可抢占\n\n  \
           none     队首挡住后面的任务\n  \
           skip     放得下的就开始\n  \
           easy     不推迟队首的任务可以先开始（默认）\n\n\
         示例：\n  danlu policy\n  danlu policy set fifo+easy";
    show_the_policy = "Show the policy", "查看策略";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    change_it_at_once = "Change the policy; takes effect at once", "修改策略，立即生效";
    danlu_policy_set_name = "danlu policy set NAME", "danlu policy set 名称";
    such_as_balance_or_fifo_easy = "For example balance or fifo+easy", "如 balance 或 fifo+easy";
}

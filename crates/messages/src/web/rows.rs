//! Sentences of web/rows.

messages! {
    count_state(count, state) = "{count} {state}", "{count} 个{state}";
    comma = ", ", "，";
    what_evidence(what, evidence) = "{what}: {evidence}", "{what}：{evidence}";
    limit_all_left_left(all, left) = "limit {all}, {left} left", "上限 {all}，剩余 {left}";
}

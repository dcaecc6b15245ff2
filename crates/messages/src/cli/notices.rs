//! Sentences of cli/notices.

messages! {
    about =
        "Notices about the server itself, such as a restored backup",
        "关于服务器本身的通知，例如已从备份恢复";
    danlu_notices_options = "danlu notices [OPTIONS]", "danlu notices [选项]";
    help =
        "They stay on top of `danlu status` and of the web pages until an admin acknowledges them.\n\n\
         Examples:\n  danlu notices\n  danlu notices --acknowledge restored-1794888000000\n  danlu notices --acknowledge-all",
        "在管理员确认之前，它们一直显示在 `danlu status` 和网页顶部。\n\n\
         示例：\n  danlu notices\n  danlu notices --acknowledge restored-1794888000000\n  danlu notices --acknowledge-all";
    acknowledge_this_notice_admins = "Acknowledge this notice (admins)", "确认该通知（管理员）";
    acknowledge_all_notices_admins = "Acknowledge all notices (admins)", "确认全部通知（管理员）";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    acknowledged_count(count) = "acknowledged {count}\n", "已确认 {count} 条\n";
    no_notices = "no notices\n", "没有通知\n";
    hint = "hint: ", "提示：";
}

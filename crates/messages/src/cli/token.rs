//! Sentences of cli/token.

messages! {
    about = "Tokens for programs that use the API over the network", "供程序通过网络访问的令牌";
    usage =
        "danlu token [list | new NAME | revoke NAME]",
        "danlu token [list | new 名称 | revoke 名称]";
    help =
        "Examples:\n  \
           danlu token new ci                             prints it, this once\n  \
           danlu token new board --scope read --expires 30d\n  \
           DANLU_SERVER=http://gpu1:8787 DANLU_TOKEN=$(danlu token new laptop -q) danlu ls\n  \
           danlu token revoke ci",
        "示例：\n  \
           danlu token new ci                             显示一次\n  \
           danlu token new board --scope read --expires 30d\n  \
           DANLU_SERVER=http://gpu1:8787 DANLU_TOKEN=$(danlu token new laptop -q) danlu ls\n  \
           danlu token revoke ci";
    show_your_tokens = "Show your tokens", "列出自己的令牌";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    make_a_token_and_print_it_this_once = "Create a token and print it once", "生成令牌并显示一次";
    danlu_token_new_name_options = "danlu token new NAME [OPTIONS]", "danlu token new 名称 [选项]";
    make_a_token_worthless_at_once = "Revoke a token at once", "立即吊销令牌";
    danlu_token_revoke_name_id = "danlu token revoke NAME|ID…", "danlu token revoke 名称|编号…";
    which = "Which", "哪些";
    what_it_is_for = "What it is for", "用途";
    read_submit_or_admin = "read, submit or admin", "read、submit 或 admin";
    expires =
        "Lifetime, for example 30d (default: until revoked)",
        "有效期，如 30d（默认：直到吊销）";
    print_the_token_alone = "Print only the token", "只输出令牌";
    shown_once(secret) =
        "{secret}\nThis is shown once. Programs use it as DANLU_TOKEN, or as `Authorization: Bearer …`.\n",
        "{secret}\n仅显示这一次。程序可通过 DANLU_TOKEN 或 `Authorization: Bearer …` 使用。\n";
    revoked_name(name) = "revoked {name}\n", "已吊销 {name}\n";
    no_tokens =
        "no tokens; create one: danlu token new NAME\n",
        "没有令牌；可用 danlu token new 名称 生成\n";
    name = "NAME", "名称";
    scope = "SCOPE", "范围";
    made = "CREATED", "创建于";
    good_until = "VALID UNTIL", "有效期至";
    until_revoked = "revoked", "直到吊销";
}

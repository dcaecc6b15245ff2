//! HTTP responses: ETag, compression, and errors in the language of the request.

use crate::support::daemon::Daemon;
use crate::support::http::Connection;
use flate2::read::GzDecoder;
use std::io::Read as _;

fn reader(daemon: &Daemon) -> String {
    let token = daemon.say(&["token", "new", "reader", "-q", "--scope", "read"]);
    format!("authorization: Bearer {}\r\n", token.trim())
}

#[test]
fn unchanged_responses_are_answered_with_304() {
    let daemon = Daemon::start();
    let (mut connection, who) = (Connection::to(daemon.address()), reader(&daemon));
    for path in ["/api/v1/tasks?limit=10", "/api/v1/users", "/api/v1/openapi.json"] {
        let first = connection.ask(&format!("GET {path}"), &who, b"");
        let tag = first.header("etag").unwrap_or_else(|| panic!("{path}: {first:?}")).to_owned();
        let headers = format!("{who}if-none-match: {tag}\r\n");
        let (again, body) = connection.raw(&format!("GET {path}"), &headers);
        assert_eq!((again.status, body.len()), (304, 0), "{path}: {again:?}");
        assert_eq!(again.header("etag"), Some(tag.as_str()));
    }
    let first = connection.ask("GET /api/v1/tasks", &who, b"");
    let headers = format!("{who}if-none-match: {}\r\n", first.header("etag").expect("a tag"));
    daemon.say(&["submit", "-q", "--hold", "--", "true"]);
    let changed = connection.ask("GET /api/v1/tasks", &headers, b"");
    assert_eq!((changed.status, &changed.body["total"]), (200, &1.into()));
}

#[test]
fn responses_are_compressed_for_clients_that_accept_gzip() {
    let daemon = Daemon::start();
    daemon.say(&["submit", "-q", "--hold", "-a", "0-50", "--", "true"]);
    let (mut connection, who) = (Connection::to(daemon.address()), reader(&daemon));
    let takes = format!("{who}accept-encoding: br, gzip\r\n");
    for path in ["/api/v1/tasks?limit=50", "/api/v1/openapi.json", "/assets/htmx.js"] {
        let request = format!("GET {path}");
        let (plain, whole) = connection.raw(&request, &who);
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        let (smaller, bytes) = connection.raw(&request, &takes);
        assert_eq!(smaller.header("content-encoding"), Some("gzip"), "{path}: {smaller:?}");
        assert_eq!(smaller.header("vary"), Some("accept-encoding"));
        assert!(bytes.len() * 2 < whole.len(), "{path}: {} of {}", bytes.len(), whole.len());
        let mut unpacked = Vec::new();
        GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).expect("it is gzip");
        assert_eq!(unpacked, whole, "{path}");
    }
}

/// Pages carry the word that protects a session, beside what an address can bring in: their length tells nothing.
#[test]
fn pages_streams_and_short_answers_are_not_compressed() {
    let daemon = Daemon::start();
    let takes = format!("{}accept-encoding: gzip\r\n", reader(&daemon));
    for path in ["/", "/tasks?name=x", "/me", "/api/v1/whoami", "/healthz"] {
        let (reply, _) = Connection::to(daemon.address()).raw(&format!("GET {path}"), &takes);
        assert_eq!((reply.status, reply.header("content-encoding")), (200, None), "{path}");
    }
    let head = Connection::to(daemon.address()).head_of("GET /api/v1/events", &takes);
    assert_eq!((head.status, head.header("content-encoding")), (200, None));
}

#[test]
fn unknown_addresses_are_404_as_page_or_document() {
    let daemon = Daemon::start();
    let browser = "accept: text/html,application/xhtml+xml\r\naccept-language: zh\r\n";
    let (reply, body) = Connection::to(daemon.address()).raw("GET /no/such/page", browser);
    let page = String::from_utf8(body).expect("text");
    assert_eq!(reply.status, 404);
    assert!(page.contains("</html>") && page.contains("没有这个页面"), "{page}");
    assert!(reply.header("content-security-policy").is_some(), "{reply:?}");
    for (request, headers) in
        [("GET /no/such/page", ""), ("GET /api/v1/nothing", browser), ("GET /api/nothing", browser)]
    {
        let reply = Connection::to(daemon.address()).ask(request, headers, b"");
        assert_eq!((reply.status, &reply.body["error"]["code"]), (404, &"not_found".into()));
    }
}

#[test]
fn refusals_on_chinese_pages_are_chinese() {
    let daemon = Daemon::start();
    let headers = format!("{}accept-language: zh\r\n", reader(&daemon));
    let page = Connection::to(daemon.address()).text("GET /tasks/4711", &headers);
    assert!(page.contains("没有任务 4711"), "{page}");
    let headers = format!("{}accept-language: en\r\n", reader(&daemon));
    let page = Connection::to(daemon.address()).text("GET /tasks/4711", &headers);
    assert!(page.contains("there is no task 4711"), "{page}");
}

#[test]
fn errors_of_the_api_are_in_the_language_that_is_asked_for() {
    let daemon = Daemon::start();
    let check = |request: &str, headers: &str, message: &str, hint: &str| {
        let reply = Connection::to(daemon.address()).ask(request, headers, b"");
        let error = &reply.body["error"];
        assert_eq!((&error["message"], &error["hint"]), (&message.into(), &hint.into()));
    };
    let (chinese, english) = ("accept-language: zh\r\n", "accept-language: en, zh;q=0.5\r\n");
    let who = reader(&daemon);
    let task = "GET /api/v1/tasks/4711/logs";
    check(task, &format!("{who}{english}"), "there is no task 4711", "danlu ls -a lists all tasks");
    let reply = Connection::to(daemon.address()).ask(task, &format!("{who}{chinese}"), b"");
    assert_eq!(reply.body["error"]["message"], "没有任务 4711");
    let nowhere = "GET /api/v1/nowhere";
    check(nowhere, chinese, "未知地址", "地址列表见 /api/v1/openapi.json");
    check(nowhere, "", "unknown address", "/api/v1/openapi.json lists them");
    // A program that asks for no language gets that of its account.
    let change =
        Connection::open(daemon.socket()).ask("PATCH /api/v1/me", "", br#"{"language":"zh"}"#);
    assert_eq!(change.status, 200, "{change:?}");
    let reply = Connection::to(daemon.address()).ask(task, &who, b"");
    assert_eq!(reply.body["error"]["message"], "没有任务 4711");
    check(task, &format!("{who}{english}"), "there is no task 4711", "danlu ls -a lists all tasks");
}

#[test]
fn the_command_line_tells_refusals_of_the_server_in_the_language_of_the_person() {
    let daemon = Daemon::start();
    let mut command = daemon.command(&["show", "4711"]);
    let said =
        crate::support::danlu::answer(command.env("DANLU_LANG", "zh").output().expect("it starts"));
    assert!(said.stderr.starts_with("错误：没有任务 4711\n提示："), "{said:?}");
    let said = daemon.ask(&["show", "4711"]);
    assert!(said.stderr.starts_with("error: there is no task 4711\nhint: "), "{said:?}");
}

#[test]
fn the_api_has_a_page_that_anybody_can_read_in_both_languages() {
    let daemon = Daemon::start();
    for (language, words) in [("en", "Submit a task or an array"), ("zh", "提交任务或数组")]
    {
        let headers = format!("accept-language: {language}\r\n");
        let page = Connection::to(daemon.address()).text("GET /docs/api", &headers);
        assert!(page.contains(words) && page.contains("/api/v1/tasks/{id}/logs"), "{page}");
        assert!(page.contains("curl -X POST") && page.contains("idle_util"), "{page}");
        assert!(!page.contains("http://") && !page.contains("https://"), "nothing foreign: {page}");
    }
}

#[test]
fn quotas_and_notices_are_kept_from_their_pages() {
    let mut daemon = Daemon::start();
    let token = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let who = format!("authorization: Bearer {}\r\n", token.trim());
    let send = |daemon: &Daemon, path: &str, body: &str| {
        let form = format!("{who}content-type: application/x-www-form-urlencoded\r\n");
        Connection::to(daemon.address()).form(&format!("POST {path}"), &form, body)
    };
    let limits = "running_tasks=&running_gpus=3&queued_tasks=&gpu_hours=100";
    assert_eq!(send(&daemon, "/admin/quotas", &format!("of=project&name=vision&{limits}")), 303);
    assert_eq!(send(&daemon, "/admin/quotas", &format!("of=everybody&{limits}")), 303);
    assert_eq!(send(&daemon, "/admin/quotas", "of=everybody&running_gpus=many"), 400);
    assert_eq!(send(&daemon, "/me/notify", "email=a%40lab.example&failure=yes"), 303);
    daemon.crash_and_restart();
    let mut connection = Connection::to(daemon.address());
    let quota = connection.ask("GET /api/v1/settings", &who, b"").body["settings"]["quota"].clone();
    assert_eq!(
        (&quota["project"]["vision"]["running_gpus"], &quota["user"]["gpu_hours"]),
        (&3.into(), &100.into())
    );
    let page = connection.text("GET /admin/quotas", &who);
    assert!(
        page.contains("vision") && page.contains("0 / 3") && page.contains("0.0 / 100"),
        "{page}"
    );
    let me = connection.ask("GET /api/v1/me", &who, b"").body;
    assert_eq!((&me["notify"]["failure"], &me["notify"]["start"]), (&true.into(), &false.into()));
    assert_eq!(me["email"], "a@lab.example");
}

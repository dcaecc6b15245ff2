//! `danlu report`: what was used, and how good predictions were.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu::answer;
use crate::support::http::{Connection, Reply};
use crate::support::receiver::{Received, Receiver};
use serde_json::{Value, json};
use std::fs;

#[test]
fn predictions_are_compared_with_what_came() {
    let daemon = Daemon::start();
    let none = daemon.json(&["report", "--predictions", "--json"]);
    assert_eq!(none["predictions"]["durations"]["compared"], 0);
    assert!(none["predictions"]["durations"]["bias"].is_null());
    for _ in 0..2 {
        let task = daemon.submit("-g 1", "true");
        daemon.say(&["wait", &task]);
    }
    let told = daemon.json(&["report", "--predictions", "--json"]);
    assert_eq!(told["v"], 1);
    assert_eq!(told["predictions"]["durations"]["compared"], 1, "{told}");
    assert_eq!(told["predictions"]["starts"]["compared"], 2, "{told}");
    assert_eq!(told["predictions"]["starts"]["within_25_percent"], 1.0, "they start at once");
    let mut command = daemon.command(&["report", "--predictions"]);
    let words = answer(command.env("DANLU_LANG", "zh").output().expect("it starts")).stdout;
    assert!(words.contains("运行时长：1 次预测"), "{words}");
    let both = daemon.ask(&["report", "--predictions", "--by", "day"]);
    assert_eq!(both.status, 2, "{both:?}");
}

#[track_caller]
fn report(daemon: &Daemon, options: &str) -> Value {
    let words: Vec<&str> = ["report", "--json"].into_iter().chain(options.split(' ')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    daemon.json(&words)["report"].clone()
}

/// The GPU-hours of tasks as `danlu show` tells them.
fn by_hand(daemon: &Daemon, tasks: &[String]) -> f64 {
    let at = |time: &Value| {
        let time = time.as_str().expect("it has ended").parse::<jiff::Timestamp>();
        time.expect("it is a time").as_millisecond()
    };
    let hours = |run: &Value, gpus: f64| {
        gpus * (at(&run["ended_at"]) - at(&run["started_at"])) as f64 / 3_600_000.0
    };
    let of_task = |id: &String| {
        let told = daemon.json(&["show", id, "--json"]);
        let runs = told["task"]["runs"].as_array().expect("a list").clone();
        let gpus = told["task"]["gpus"].as_f64().expect("a number");
        runs.iter().map(|run| hours(run, gpus)).sum::<f64>()
    };
    tasks.iter().map(of_task).sum()
}

#[test]
fn what_was_used_is_told_by_everything_and_survives() {
    let mut daemon = Daemon::start_with(Setup::simulated(4));
    let good = daemon.submit("-g 2 --project vision", "sleep 0.3");
    let bad = daemon.submit("-g 1", "sleep 0.1; exit 3");
    let twice = daemon.submit("-g 1 --retries 1", "sleep 0.1; exit 4");
    for (id, state) in [(&good, "succeeded"), (&bad, "failed"), (&twice, "failed")] {
        daemon.wait_until(id, state);
    }
    let hours = by_hand(&daemon, &[good.clone(), bad.clone(), twice.clone()]);
    let whole = report(&daemon, "");
    let total = &whole["total"];
    let is = |value: &Value, expect: f64| (value.as_f64().unwrap_or(-1.0) - expect).abs() < 1e-6;
    assert!(is(&total["gpu_hours"], hours), "{hours}: {whole}");
    assert_eq!((&total["tasks"], &total["failed"]), (&json!(3), &json!(2)), "{whole}");
    assert_eq!(total["failures"]["other"], 3, "every attempt that failed: {whole}");
    assert_eq!((&whole["complete"], &whole["own"]), (&json!(true), &json!(false)));
    assert_eq!(total["wait"]["tasks"], 3);
    for by in ["user", "project", "node", "model", "day", "week", "month", "project,node,day"] {
        let report = report(&daemon, &format!("--by {by}"));
        let groups = report["groups"].as_array().expect("a list").clone();
        let sum = |name: &str| {
            groups.iter().map(|it| it["figures"][name].as_f64().unwrap_or(0.0)).sum::<f64>()
        };
        assert!(is(&total["gpu_hours"], sum("gpu_hours")), "{by}: {report}");
        assert!((sum("tasks") - 3.0).abs() < 0.1, "{by}: {report}");
    }
    let by_project = report(&daemon, "--by project");
    assert_eq!(by_project["groups"][0]["key"]["project"], "vision", "it used most: {by_project}");
    assert_eq!(by_project["groups"][1]["key"]["project"], Value::Null);
    let only = report(&daemon, "--project vision --by day --since 1d");
    assert!(is(&only["total"]["gpu_hours"], by_hand(&daemon, std::slice::from_ref(&good))));

    // Who removes a task has used it all the same; neither a crash nor a damaged file changes that.
    daemon.say(&["rm", "--yes", &bad]);
    daemon.crash_and_restart();
    let again = report(&daemon, "");
    assert!(is(&again["total"]["gpu_hours"], hours), "{again}");
    assert_eq!(again["total"]["tasks"], 3);
    daemon.terminate();
    let file = daemon.data().join("reports.db");
    fs::write(&file, "this is no database, however long one looks at it".repeat(99)).expect("ours");
    daemon.start_again();
    until("it is read again", || report(&daemon, "")["complete"] == true);
    let rest = report(&daemon, "");
    assert_eq!(rest["total"]["tasks"], 2, "what is removed is known to that file alone: {rest}");
    assert!(is(&rest["total"]["gpu_hours"], by_hand(&daemon, &[good, twice])), "{rest}");
    assert!(file.with_extension("db.unreadable").exists(), "it is kept for who wants to mend it");
}

#[test]
fn what_runs_counts_so_far_and_one_that_is_retried_counts_again() {
    let daemon = Daemon::start_with(Setup::simulated(2));
    let task = daemon.submit("-g 2", "sleep 1000");
    daemon.wait_until(&task, "running");
    let told = report(&daemon, "");
    assert_eq!((&told["total"]["running"], &told["total"]["tasks"]), (&json!(1), &json!(1)));
    let so_far = told["total"]["gpu_hours"].as_f64().expect("a number");
    until("there is more", || {
        report(&daemon, "")["total"]["gpu_hours"].as_f64().is_some_and(|now| now > so_far)
    });
    let before = report(&daemon, "--until 1h --since 2h");
    assert_eq!(before["total"]["tasks"], 0, "{before}");
    daemon.say(&["cancel", "--yes", &task]);
    daemon.wait_until(&task, "cancelled");
    assert_eq!(report(&daemon, "")["total"]["cancelled"], 1);
    daemon.say(&["retry", &task]);
    daemon.wait_until(&task, "running");
    let told = report(&daemon, "");
    let total = &told["total"];
    assert_eq!((&total["running"], &total["cancelled"]), (&json!(1), &json!(0)), "{told}");
    assert!(total["gpu_hours"].as_f64().is_some_and(|now| now > so_far), "both attempts: {told}");
}

#[test]
fn it_is_printed_as_people_and_programs_want_it() {
    let daemon = Daemon::start_with(Setup::simulated(2));
    let task = daemon.submit("-g 1 --project =sum,1", "sleep 0.1");
    daemon.wait_until(&task, "succeeded");
    let words = daemon.say(&["report", "--by", "project,model"]);
    assert!(words.contains("PROJECT") && words.contains("=sum,1"), "{words}");
    let mut command = daemon.command(&["report", "--by", "project"]);
    let words = answer(command.env("DANLU_LANG", "zh").output().expect("it starts")).stdout;
    assert!(words.contains("项目") && words.contains("GPU 小时"), "{words}");
    let csv = daemon.say(&["report", "--by", "project", "--csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("project,gpu_hours,cpu_hours,tasks,"), "{csv}");
    assert!(lines[1].starts_with("\"'=sum,1\",0.0"), "no spreadsheet computes it: {csv}");
    let bars = daemon.say(&["report", "--by", "day", "--since", "3d", "--plot"]);
    assert!(bars.contains('█'), "{bars}");
    let file = daemon.directory().join("use.svg");
    daemon.say(&["report", "--by", "project,day", "--plot", &file.display().to_string()]);
    let svg = fs::read_to_string(file).expect("it was written");
    assert!(svg.starts_with("<svg ") && svg.contains("=sum,1"), "{svg}");
    let refused = [
        (vec!["--by", "colour"], 2),
        (vec!["--by", "day,week"], 2),
        (vec!["--since", "yesterday"], 2),
        (vec!["--since", "1h", "--until", "2h"], 64),
        (vec!["--tz", "Nowhere/Else"], 2),
        (vec!["--user", "nobody-like-that"], 69),
        (vec!["--plot", "use.png"], 2),
        (vec!["--csv", "--json"], 2),
    ];
    for (options, status) in refused {
        let words: Vec<&str> = ["report"].into_iter().chain(options).collect();
        let answer = daemon.ask(&words);
        assert_eq!(answer.status, status, "{words:?}: {answer:?}");
        assert!(answer.stderr.lines().count() >= 2, "an error and a hint: {answer:?}");
    }
    let page = Connection::open(daemon.socket()).text("GET /reports?by=project", "");
    assert!(page.contains("=sum,1") && page.contains("<svg xmlns"), "{page}");
}

/// Days are those of the zone that is asked for, and days without use are days.
#[test]
fn days_are_those_of_the_zone() {
    let daemon = Daemon::start_with(Setup::simulated(1));
    let task = daemon.submit("-g 1", "sleep 0.2");
    daemon.wait_until(&task, "succeeded");
    let zones = ["+00:00", "+05:30", "-09:30"];
    for zone in zones {
        let by_day = report(&daemon, &format!("--by day --since 2d --tz {zone}"));
        let days = by_day["groups"].as_array().expect("a list");
        assert!((2..=3).contains(&days.len()), "all days, also without use: {by_day}");
        let offset: jiff::tz::Offset = jiff::tz::Offset::from_seconds(match zone {
            "+05:30" => 19_800,
            "-09:30" => -34_200,
            _ => 0,
        })
        .expect("an offset");
        let today = offset.to_datetime(jiff::Timestamp::now()).date().to_string();
        assert_eq!(by_day["periods"].as_array().and_then(|all| all.last()), Some(&json!(today)));
    }
}

const PASSWORD: &str = "correct horse";

fn log_in(daemon: &Daemon, name: &str) -> String {
    let body = json!({ "user": name, "password": PASSWORD });
    let reply = Connection::to(daemon.address()).json("POST /api/v1/session", &body);
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next());
    let csrf = reply.body["csrf"].as_str().expect("it is told");
    format!("cookie: {}\r\nx-csrf-token: {csrf}\r\n", cookie.expect("a session"))
}

fn ask(daemon: &Daemon, headers: &str, request: &str, body: &Value) -> Reply {
    Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
}

#[test]
fn with_own_visibility_nobody_but_administrators_sees_what_others_used() {
    let daemon = Daemon::start_with(Setup::simulated(2));
    let token = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", token.trim());
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    for name in ["owner-of-it", "ann"] {
        let body = json!({ "name": name, "password": PASSWORD, "os_user": me });
        assert_eq!(ask(&daemon, &admin, "POST /api/v1/users", &body).status, 201);
    }
    let (other, ann) = (log_in(&daemon, "owner-of-it"), log_in(&daemon, "ann"));
    for (who, project, gpus) in [(&other, "secret-project", 2), (&ann, "mine", 1)] {
        let command = json!(["sleep", "0.1"]);
        let body =
            json!({ "command": command, "gpus": gpus, "project": project, "directory": "/" });
        let reply = ask(&daemon, who, "POST /api/v1/tasks", &body);
        let id = reply.body["id"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
        daemon.wait_until(&id.to_string(), "succeeded");
    }
    let ann_token =
        ask(&daemon, &ann, "POST /api/v1/tokens", &json!({ "name": "cli", "scope": "read" }));
    let ann_token = ann_token.body["secret"].as_str().expect("a token").to_owned();
    let command_of_ann = |options: &[&str]| {
        let mut command = daemon.command(&["report"]);
        command.args(options).env("DANLU_SERVER", format!("http://{}", daemon.address()));
        answer(command.env("DANLU_TOKEN", &ann_token).output().expect("it starts"))
    };
    let tasks = |headers: &str, query: &str| {
        let reply =
            ask(&daemon, headers, &format!("GET /api/v1/reports/usage?{query}"), &json!({}));
        (reply.status, reply.body["report"]["total"]["tasks"].as_u64())
    };
    assert_eq!(tasks(&ann, ""), (200, Some(2)), "everybody sees everything");
    daemon.say(&["set", "visibility", "own"]);
    assert_eq!(tasks(&admin, ""), (200, Some(2)));
    let hidden = |what: &str, said: &str| {
        for word in ["owner-of-it", "secret-project"] {
            assert!(!said.contains(word), "{what} tells {word}: {said}");
        }
    };
    for by in ["user", "project", "node", "model", "day", "user,project,day"] {
        assert_eq!(tasks(&ann, &format!("by={by}")), (200, Some(1)), "sums are one's own: {by}");
        for form in ["", ".csv", ".svg"] {
            let path = format!("/api/v1/reports/usage{form}?by={by}");
            let said = Connection::to(daemon.address()).text(&format!("GET {path}"), &ann);
            hidden(&path, &said);
        }
        let page = format!("GET /reports?by={by}");
        hidden(&page, &Connection::to(daemon.address()).text(&page, &ann));
        let said = command_of_ann(&["--by", by]);
        assert_eq!(said.status, 0, "{said:?}");
        hidden("the command", &said.stdout);
    }
    assert!(command_of_ann(&[]).stderr.contains("own"), "it says so");
    assert_eq!(tasks(&ann, "user=ann"), (200, Some(1)));
    assert_eq!(tasks(&ann, "user=owner-of-it").0, 404, "as one who does not exist");
    assert_eq!(tasks(&ann, "project=secret-project"), (200, Some(0)));
    assert_eq!(tasks(&admin, "user=owner-of-it"), (200, Some(1)));
}

/// Moves all that is booked to the middle of the last month; the month is returned.
fn to_last_month(daemon: &Daemon) -> String {
    let today = jiff::Zoned::now().date();
    let day = today.first_of_month().yesterday().expect("a day").with().day(15).build();
    let day = day.expect("the 15th");
    let days = jiff::Zoned::now().date().since(day).expect("in the past").get_days();
    let book = rusqlite::Connection::open(daemon.data().join("reports.db")).expect("it is there");
    let moved = book.execute(
        "UPDATE piece SET ended = ended - ?1, begun = begun - ?1",
        [i64::from(days) * 86_400_000],
    );
    assert!(moved.expect("it is ours") > 0);
    day.strftime("%Y-%m").to_string()
}

/// The server was away when the month ended; it is told once, whatever happens then.
#[test]
fn the_last_month_is_told_once() {
    let receiver = Receiver::start();
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    let text = format!(
        "[notify]\nurl = \"http://gpu.example\"\n[notify.webhook.hook]\nurl = \"{}\"\n[reports]\nmonthly = [\"hook\"]\n",
        receiver.url()
    );
    fs::write(&config, text).expect("a file");
    let mut setup = Setup::simulated(2);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let mut daemon = Daemon::start_in(directory, setup);
    let good = daemon.submit("-g 2", "sleep 0.2");
    let bad = daemon.submit("-g 1", "exit 3");
    daemon.wait_until(&good, "succeeded");
    daemon.wait_until(&bad, "failed");
    assert_eq!(report(&daemon, "")["total"]["tasks"], 2);
    daemon.terminate();
    let month = to_last_month(&daemon);
    daemon.start_again();
    let monthly = |all: &[Received]| all.iter().filter(|it| it.kind() == "monthly").count();
    let all = receiver.wait_for("the month", |all| monthly(all) > 0);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].body["month"]["month"], json!(month));
    assert_eq!(all[0].body["month"]["total"]["tasks"], 2);
    assert_eq!(all[0].body["month"]["failures"], json!([["other", 1]]));
    let text = all[0].body["text"].as_str().expect("text");
    for words in [
        format!("http://gpu.example/reports?since={month}&until={month}"),
        format!("http://gpu.example/api/v1/reports/usage.csv?by=user&since={month}"),
        "1 of them failed".to_owned(),
        "Used most:".to_owned(),
    ] {
        assert!(text.contains(&words), "{words}: {text}");
    }
    let of_month = report(&daemon, &format!("--since {month} --until {month}"));
    assert_eq!(of_month["total"]["tasks"], 2, "the same as anybody can ask for");
    daemon.crash_and_restart();
    daemon.terminate();
    // As if so many messages had been sent since that this one is not listed any more.
    let outbox = rusqlite::Connection::open(daemon.data().join("notify.db")).expect("it is there");
    assert_eq!(outbox.execute("DELETE FROM posts", []).expect("it is ours"), 1);
    drop(outbox);
    daemon.start_again();
    // Another one behind it: nothing came in between.
    let last = daemon.submit("--notify end:hook", "true");
    daemon.wait_until(&last, "succeeded");
    let all = receiver.wait_for("the end", |all| all.iter().any(|it| it.kind() == "end"));
    assert_eq!((monthly(&all), receiver.repeated()), (1, 0), "{all:?}");
}

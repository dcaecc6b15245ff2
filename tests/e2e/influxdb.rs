//! Points for InfluxDB: in a real 1.x database, over its absence and restarts of the server; the requests of 2.x by their form.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::Connection;
use crate::support::influxdb::InfluxDb;
use crate::support::receiver::{Behaviour, Receiver};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// A server with this configuration; `{dir}` stands for the test's directory, with a secret in `secret`.
fn server(config: &str) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    let secret = directory.path().join("secret");
    fs::write(&secret, "t0p secret\n").expect("a file");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let path = directory.path().join("danlu.toml");
    let text = config.replace("{dir}", &directory.path().display().to_string());
    fs::write(&path, text).expect("a file");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn one(database: &InfluxDb, more: &str) -> String {
    let url = database.url();
    format!("[[influxdb]]\nurl = \"{url}\"\ndatabase = \"lab\"\ninterval = \"1s\"\n{more}")
}

/// Between two points of the test that counts them: a machine that is busy with other tests still takes each in time.
const INTERVAL: i64 = 2;

/// Of the only database.
fn waiting(daemon: &Daemon) -> f64 {
    let text = Connection::open(daemon.socket()).text("GET /metrics", "");
    let line = text.lines().find(|line| line.starts_with("danlu_influxdb_points_waiting{"));
    let number = line.and_then(|line| line.rsplit(' ').next()).expect("it is told");
    number.parse().expect("a number")
}

fn seconds() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    i64::try_from(now.as_secs()).expect("a time")
}

#[test]
fn nothing_is_missing_after_the_database_was_away_and_the_server_crashed_meanwhile() {
    let Some(mut database) = InfluxDb::start() else { return };
    database.create("lab");
    let config = one(&database, "").replace("\"1s\"", &format!("\"{INTERVAL}s\""));
    let mut daemon = server(&config);
    daemon.submit("-g 2", "exec sleep 600");
    let times = |database: &InfluxDb| -> BTreeSet<i64> {
        let times = database.times("lab", "free", "danlu_gpus");
        let seconds: BTreeSet<i64> = times.iter().map(|at| at / 1_000).collect();
        assert_eq!(seconds.len(), times.len(), "one point at each time");
        seconds
    };
    until("points arrive", || times(&database).len() >= 2);
    let began = *times(&database).first().expect("a point");
    database.stop();
    // GPUs, the machine, totals of GPUs and tasks, the wait, kinds of ends.
    let round = 4.0 + 1.0 + 2.0 + 1.0 + 17.0;
    until("points wait", || waiting(&daemon) >= 3.0 * round);
    until("an admin is told", || daemon.say(&["notices"]).contains("InfluxDB"));
    let said = daemon.ask(&["doctor"]);
    assert!(said.status == 1 && said.stdout.contains("does not take points"), "{said:?}");
    let crashed = seconds();
    daemon.crash_and_restart();
    let back = seconds();
    let kept = waiting(&daemon);
    assert!(kept >= 3.0 * round, "{kept} of them are left");
    until("more points wait", || waiting(&daemon) >= kept + 2.0 * round);
    database.start_again();
    until("all is written", || waiting(&daemon) == 0.0);
    let ended = seconds() - INTERVAL;
    until("the newest are there", || times(&database).last().is_some_and(|last| *last >= ended));
    let there = times(&database);
    let due = (began..=ended).filter(|second| second % INTERVAL == 0);
    let missing: Vec<i64> = due.filter(|second| !there.contains(second)).collect();
    let excused = |second: &i64| (crashed - 1..=back).contains(second);
    assert!(missing.iter().all(excused), "{missing:?}; it was down from {crashed} to {back}");
    // Each GPU has a point whenever there is any.
    let gpus = database.times("lab", "utilization", "danlu_gpu");
    let whole: BTreeSet<i64> = gpus.iter().map(|at| at / 1_000).collect();
    assert!(there.is_subset(&whole), "{there:?} {whole:?}");
    until("the notice is gone", || !daemon.say(&["notices"]).contains("InfluxDB"));
    assert!(daemon.ask(&["doctor"]).stdout.contains("takes points"));
}

#[test]
fn values_are_those_that_the_commands_show() {
    let Some(database) = InfluxDb::start() else { return };
    database.create("lab");
    let daemon = server(&one(&database, "[metrics]\nper_user = true\n"));
    let task = daemon.submit("-g 3", "exec sleep 600");
    daemon.submit("-g 4", "exec sleep 600");
    daemon.wait_until(&task, "running");
    let newest = |fields: &str, measurement: &str| {
        let query = format!("SELECT {fields} FROM {measurement} ORDER BY time DESC LIMIT 1");
        let series = database.query("lab", &query);
        series.first().map(|one| one["values"][0].clone())
    };
    let is = |fields: &str, measurement: &str, expected: &[i64]| {
        until(&format!("{fields} of {measurement}"), || {
            newest(fields, measurement).is_some_and(|values| {
                values.as_array().is_some_and(|it| {
                    it[1..].iter().map(Value::as_i64).eq(expected.iter().map(|it| Some(*it)))
                })
            })
        });
    };
    is("held, free", "danlu_gpus", &[3, 1]);
    is("running, queued", "danlu_tasks", &[1, 1]);
    is("gpus_held, tasks_queued", "danlu_user", &[3, 1]);
    is("up, draining", "danlu_node", &[1, 0]);
    let model = daemon.json(&["gpus", "--json"])["gpus"][0]["model"].clone();
    let tags = database.query("lab", "SHOW TAG VALUES FROM danlu_gpu WITH KEY = model");
    assert_eq!(tags[0]["values"][0][1], model, "with its spaces");
}

#[test]
fn panels_of_the_master_slave_manager_go_on() {
    let Some(database) = InfluxDb::start() else { return };
    database.create("lab");
    let daemon = server(&one(&database, "names = \"master-slave\"\n"));
    daemon.submit("-g 1", "exec sleep 600");
    let panels = [
        "SELECT mean(value) FROM cpu WHERE cpu = 'cpu-total' GROUP BY host",
        "SELECT mean(percent) FROM ram GROUP BY host",
        "SELECT mean(load) FROM gpu WHERE gpu = 'gpu0' GROUP BY host",
        "SELECT mean(mem_available) FROM gpu GROUP BY host, gpu",
        "SELECT mean(recv_bytes_ps), mean(sent_bytes_ps) FROM net GROUP BY host, net",
    ];
    for panel in panels {
        until(panel, || !database.query("lab", panel).is_empty());
    }
    assert!(database.query("lab", "SELECT * FROM danlu_gpu").is_empty());
}

#[test]
fn a_database_that_is_not_there_yet_gets_everything_once_it_is() {
    let Some(database) = InfluxDb::start() else { return };
    let daemon = server(&one(&database, ""));
    until("it says so", || daemon.ask(&["doctor"]).stdout.contains("database not found"));
    assert!(waiting(&daemon) > 0.0);
    database.create("lab");
    until("all is written", || waiting(&daemon) == 0.0);
    assert!(database.times("lab", "free", "danlu_gpus").len() >= 2);
}

/// InfluxDB 2.x cannot be installed where the tests run: a receiver checks the request against its documentation,
/// <https://docs.influxdata.com/influxdb/v2/api/#operation/PostWrite>.
#[test]
fn requests_for_2_x_are_as_documented_though_no_2_x_server_is_asked() {
    let receiver = Receiver::start();
    let url = receiver.url().replace("/hook", "");
    let daemon = server(&format!(
        "[[influxdb]]\nurl = \"{url}\"\nversion = 2\norg = \"my lab\"\nbucket = \"gpus\"\n\
         token_file = \"{{dir}}/secret\"\ninterval = \"1s\"\n"
    ));
    let all = receiver.wait_for("points", |all| !all.is_empty());
    let first = &all[0];
    assert_eq!(first.request, "POST /api/v2/write?org=my%20lab&bucket=gpus&precision=ms HTTP/1.1");
    assert_eq!(first.header("authorization"), "Token t0p secret");
    assert_eq!(first.header("content-encoding"), "gzip");
    assert!(first.header("content-type").starts_with("text/plain"));
    let mut text = String::new();
    GzDecoder::new(first.bytes.as_slice()).read_to_string(&mut text).expect("it is text");
    let line = text.lines().find(|line| line.starts_with("danlu_gpus ")).expect("a point");
    let (_, time) = line.rsplit_once(' ').expect("a time");
    assert_eq!(time.len(), 13, "milliseconds: {line}");
    // One that does not read compressed bodies gets them as they are.
    receiver.set(Behaviour::Refuses(415));
    receiver.wait_for_requests(all.len() + 2);
    receiver.set(Behaviour::Takes);
    receiver.wait_for("plain points", |all| {
        all.iter()
            .any(|it| it.header("content-encoding").is_empty() && it.text.contains("danlu_gpus "))
    });
    let shown = [daemon.say(&["config", "show"]), daemon.say(&["logs", "server"]), daemon.errors()];
    assert!(!shown.concat().contains("t0p secret"));
    assert!(shown[0].contains("my lab/gpus"), "{}", shown[0]);
}

#[test]
fn databases_are_changed_without_a_restart() {
    let (first, second) = (Receiver::start(), Receiver::start());
    let config = |receiver: &Receiver| {
        let url = receiver.url().replace("/hook", "");
        format!("[[influxdb]]\nurl = \"{url}\"\ndatabase = \"lab\"\ninterval = \"1s\"\n")
    };
    let daemon = server(&config(&first));
    first.wait_for("points", |all| !all.is_empty());
    first.set(Behaviour::Refuses(503));
    until("an admin is told", || daemon.say(&["notices"]).contains("InfluxDB"));
    let path = daemon.directory().join("danlu.toml");
    fs::write(&path, config(&second)).expect("a file");
    daemon.say(&["reload"]);
    until("that is over", || !daemon.say(&["notices"]).contains("InfluxDB"));
    first.set(Behaviour::Takes);
    let taken = first.messages().len();
    second.wait_for("points", |all| all.len() >= 3);
    assert!(first.messages().len() <= taken + 1, "at most what was under way");
    fs::write(&path, "[[influxdb]]\nurl = \"http://me:pw@x\"\ndatabase = \"lab\"\n")
        .expect("a file");
    let said = daemon.ask(&["reload"]);
    assert!(said.status != 0 && said.stderr.contains("without a user"), "{said:?}");
    let more = second.messages().len() + 1;
    second.wait_for("the old ones go on", |all| all.len() > more);
}

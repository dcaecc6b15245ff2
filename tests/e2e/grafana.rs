//! The dashboards for Grafana: what its importer needs is there, and every query has data in a real Prometheus or InfluxDB that a
//! working server has filled, set up as the guide says.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu::danlu;
use crate::support::influxdb::InfluxDb;
use crate::support::prometheus::Prometheus;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// With their file names.
fn dashboards() -> Vec<(String, Value)> {
    let files = fs::read_dir(docs().join("grafana")).expect("they are there");
    let mut found: Vec<(String, Value)> = files
        .map(|file| {
            let path = file.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("text");
            (name, serde_json::from_str(&text).expect("JSON"))
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

fn dashboards_of(kind: &str) -> Vec<(String, Value)> {
    let is_of = |dashboard: &Value| list(&dashboard["templating"]["list"])[0]["query"] == kind;
    dashboards().into_iter().filter(|(_, dashboard)| is_of(dashboard)).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn dashboards_have_what_the_importer_needs() {
    let all = dashboards();
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["influxdb.json", "machine.json", "overview.json", "users.json"]);
    let uids: BTreeSet<&str> = all.iter().map(|(_, dashboard)| text(&dashboard["uid"])).collect();
    assert_eq!(uids.len(), all.len(), "each has a uid of its own");
    for (name, dashboard) in &all {
        assert!(!text(&dashboard["title"]).is_empty(), "{name}");
        assert!((1..=40).contains(&text(&dashboard["uid"]).len()), "{name}");
        assert!(dashboard["schemaVersion"].as_u64().is_some_and(|it| it >= 36), "{name}");
        assert!(dashboard["id"].is_null(), "{name}: the importer gives the number");
        let variables = list(&dashboard["templating"]["list"]);
        assert_eq!(variables[0]["type"], "datasource", "{name}");
        assert_eq!(variables[0]["name"], "datasource", "{name}");
        let panels = list(&dashboard["panels"]);
        let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
        assert_eq!(ids.len(), panels.len(), "{name}: each panel has a number of its own");
        let mut taken = BTreeSet::new();
        for panel in panels {
            let title = text(&panel["title"]);
            assert!(!title.is_empty() && !text(&panel["type"]).is_empty(), "{name}: {panel}");
            let size = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
            assert!(
                size("w") > 0 && size("h") > 0 && size("x") + size("w") <= 24,
                "{name}: {title}"
            );
            for x in size("x")..size("x") + size("w") {
                for y in size("y")..size("y") + size("h") {
                    assert!(taken.insert((x, y)), "{name}: {title} covers another panel");
                }
            }
            if panel["type"] != "row" {
                assert_eq!(panel["datasource"]["uid"], "${datasource}", "{name}: {title}");
                let targets = list(&panel["targets"]);
                let refs: BTreeSet<&str> = targets.iter().map(|it| text(&it["refId"])).collect();
                assert!(!refs.is_empty() && refs.len() == targets.len(), "{name}: {title}");
            }
        }
    }
}

#[test]
fn the_program_writes_the_dashboards_that_the_documentation_has() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("new");
    let said = danlu("en", &format!("metrics --dashboards {}", place.display()));
    assert_eq!((said.status, said.stdout.lines().count()), (0, 4), "{said:?}");
    for (name, dashboard) in dashboards() {
        let text = fs::read_to_string(place.join(&name)).expect("it was written");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), dashboard, "{name}");
    }
    let said = danlu("en", "metrics --dashboards /proc/nowhere");
    assert!(said.status != 0 && said.stderr.contains("/proc/nowhere"), "{said:?}");
}

/// What the guide says to put into a file, which is a block of this kind.
fn block_of_guide(kind: &str) -> String {
    let guide = fs::read_to_string(docs().join("guide/metrics.md")).expect("the guide");
    let (_, rest) = guide.split_once(&format!("```{kind}\n")).expect("it has such a block");
    rest.split_once("```").expect("it ends").0.to_owned()
}

/// With running, waiting and ended tasks, a probe of its own, and both monitoring systems.
fn busy_server(influxdb: &str) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    let token = directory.path().join("token");
    fs::write(&token, "scrape me\n").expect("a file");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let config = format!(
        "[metrics]\ntoken_file = \"{}\"\nper_user = true\n[sampling]\ninterval = \"1s\"\n\
         [[metric]]\nname = \"inlet\"\ncommand = \"echo 21.5\"\nper = \"machine\"\nunit = \"°C\"\n\
         interval = \"1s\"\n{influxdb}",
        token.display()
    );
    let path = directory.path().join("danlu.toml");
    fs::write(&path, config).expect("a file");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    daemon.submit("-g 2", "exec sleep 600");
    daemon.submit("-g 4", "exec sleep 600");
    daemon
}

/// Starts, waits and ends of tasks while somebody looks.
fn work(daemon: &Daemon) {
    let ended = [daemon.submit("", "true"), daemon.submit("", "exit 3")];
    daemon.ask(&["wait", &ended[0], &ended[1]]);
}

fn node(daemon: &Daemon) -> String {
    text(&daemon.json(&["nodes", "--json"])["nodes"][0]["name"]).to_owned()
}

#[test]
fn every_query_has_data_in_a_prometheus_set_up_as_the_guide_says() {
    let daemon = busy_server("");
    let token = daemon.directory().join("token").display().to_string();
    let config = block_of_guide("yaml")
        .replace("/etc/prometheus/danlu.token", &token)
        .replace("danlu.example.org:8787", daemon.address())
        .replace("scheme: https", "scheme: http")
        .replace("15s", "1s");
    assert!(config.contains(&token) && config.contains(daemon.address()), "{config}");
    let Some(prometheus) = Prometheus::start(&config) else { return };
    until("it scrapes", || prometheus.query("up{job=\"danlu\"}") == [1.0]);
    until("it has scraped twice", || {
        prometheus
            .query("count_over_time(danlu_tasks_submitted_total[1m])")
            .first()
            .is_some_and(|it| *it >= 2.0)
    });
    work(&daemon);
    let node = node(&daemon);
    for (name, dashboard) in dashboards_of("prometheus") {
        for variable in list(&dashboard["templating"]["list"]).iter().skip(1) {
            let query = text(&variable["query"]["query"]);
            let inner = query.strip_prefix("label_values(").and_then(|it| it.strip_suffix(')'));
            let (metric, label) = inner.and_then(|it| it.split_once(", ")).expect(query);
            assert!(!prometheus.label_values(metric, label).is_empty(), "{name}: {query}");
        }
        let mut asked = 0;
        for panel in list(&dashboard["panels"]) {
            for target in list(&panel["targets"]) {
                let query = text(&target["expr"])
                    .replace("$__rate_interval", "1m")
                    .replace("$__range_s", "60")
                    .replace("$__range", "1m")
                    .replace("$node", &node)
                    .replace("$user", ".*");
                assert!(!query.contains('$'), "{name}: {query}");
                let what = format!("{name}: {}: {query}", text(&panel["title"]));
                until(&what, || {
                    let found = prometheus.query(&query);
                    !found.is_empty() && found.iter().all(|it| it.is_finite())
                });
                asked += 1;
            }
        }
        assert!(asked >= 4, "{name}");
    }
    // What they show is what is.
    assert_eq!(prometheus.query("sum(danlu_gpus{state=~\"held|shared\"})"), [2.0]);
    until("the end of the task is an increase", || {
        prometheus.query("danlu_task_ends_total{outcome=\"failed\",class=\"other\"}") == [1.0]
    });
}

#[test]
fn every_query_has_data_in_an_influxdb() {
    let Some(database) = InfluxDb::start() else { return };
    database.create("danlu");
    let url = database.url();
    let entry = block_of_guide("toml").replace("http://localhost:8086", &url);
    let entry = entry.replace("interval = \"10s\"", "interval = \"1s\"");
    assert!(entry.contains(&url) && entry.contains("\"1s\""), "{entry}");
    let daemon = busy_server(&entry);
    until("points arrive", || database.times("danlu", "free", "danlu_gpus").len() >= 2);
    work(&daemon);
    let node = node(&daemon);
    let dashboards = dashboards_of("influxdb");
    assert_eq!(dashboards.len(), 1);
    for (name, dashboard) in &dashboards {
        for variable in list(&dashboard["templating"]["list"]).iter().skip(1) {
            let query = text(&variable["query"]);
            assert!(!database.query("danlu", query).is_empty(), "{name}: {query}");
        }
        for panel in list(&dashboard["panels"]) {
            for target in list(&panel["targets"]) {
                let query = text(&target["query"])
                    .replace("$timeFilter", "time > now() - 1h")
                    .replace("$__interval", "1s")
                    .replace("$node", &node);
                assert!(!query.contains("$t") && !query.contains("$_"), "{name}: {query}");
                let what = format!("{name}: {}: {query}", text(&panel["title"]));
                until(&what, || !database.query("danlu", &query).is_empty());
            }
        }
    }
}

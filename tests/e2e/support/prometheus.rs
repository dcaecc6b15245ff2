//! A real Prometheus with a directory of its own: `cargo xtask setup` installs it.

use std::{
    env, fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{daemon::until, danlu::skip};

pub(crate) struct Prometheus {
    child: Child,
    port: u16,
    _directory: TempDir,
}

const PROGRAM: &str = "/usr/bin/prometheus";

impl Prometheus {
    /// With this `prometheus.yml`. `None`, with a line that says so, where it is not installed.
    pub(crate) fn start(config: &str) -> Option<Prometheus> {
        if !Path::new(PROGRAM).exists() {
            assert!(env::var_os("CI").is_none(), "prometheus is missing: cargo xtask setup");
            skip("there is no prometheus, which `cargo xtask setup` installs");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("prometheus.yml");
        fs::write(&path, config).expect("a file");
        let checked =
            Command::new("/usr/bin/promtool").args(["check", "config"]).arg(&path).output();
        let checked = checked.expect("promtool runs");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = free.expect("a free port").port();
        let child = Command::new(PROGRAM)
            .arg(format!("--config.file={}", path.display()))
            .arg(format!("--storage.tsdb.path={}", directory.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--log.level=error")
            .stdout(Stdio::null())
            .stderr(fs::File::create(directory.path().join("log")).expect("a file"))
            .spawn()
            .expect("it starts");
        let prometheus = Prometheus { child, port, _directory: directory };
        let ready = format!("http://127.0.0.1:{port}/-/ready");
        until("Prometheus answers", || ureq::get(&ready).call().is_ok());
        Some(prometheus)
    }

    fn get(&self, path: &str, form: &[(&str, &str)]) -> Value {
        let url = format!("http://127.0.0.1:{}/api/v1/{path}", self.port);
        let call = ureq::get(url).query_pairs(form.iter().copied());
        let mut reply =
            call.config().http_status_as_error(false).build().call().expect("it answers");
        let text = reply.body_mut().read_to_string().expect("text");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// What a query in PromQL gives now: a number for each series.
    #[track_caller]
    pub(crate) fn query(&self, query: &str) -> Vec<f64> {
        let said = self.get("query", &[("query", query)]);
        assert_eq!(said["status"], "success", "{query}: {said}");
        let result = &said["data"]["result"];
        let value =
            |value: &Value| value.as_str().and_then(|it| it.parse().ok()).expect("a number");
        match said["data"]["resultType"].as_str() {
            Some("scalar") => vec![value(&result[1])],
            _ => {
                result.as_array().expect("series").iter().map(|it| value(&it["value"][1])).collect()
            }
        }
    }

    /// The values of a label of a metric.
    pub(crate) fn label_values(&self, metric: &str, label: &str) -> Vec<String> {
        let said = self.get(&format!("label/{label}/values"), &[("match[]", metric)]);
        let values = said["data"].as_array().unwrap_or_else(|| panic!("{said}"));
        values.iter().map(|it| it.as_str().expect("text").to_owned()).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

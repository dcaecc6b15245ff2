//! A real InfluxDB 1.x with a directory of its own, which a test stops and starts again: `cargo xtask setup` installs it.

use std::{
    env, fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{daemon::until, danlu::skip};

pub(crate) struct InfluxDb {
    directory: TempDir,
    port: u16,
    child: Option<Child>,
}

const PROGRAM: &str = "/usr/bin/influxd";

impl InfluxDb {
    /// `None`, with a line that says so, where it is not installed.
    pub(crate) fn start() -> Option<InfluxDb> {
        if !Path::new(PROGRAM).exists() {
            assert!(env::var_os("CI").is_none(), "influxd is missing: cargo xtask setup");
            skip("there is no influxd, which `cargo xtask setup` installs");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = free.expect("a free port").port();
        let place = directory.path().display();
        let config = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:0\"\n\
             [meta]\ndir = \"{place}/meta\"\n[data]\ndir = \"{place}/data\"\nwal-dir = \"{place}/wal\"\n\
             [http]\nbind-address = \"127.0.0.1:{port}\"\nlog-enabled = false\n\
             [monitor]\nstore-enabled = false\n"
        );
        fs::write(directory.path().join("influxdb.conf"), config).expect("a file");
        let mut database = InfluxDb { directory, port, child: None };
        database.start_again();
        Some(database)
    }

    pub(crate) fn start_again(&mut self) {
        let log = fs::File::create(self.directory.path().join("log")).expect("a file");
        let child = Command::new(PROGRAM)
            .arg("-config")
            .arg(self.directory.path().join("influxdb.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts");
        self.child = Some(child);
        let address = self.address();
        until("InfluxDB answers", || std::net::TcpStream::connect(&address).is_ok());
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it is ours");
            child.wait().expect("it ends");
        }
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    pub(crate) fn create(&self, database: &str) {
        self.query("", &format!("CREATE DATABASE {database}"));
    }

    /// The series that an InfluxQL query answers with.
    #[track_caller]
    pub(crate) fn query(&self, database: &str, query: &str) -> Vec<Value> {
        let call = ureq::post(format!("{}/query", self.url()));
        let call = call.config().http_status_as_error(false).build();
        let form = [("db", database), ("epoch", "ms"), ("q", query)];
        let mut reply = call.send_form(form).expect("it answers");
        let text = reply.body_mut().read_to_string().expect("text");
        let said: Value = serde_json::from_str(&text).expect("JSON");
        let result = &said["results"][0];
        assert!(said["error"].is_null() && result["error"].is_null(), "{query}: {said}");
        result["series"].as_array().cloned().unwrap_or_default()
    }

    /// The times of the points of a measurement, in milliseconds.
    pub(crate) fn times(&self, database: &str, field: &str, measurement: &str) -> Vec<i64> {
        let series = self.query(database, &format!("SELECT {field} FROM {measurement}"));
        let values = series.iter().flat_map(|one| one["values"].as_array().expect("values"));
        values.map(|value| value[0].as_i64().expect("a time")).collect()
    }
}

impl Drop for InfluxDb {
    fn drop(&mut self) {
        self.stop();
    }
}

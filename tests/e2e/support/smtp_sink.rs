//! A mail server that keeps what it takes: aiosmtpd, which `cargo xtask setup` installs.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::support::{daemon::until, danlu::skip};

pub(crate) struct SmtpSink {
    child: Child,
    pub(crate) port: u16,
    directory: TempDir,
}

/// One that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Mail {
    text: String,
}

impl SmtpSink {
    /// `None`, with a line that says so, where it is not installed.
    pub(crate) fn start(arguments: &[&str]) -> Option<SmtpSink> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
        let python = target.join("aiosmtpd/bin/python");
        if !python.exists() {
            assert!(env::var_os("CI").is_none(), "aiosmtpd is missing: cargo xtask setup");
            skip("there is no aiosmtpd, which `cargo xtask setup` installs");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/smtp/sink.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(directory.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it was piped"));
        out.read_line(&mut line).expect("it says its port");
        let port = line.trim().parse().expect("a port");
        Some(SmtpSink { child, port, directory })
    }

    /// With TLS: the certificate is for `localhost`. The arguments for the server, and the certificate.
    pub(crate) fn certificate(directory: &Path) -> (PathBuf, PathBuf) {
        let (certificate, key) = (directory.join("smtp.crt"), directory.join("smtp.key"));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "30", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("openssl runs").success());
        (certificate, key)
    }

    pub(crate) fn mails(&self) -> Vec<Mail> {
        let mut found = Vec::new();
        for number in 1.. {
            let path = self.directory.path().join(format!("{number}.eml"));
            let Ok(bytes) = fs::read(path) else { break };
            found.push(Mail { text: String::from_utf8_lossy(&bytes).into_owned() });
        }
        found
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Mail> {
        until("the mail arrives", || self.mails().len() >= count);
        self.mails()
    }

    /// From now on it takes mail for `later@…`.
    pub(crate) fn be_ready(&self) {
        fs::write(self.directory.path().join("go"), "").expect("a file");
    }
}

impl Drop for SmtpSink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Mail {
    pub(crate) fn header(&self, name: &str) -> String {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
        let found = unfolded.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_default().to_owned()
    }

    /// Text and HTML as Python's own reader decodes them, and the subject.
    pub(crate) fn decoded(&self) -> (String, String, String) {
        let script = "import email, email.policy, json, sys\n\
            m = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)\n\
            part = lambda kind: m.get_body((kind,)).get_content()\n\
            print(json.dumps([m['subject'], part('plain'), part('html')]))";
        let mut python = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python runs");
        let mut stdin = python.stdin.take().expect("it was piped");
        std::io::Write::write_all(&mut stdin, self.text.as_bytes()).expect("it reads");
        drop(stdin);
        let out = python.wait_with_output().expect("it ends");
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", self.text))
    }
}

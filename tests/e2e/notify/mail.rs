//! Mail to real servers: text and HTML, languages, STARTTLS, TLS, passwords, refusals; Postfix once.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu::skip;
use crate::support::http::Connection;
use crate::support::smtp_sink::SmtpSink;
use serde_json::json;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn server(directory: TempDir, config: &str) -> Daemon {
    let path = directory.path().join("danlu.toml");
    fs::write(&path, config).expect("a file");
    let mut setup = Setup::simulated(2);
    setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn mail(port: u16) -> String {
    format!(
        "[notify.email]\nsmtp = \"smtp://localhost:{port}\"\nfrom = \"Danlu <danlu@lab.example>\"\n"
    )
}

fn profile(daemon: &Daemon, change: &serde_json::Value) {
    let said = Connection::open(daemon.socket()).json("PATCH /api/v1/me", change);
    assert_eq!(said.status, 200, "{said:?}");
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn a_failure_is_mailed_with_its_evidence_in_the_language_of_its_owner() {
    let Some(sink) = SmtpSink::start(&[]) else { return };
    let config = format!(
        "{}subject = \"{{state}}: {{name}}\"\n[notify]\nurl = \"https://gpu.example\"\n",
        mail(sink.port)
    );
    let daemon = server(temporary(), &config);
    let wanted = json!({"email": "ann@lab.example", "language": "zh", "notify": {"failure": true}});
    profile(&daemon, &wanted);
    let line = "echo epoch 1; echo 'RuntimeError: CUDA error: out of memory' >&2; exit 1";
    let id = daemon.submit("-J 训练", line);
    daemon.ask(&["wait", &id]);
    let mails = sink.wait_for(1);
    assert_eq!(mails[0].header("X-Recipient"), "ann@lab.example");
    assert_eq!(mails[0].header("Auto-Submitted"), "auto-generated");
    let message_id = mails[0].header("Message-ID");
    assert_eq!(message_id, format!("<{}@lab.example>", mails[0].header("Danlu-Id")));
    let (subject, text, html) = mails[0].decoded();
    assert_eq!(subject, "失败: 训练");
    for part in [&text, &html] {
        assert!(part.contains("RuntimeError: CUDA error: out of memory"), "{part}");
        assert!(part.contains("epoch 1") && part.contains("cuda_oom"), "{part}");
        assert!(part.contains(&format!("https://gpu.example/tasks/{id}")), "{part}");
        assert!(part.contains("已失败") && !part.contains("has failed"), "{part}");
    }
    profile(&daemon, &json!({"language": "en"}));
    assert!(daemon.say(&["notify", "test"]).contains("250"), "what the server said is shown");
    let id = daemon.submit("-J again", "exit 2");
    daemon.ask(&["wait", &id]);
    let (subject, text, _) = sink.wait_for(3)[2].decoded();
    assert!(subject == "failed: again" && text.contains("has failed"), "{subject} {text}");
}

#[test]
fn a_task_names_several_addresses_and_each_gets_a_mail() {
    let Some(sink) = SmtpSink::start(&[]) else { return };
    let daemon = server(temporary(), &mail(sink.port));
    let script = daemon.directory().join("job.sh");
    let lines =
        "#!/bin/bash\n#SBATCH --mail-type=END,FAIL\n#SBATCH --mail-user=a@x.org,b@x.org\ntrue\n";
    fs::write(&script, lines).expect("a script");
    let id = daemon.say(&["submit", "-q", &script.display().to_string()]);
    daemon.ask(&["wait", id.trim()]);
    let mails = sink.wait_for(2);
    let mut to: Vec<String> = mails.iter().map(|mail| mail.header("X-Recipient")).collect();
    to.sort();
    assert_eq!(to, ["a@x.org", "b@x.org"]);
    assert!(mails.iter().all(|mail| mail.decoded().1.contains("has succeeded")));
}

#[test]
fn passwords_are_sent_encrypted_only() {
    for (scheme, tls) in [("smtp", "starttls"), ("smtps", "tls")] {
        let directory = temporary();
        let (certificate, key) = SmtpSink::certificate(directory.path());
        let (shown, key) = (certificate.display().to_string(), key.display().to_string());
        let arguments =
            ["--certificate", &shown, "--key", &key, "--tls", tls, "--login", "danlu:word of pass"];
        let Some(sink) = SmtpSink::start(&arguments) else { return };
        let password = directory.path().join("password");
        fs::write(&password, "word of pass\n").expect("a file");
        fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let config = format!(
            "[notify.email]\nsmtp = \"{scheme}://localhost:{}\"\nfrom = \"danlu@lab.example\"\nuser = \"danlu\"\n\
             password_file = \"{}\"\nca_file = \"{shown}\"\n",
            sink.port,
            password.display(),
        );
        let daemon = server(directory, &config);
        let said = daemon.ask(&["notify", "test", "ann@lab.example"]);
        assert_eq!(said.status, 0, "{scheme}: {said:?}");
        assert_eq!(sink.wait_for(1)[0].header("X-Encrypted"), "True");
        let doctor = || daemon.ask(&["doctor"]).stdout;
        assert!(doctor().contains("accepts mail from Danlu"), "{}", doctor());
        fs::write(&password, "another\n").expect("a file");
        assert!(doctor().contains("535") && doctor().contains("→ correct [notify.email]"));
        assert_eq!(sink.mails().len(), 1, "nobody gets a mail for that");
        daemon.say(&["reload"]);
        let said = daemon.ask(&["notify", "test", "ann@lab.example"]);
        assert!(said.status == 64 && said.stderr.contains("535"), "{said:?}");
        let shown =
            [daemon.say(&["config", "show"]), daemon.say(&["logs", "server"]), daemon.errors()];
        assert!(
            shown.iter().all(|text| !text.contains("word of pass") && !text.contains("another"))
        );
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_refused() {
    let directory = temporary();
    let (certificate, key) = SmtpSink::certificate(directory.path());
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let arguments = ["--certificate", &certificate, "--key", &key, "--tls", "starttls"];
    let Some(sink) = SmtpSink::start(&arguments) else { return };
    let daemon = server(directory, &format!("{}tls = \"required\"\n", mail(sink.port)));
    let said = daemon.ask(&["notify", "test", "ann@lab.example"]);
    assert!(said.status == 64 && said.stderr.contains("ertificate"), "{said:?}");
    assert!(sink.mails().is_empty());
}

#[test]
fn what_is_refused_for_good_fails_and_what_is_put_off_comes_later() {
    let Some(sink) = SmtpSink::start(&[]) else { return };
    let mut daemon = server(temporary(), &mail(sink.port));
    let id = daemon.submit("--notify end:nobody@x.org --notify end:later@x.org", "true");
    daemon.ask(&["wait", &id]);
    until("both have an answer", || {
        let said = daemon.say(&["notify", "list"]);
        said.contains("550") && said.contains("451")
    });
    let failed = daemon.json(&["notify", "list", "--failed", "--json"]);
    assert_eq!(failed["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(failed["messages"][0]["to"], "nobody@x.org");
    sink.be_ready();
    daemon.crash_and_restart();
    let mails = sink.wait_for(1);
    assert_eq!(mails[0].header("X-Recipient"), "later@x.org");
}

/// A private instance that delivers to a file.
struct Postfix {
    directory: TempDir,
    port: u16,
}

impl Postfix {
    fn start() -> Option<Postfix> {
        if !nix::unistd::geteuid().is_root() || !Path::new("/usr/sbin/postfix").exists() {
            assert!(std::env::var_os("CI").is_none(), "postfix is missing: cargo xtask setup");
            skip("Postfix runs as root, and `cargo xtask setup` installs it");
            return None;
        }
        let directory = temporary();
        // Its own user goes in there.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
        let at = directory.path().display();
        for name in ["spool", "lib", "conf", "mail"] {
            fs::create_dir(directory.path().join(name)).expect("a directory");
        }
        let chown = |name: &str, owner: &str| {
            let done = Command::new("chown").arg(owner).arg(directory.path().join(name)).status();
            assert!(done.expect("chown runs").success());
        };
        chown("lib", "postfix");
        chown("mail", "nobody");
        let main = format!(
            "compatibility_level = 3.6\nqueue_directory = {at}/spool\ndata_directory = {at}/lib\n\
             myhostname = lab.example\nmydestination =\ninet_interfaces = 127.0.0.1\ninet_protocols = ipv4\n\
             maillog_file = /dev/stdout\nmaillog_file_prefixes = /dev\n\
             virtual_mailbox_domains = lab.example\nvirtual_mailbox_base = {at}/mail\n\
             virtual_mailbox_maps = static:all\nvirtual_uid_maps = static:65534\nvirtual_gid_maps = static:65534\n\
             virtual_minimum_uid = 1000\nsmtpd_tls_security_level = none\n"
        );
        let service = "unix n - n - - ";
        let master = format!(
            "127.0.0.1:{port} inet n - n - - smtpd\npickup unix n - n 60 1 pickup\ncleanup unix n - n - 0 cleanup\n\
             qmgr unix n - n 300 1 qmgr\nrewrite unix - - n - - trivial-rewrite\nbounce unix - - n - 0 bounce\n\
             defer unix - - n - 0 bounce\ntrace unix - - n - 0 bounce\nverify unix - - n - 1 verify\n\
             flush unix n - n 1000? 0 flush\nproxymap unix - - n - - proxymap\nsmtp unix - - n - - smtp\n\
             error unix - - n - - error\nretry unix - - n - - error\nvirtual unix - n n - - virtual\n\
             anvil unix - - n - 1 anvil\nscache unix - - n - 1 scache\npostlog unix-dgram n - n - 1 postlogd\n\
             showq {service}showq\n"
        );
        fs::write(directory.path().join("conf/main.cf"), main).expect("a file");
        fs::write(directory.path().join("conf/master.cf"), master).expect("a file");
        let postfix = Postfix { directory, port };
        postfix.say("start");
        Some(postfix)
    }

    fn say(&self, verb: &str) {
        let conf = self.directory.path().join("conf");
        let done = Command::new("/usr/sbin/postfix").arg("-c").arg(conf).arg(verb).output();
        let done = done.expect("postfix runs");
        assert!(done.status.success() || verb == "stop", "{done:?}");
    }

    fn mailbox(&self) -> String {
        fs::read_to_string(self.directory.path().join("mail/all")).unwrap_or_default()
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        self.say("stop");
    }
}

#[test]
fn postfix_takes_it() {
    let Some(postfix) = Postfix::start() else { return };
    let daemon = server(temporary(), &mail(postfix.port));
    let id = daemon.submit("-J train --notify end:ann@lab.example", "true");
    daemon.ask(&["wait", &id]);
    until("it is in the mailbox", || postfix.mailbox().contains("Danlu-Id: "));
    let mailbox = postfix.mailbox();
    assert!(
        mailbox.contains("Subject: [Danlu] Task") && mailbox.contains("To: ann@lab.example"),
        "{mailbox}"
    );
}

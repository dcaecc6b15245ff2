//! Verbs about the server itself: `set`, `policy`, `config`, `doctor`, `down`.

use crate::support::daemon::Daemon;
use crate::support::danlu;

#[test]
fn policy_and_settings_change_at_once_and_wrong_values_are_refused() {
    let daemon = Daemon::start();
    assert_eq!(daemon.say(&["policy"]), "balance+easy\n");
    assert_eq!(daemon.say(&["policy", "set", "sjf+skip"]), "sjf+skip\n");
    assert_eq!(daemon.say(&["set", "order"]), "order = sjf\n");
    assert_eq!(daemon.say(&["set", "max_losses", "3"]), "max_losses = 3\n");
    assert_eq!(daemon.ask(&["set", "max_losses", "many"]).status, 64);
    assert_eq!(daemon.ask(&["set", "nonsense", "3"]).status, 69);
    assert_eq!(daemon.ask(&["policy", "set", "nonsense"]).status, 64);
    let shown = daemon.say(&["config", "show"]);
    assert!(shown.contains("sim_gpus") && shown.contains("--sim-gpus"), "{shown}");
    assert_eq!(daemon.json(&["config", "show", "--json"])["v"], 1);
}

#[test]
fn a_setting_that_is_a_size_takes_a_unit_and_a_wrong_one_is_refused_with_the_form() {
    let daemon = Daemon::start();
    let key = "limits.log_bytes_per_user";
    assert_eq!(daemon.say(&["set", key, "20G"]), format!("{key} = {}\n", 20_u64 << 30));
    assert_eq!(daemon.say(&["set", key, "4096"]), format!("{key} = 4096\n"));
    assert_eq!(daemon.say(&["set", key, "null"]), format!("{key} = null\n"));
    for (language, hint) in [
        ("en", "hint: give a size: 512M, 20G, 1.5T or a number of bytes"),
        ("zh", "提示：请写大小：512M、20G、1.5T，或字节数"),
    ] {
        for wrong in ["lots", "-1", "true"] {
            let mut command = daemon.command(&["set", key, wrong]);
            let said = danlu::said(command.env("DANLU_LANG", language));
            assert_eq!(said.status, 64, "{said:?}");
            assert!(said.stderr.contains(&format!("`{wrong}`")), "{said:?}");
            assert!(said.stderr.contains(hint), "{said:?}");
        }
    }
    assert_eq!(daemon.say(&["set", key]), format!("{key} = null\n"));
}

#[test]
fn doctor_names_the_server() {
    let daemon = Daemon::start();
    let said = daemon.ask(&["doctor"]);
    assert!(said.stdout.contains("the server answers at"), "{said:?}");
    assert!(said.stdout.contains("the server has found 4 GPUs"), "{said:?}");
    // Where the server runs: its clock, its disk, its addresses.
    assert!(said.stdout.contains("the clock of the server agrees with this one"), "{said:?}");
    let data = daemon.data().display().to_string();
    assert!(said.stdout.contains(&format!("free for data in {data}")), "{said:?}");
    assert!(said.stdout.contains(&format!("listens at http://{}", daemon.address())), "{said:?}");
    let document = daemon.json(&["doctor", "--json"]);
    assert_eq!(document["findings"][0]["verdict"], "fine");
}

#[test]
fn doctor_without_a_server_says_what_to_type() {
    let said = danlu::client(std::path::Path::new("/nowhere"), &["doctor"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.contains("wrong  could not reach the server"), "{said:?}");
    assert!(said.stdout.contains("→ start one with danlu up"), "{said:?}");
}

#[test]
fn down_returns_when_the_server_is_gone_and_tasks_go_on() {
    let mut daemon = Daemon::start();
    let id = daemon.submit("", "sleep 1.5; echo survived");
    daemon.wait_until(&id, "running");
    assert_eq!(daemon.say(&["down"]), "the server has stopped\n");
    assert!(daemon.has_ended());
    assert_eq!(daemon.ask(&["ls"]).status, 75);
    daemon.crash_and_restart();
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    assert_eq!(daemon.say(&["logs", &id]), "survived\n");
}

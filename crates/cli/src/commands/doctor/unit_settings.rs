//! Settings of the systemd unit on which tasks depend.

use std::{path::Path, process::Command};

use danlu_messages::cli::doctor as msg;

use super::{
    Finding,
    checks::{fine, note, wrong},
};

/// Of this machine; none where there is no such unit.
pub(super) fn findings() -> Vec<Finding> {
    if !Path::new("/run/systemd/system").exists() {
        return Vec::new();
    }
    let names = "LoadState,KillMode,Delegate,OOMPolicy";
    let said = Command::new("systemctl").args(["show", "danlu.service", "-p", names]).output();
    match said {
        Ok(said) if said.status.success() => judge(&String::from_utf8_lossy(&said.stdout)),
        _ => Vec::new(),
    }
}

fn judge(settings: &str) -> Vec<Finding> {
    let value = |name: &str| {
        let lines = settings.lines().filter_map(|line| line.split_once('='));
        lines.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    };
    if value("LoadState") != Some("loaded") {
        return Vec::new();
    }
    let mut found = Vec::new();
    if value("KillMode") != Some("process") {
        found.push(wrong(msg::kill_mode(), Some(msg::install_the_unit())));
    }
    if value("Delegate") == Some("no") {
        found.push(note(msg::no_delegation(), msg::install_the_unit()));
    }
    if value("OOMPolicy").is_some_and(|policy| policy != "continue") {
        found.push(note(msg::oom_policy(), msg::install_the_unit()));
    }
    if found.is_empty() {
        found.push(fine(msg::unit_is_right().to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    #[test]
    fn a_unit_that_would_end_tasks_is_wrong() {
        let check = |settings: &str, expect: &[Verdict]| {
            let verdicts: Vec<Verdict> = judge(settings).iter().map(|it| it.verdict).collect();
            assert_eq!(verdicts, expect, "{settings}");
        };
        let good = "LoadState=loaded\nKillMode=process\nDelegate=yes\nOOMPolicy=continue\n";
        check(good, &[Verdict::Fine]);
        check("LoadState=not-found\n", &[]);
        check(&good.replace("process", "control-group"), &[Verdict::Wrong]);
        check(&good.replace("continue", "stop").replace("yes", "no"), &[Verdict::Note; 2]);
    }
}

//! What is wrong with what tasks depend on: control groups, the GPU driver, settings of the systemd unit.

use std::collections::BTreeMap;

use danlu_messages::cli::doctor as msg;
use danlu_wire::api::HostHealth;

use super::{
    Finding,
    checks::{fine, note, wrong},
};

pub(super) fn findings(host: &HostHealth) -> Vec<Finding> {
    let mut found = unit(&host.unit);
    found.extend(match (host.nvidia_driver, host.nvidia_tools) {
        (false, _) => None,
        (true, true) => Some(fine(msg::driver_installed().to_owned())),
        (true, false) => Some(note(msg::no_nvidia_smi(), msg::install_nvidia_utils())),
    });
    found.push(match host.cgroup_v2 {
        true => fine(msg::control_groups_v2_are_there().to_owned()),
        false => note(msg::no_cgroup_v2(), msg::boot_with_cgroup_v2()),
    });
    found
}

/// With the right ones tasks outlive the server, and nothing of a task outlives it.
fn unit(settings: &BTreeMap<String, String>) -> Vec<Finding> {
    if settings.is_empty() {
        return Vec::new();
    }
    let value = |name: &str| settings.get(name).map(String::as_str);
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

    fn host(unit: &[(&str, &str)]) -> HostHealth {
        let unit = unit.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        HostHealth {
            cgroup_v2: true,
            nvidia_driver: false,
            nvidia_tools: false,
            unit: unit.collect(),
        }
    }

    #[track_caller]
    fn check(host: &HostHealth, expect: &[Verdict]) {
        let verdicts: Vec<Verdict> = findings(host).iter().map(|it| it.verdict).collect();
        assert_eq!(verdicts, expect, "{host:?}");
    }

    #[test]
    fn a_unit_that_would_end_tasks_is_wrong() {
        use Verdict::{Fine, Note, Wrong};
        let good = [("KillMode", "process"), ("Delegate", "yes"), ("OOMPolicy", "continue")];
        check(&host(&good), &[Fine, Fine]);
        check(&host(&[]), &[Fine]);
        check(&host(&[("KillMode", "control-group")]), &[Wrong, Fine]);
        let notes = [("KillMode", "process"), ("Delegate", "no"), ("OOMPolicy", "stop")];
        check(&host(&notes), &[Note, Note, Fine]);
    }

    #[test]
    fn what_is_missing_is_noted() {
        use Verdict::{Fine, Note};
        check(&HostHealth { cgroup_v2: false, ..host(&[]) }, &[Note]);
        check(&HostHealth { nvidia_driver: true, ..host(&[]) }, &[Note, Fine]);
        let tools = HostHealth { nvidia_driver: true, nvidia_tools: true, ..host(&[]) };
        check(&tools, &[Fine, Fine]);
    }
}

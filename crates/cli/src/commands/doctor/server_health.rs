//! What is wrong where the server runs: clock, disk, addresses, certificate, mail.

use danlu_messages::cli::doctor as msg;
use danlu_wire::api::{ExportHealth, MailHealth, NodeView, ServerHealth};
use jiff::Timestamp;

use super::{
    Finding,
    checks::{LEAST_FILES, LEAST_ROOM, fine, note, wrong},
};
use crate::screen::{amounts, clock};

/// Clocks that differ by more confuse people, and by this much logins and certificates too.
const ODD: u64 = 5;
const WRONG: u64 = 60;
const DAY: u64 = 86_400;
/// A certificate that ends sooner has to be renewed now.
const SOON: u64 = 21 * DAY;

pub(super) fn findings(health: &ServerHealth, now: Timestamp) -> Vec<Finding> {
    let mut found = vec![server_clock(health, now), disk(health)];
    found.extend(
        health
            .file_system
            .as_ref()
            .map(|kind| note(&msg::network_file_system(&health.data, kind), msg::use_local_disk())),
    );
    found.push(addresses(health));
    found.extend(certificate(health, now));
    found.extend(health.mail.as_ref().map(mail));
    let few = health.open_files.filter(|most| *most < LEAST_FILES);
    found.extend(few.map(|most| note(&msg::server_open_files(&most), msg::raise_limit_nofile())));
    found.extend(health.exports.iter().map(export));
    found
}

fn mail(MailHealth { server, problem }: &MailHealth) -> Finding {
    match problem {
        None => fine(msg::mail_is_taken(server)),
        Some(problem) => wrong(&msg::mail_is_not_taken(server, problem), Some(msg::mend_mail())),
    }
}

fn export(export: &ExportHealth) -> Finding {
    let ExportHealth { target, waiting, refused, dropped, failing } = export;
    match failing {
        Some(answer) => {
            let what = msg::influxdb_failing(target, answer, waiting);
            wrong(&what, Some(msg::check_influxdb()))
        }
        None if refused + dropped > 0 => {
            let what = msg::influxdb_lost(target, &(refused + dropped));
            note(&what, msg::see_server_log())
        }
        None => fine(msg::influxdb_fine(target)),
    }
}

fn server_clock(health: &ServerHealth, now: Timestamp) -> Finding {
    let Some(theirs) = clock::read(&health.now) else {
        return wrong(&msg::server_clock_unknown(&health.now), Some(msg::compare_versions()));
    };
    let apart = clock::between(now, theirs).max(clock::between(theirs, now));
    let what = msg::server_clock_apart(&amounts::length(apart));
    match apart {
        0..ODD => fine(msg::server_clock_right().to_owned()),
        ODD..WRONG => note(&what, msg::synchronise_clocks()),
        _ => wrong(&what, Some(msg::synchronise_clocks())),
    }
}

/// Of the machines, against the server's.
pub(super) fn machine_clocks(nodes: &[NodeView]) -> Vec<Finding> {
    let odd = nodes.iter().filter_map(|node| {
        let apart = node.clock_ahead_ms?.unsigned_abs() / 1_000;
        let what = msg::machine_clock_apart(&node.name, &amounts::length(apart));
        match apart {
            0..ODD => None,
            ODD..WRONG => Some(note(&what, msg::synchronise_clocks())),
            _ => Some(wrong(&what, Some(msg::synchronise_clocks()))),
        }
    });
    odd.collect()
}

/// Of the machines: the disk where runs keep their files.
pub(super) fn machine_disks(nodes: &[NodeView]) -> Vec<Finding> {
    let full = nodes.iter().filter_map(|node| {
        let free = node.disk_free.filter(|free| *free < LEAST_ROOM)?;
        let what = msg::machine_disk(&amounts::bytes_in_words(free), &node.name);
        Some(wrong(&what, Some(msg::free_disk_space())))
    });
    full.collect()
}

fn disk(health: &ServerHealth) -> Finding {
    let Some(free) = health.disk_free else {
        return wrong(&msg::disk_unknown(&health.data), Some(msg::look_at_the_disk()));
    };
    let what = msg::room_free_for_data_in_shown(&amounts::bytes_in_words(free), &health.data);
    match free < LEAST_ROOM {
        true => wrong(&what, Some(msg::free_disk_space())),
        false => fine(what),
    }
}

fn addresses(health: &ServerHealth) -> Finding {
    // A port of 0 is any: it cannot be compared.
    let is_served = |address: &&String| {
        address.ends_with(":0") || health.listening.iter().any(|it| it.ends_with(address.as_str()))
    };
    let missing: Vec<&str> =
        health.configured.iter().filter(|it| !is_served(it)).map(String::as_str).collect();
    if missing.is_empty() {
        return fine(msg::listens_at(&health.listening.join(", ")));
    }
    wrong(&msg::does_not_listen_at(&missing.join(", ")), Some(msg::see_who_has_the_port()))
}

fn certificate(health: &ServerHealth, now: Timestamp) -> Option<Finding> {
    let path = health.certificate.as_ref()?;
    let Some(ends) = health.certificate_ends_at.as_deref().and_then(clock::read) else {
        return Some(wrong(&msg::certificate_unreadable(path), Some(msg::renew_certificate())));
    };
    let date = ends.strftime("%Y-%m-%d").to_string();
    if ends <= now {
        let what = msg::certificate_ended(path, &date);
        return Some(wrong(&what, Some(msg::renew_certificate())));
    }
    let what = msg::certificate_ends(path, &date);
    match clock::between(now, ends) < SOON {
        true => Some(note(&what, msg::renew_certificate())),
        false => Some(fine(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    fn now() -> Timestamp {
        "2026-11-18T08:00:00Z".parse().expect("it is a time")
    }

    fn healthy() -> ServerHealth {
        ServerHealth {
            now: "2026-11-18T08:00:01Z".into(),
            version: "0.1.0".into(),
            data: "/var/lib/danlu".into(),
            file_system: None,
            disk_free: Some(100 << 30),
            disk_total: Some(200 << 30),
            open_files: Some(524_288),
            configured: vec!["0.0.0.0:8787".into()],
            listening: vec!["https://0.0.0.0:8787".into()],
            certificate: Some("/c.pem".into()),
            certificate_ends_at: Some("2027-11-18T08:00:00Z".into()),
            host: None,
            mail: Some(MailHealth { server: "mail.example:587".into(), problem: None }),
            exports: Vec::new(),
        }
    }

    fn check(change: impl FnOnce(&mut ServerHealth), verdict: Verdict, words: &str) {
        let mut health = healthy();
        change(&mut health);
        let found = findings(&health, now());
        let bad: Vec<&Finding> = found.iter().filter(|it| it.verdict != Verdict::Fine).collect();
        let [one] = bad[..] else { panic!("{found:#?}") };
        assert_eq!(one.verdict, verdict);
        assert!(one.what.contains(words) && one.hint.is_some(), "{one:?}");
    }

    #[test]
    fn a_server_in_order_is_fine() {
        let found = findings(&healthy(), now());
        assert!(found.iter().all(|finding| finding.verdict == Verdict::Fine), "{found:#?}");
    }

    #[test]
    fn each_problem_is_named_with_what_to_do() {
        use Verdict::{Note, Wrong};
        check(|it| it.now = "2026-11-18T08:00:20Z".into(), Note, "20s");
        check(|it| it.now = "2026-11-18T07:00:00Z".into(), Wrong, "1h");
        check(|it| it.disk_free = Some(1 << 20), Wrong, "/var/lib/danlu");
        check(|it| it.file_system = Some("nfs".into()), Note, "nfs");
        check(|it| it.listening.clear(), Wrong, "0.0.0.0:8787");
        let ends = |at: &'static str| {
            move |it: &mut ServerHealth| it.certificate_ends_at = Some(at.into())
        };
        check(ends("2026-11-25T08:00:00Z"), Note, "2026-11-25");
        check(ends("2026-11-01T08:00:00Z"), Wrong, "2026-11-01");
        check(|it| it.certificate_ends_at = None, Wrong, "/c.pem");
        check(|it| it.open_files = Some(1_024), Note, "1024");
        let refused = MailHealth { server: "mail.example:587".into(), problem: Some("535".into()) };
        check(|it| it.mail = Some(refused), Wrong, "mail.example:587: 535");
        let export = ExportHealth {
            target: "http://db:8086 lab".into(),
            waiting: 7,
            refused: 0,
            dropped: 0,
            failing: Some("HTTP 404 database not found".into()),
        };
        let lost = ExportHealth { dropped: 5, failing: None, ..export.clone() };
        check(|it| it.exports = vec![export], Wrong, "database not found; 7 wait");
        check(|it| it.exports = vec![lost], Note, "5 points");
    }
}

//! Faults of machines and networks under load: no task is lost or runs twice at a time, and no GPU is given out twice.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, until};
use crate::support::ssh_lab::{Machine, SshLab, slow_link::SlowLink};
use nix::sys::signal::Signal;

/// So many tasks for each fault, on so many machines with so many GPUs.
const TASKS: usize = 18;
const MACHINES: usize = 3;
const GPUS: usize = 2;

/// What is done to the first machine, or to the server, and how it is mended.
struct NodeFault {
    name: &'static str,
    /// How long it lasts; longer ones are noticed, shorter ones are sat out.
    lasts: Duration,
    begin: fn(&mut Daemon, &mut Machine),
    end: fn(&mut Daemon, &mut Machine),
    /// What ran there is gone with it, and begins anew.
    kills_tasks: bool,
}

const NOTICED: Duration = Duration::from_secs(20);
const BRIEF: Duration = Duration::from_secs(3);

fn faults() -> [NodeFault; 10] {
    let nothing = |_: &mut Daemon, _: &mut Machine| {};
    let open = |_: &mut Daemon, machine: &mut Machine| machine.filter(None);
    let usual =
        NodeFault { name: "", lasts: BRIEF, begin: nothing, end: nothing, kills_tasks: false };
    [
        NodeFault {
            name: "link down, then up",
            lasts: NOTICED,
            begin: |_, machine| link(machine, "down"),
            end: |_, machine| link(machine, "up"),
            ..usual
        },
        NodeFault {
            name: "link down for a moment",
            begin: |_, machine| link(machine, "down"),
            end: |_, machine| link(machine, "up"),
            ..usual
        },
        NodeFault {
            name: "black hole",
            lasts: NOTICED,
            begin: |_, machine| machine.filter(Some("drop")),
            end: open,
            ..usual
        },
        NodeFault {
            name: "connections are reset",
            begin: |_, machine| machine.filter(Some("meta l4proto tcp reject with tcp reset")),
            end: open,
            ..usual
        },
        NodeFault {
            name: "every third packet is lost",
            lasts: Duration::from_secs(8),
            begin: |_, machine| machine.filter(Some("numgen random mod 10 < 3 drop")),
            end: open,
            ..usual
        },
        NodeFault {
            name: "every word comes late",
            lasts: Duration::from_secs(8),
            begin: |_, machine| late(machine, Duration::from_millis(700)),
            end: |_, machine| late(machine, Duration::ZERO),
            ..usual
        },
        NodeFault {
            name: "sshd stands still",
            lasts: NOTICED,
            begin: |_, machine| assert!(machine.signal("sshd", Signal::SIGSTOP) > 0),
            end: |_, machine| assert!(machine.signal("sshd", Signal::SIGCONT) > 0),
            ..usual
        },
        NodeFault {
            name: "agent killed",
            begin: |_, machine| assert!(machine.signal("agent --stdio", Signal::SIGKILL) > 0),
            ..usual
        },
        NodeFault {
            name: "power cut",
            begin: |_, machine| machine.switch_off(),
            end: |_, machine| machine.switch_on(),
            kills_tasks: true,
            ..usual
        },
        NodeFault {
            name: "server killed",
            begin: |daemon, _| daemon.crash(),
            end: |daemon, _| daemon.start_again(),
            ..usual
        },
    ]
}

fn late(machine: &Machine, delay: Duration) {
    machine.slow_link.as_ref().expect("it was given one").set_delay(delay);
}

fn link(machine: &Machine, state: &str) {
    let done =
        std::process::Command::new("ip").args(["link", "set", &machine.cable, state]).status();
    assert!(done.is_ok_and(|status| status.success()));
}

#[test]
fn tasks_survive_every_fault_of_machines_and_network() {
    let Some(mut lab) = SshLab::new(MACHINES) else { return };
    let address = format!("{}:22", lab.machines[0].address);
    lab.machines[0].slow_link = Some(SlowLink::to(address));
    lab.add_all(GPUS);
    let witness = lab.daemon.directory().join("witness");
    fs::create_dir(&witness).unwrap();
    println!("{:<28} {:>5} {:>7} {:>6} {:>8}", "fault", "ended", "begun", "twice", "seconds");
    for fault in faults() {
        let SshLab { daemon, machines, .. } = &mut lab;
        let ids = load(daemon, &witness);
        until("tasks run", || started(&witness, &ids) >= 4);
        let since = Instant::now();
        (fault.begin)(daemon, &mut machines[0]);
        // A fault lasts for a time: that is what it is.
        thread::sleep(fault.lasts);
        if fault.kills_tasks {
            release_locks(&witness, &machines[0].name);
        }
        (fault.end)(daemon, &mut machines[0]);
        let begun = judge(daemon, &witness, &ids, &fault);
        println!(
            "{:<28} {:>5} {begun:>7} {:>6} {:>8.1}",
            fault.name,
            ids.len(),
            0,
            since.elapsed().as_secs_f64()
        );
        lab.wait_for("n1", "ready");
    }
}

/// Each notes its begin and its end, and holds a lock for each of its GPUs that only one can have.
fn load(daemon: &Daemon, witness: &Path) -> Vec<(String, i32)> {
    let here = witness.display();
    (0..TASKS)
        .map(|number| {
            let code = i32::try_from(number % 5).expect("a small number");
            let line = format!(
                "echo begin >> {here}/$DANLU_TASK_ID; l={here}/lock-$DANLU_NODE-$CUDA_VISIBLE_DEVICES; \
                 mkdir $l || echo $l >> {here}/twice; sleep 1.{number:02}; rmdir $l; \
                 echo end >> {here}/$DANLU_TASK_ID; exit {code}"
            );
            // Not on the server's own machine.
            let place = format!("-w n{}", 1 + number % MACHINES);
            (daemon.submit(&place, &line), code)
        })
        .collect()
}

fn started(witness: &Path, ids: &[(String, i32)]) -> usize {
    ids.iter().filter(|(id, _)| witness.join(id).exists()).count()
}

/// What a machine without power has locked is free.
fn release_locks(witness: &Path, machine: &str) {
    for entry in fs::read_dir(witness).expect("it is there").flatten() {
        if entry.file_name().to_string_lossy().starts_with(&format!("lock-{machine}-")) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// How many times a task was begun, all together.
#[track_caller]
fn judge(daemon: &Daemon, witness: &Path, ids: &[(String, i32)], fault: &NodeFault) -> usize {
    let mut begun = 0;
    for (id, code) in ids {
        until(&format!("{}: task {id} ends", fault.name), || {
            ["succeeded", "failed"].contains(&daemon.state(id).as_str())
        });
        let shown = daemon.show(id);
        assert_eq!(shown["exit_code"], *code, "{}: {shown}", fault.name);
        let noted = fs::read_to_string(witness.join(id)).expect("it has begun");
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        noted.lines().for_each(|line| *counts.entry(line).or_default() += 1);
        assert_eq!(counts["end"], 1, "{}: task {id}: {noted:?}", fault.name);
        assert!(counts["begin"] == 1 || fault.kills_tasks, "{}: task {id}: {noted:?}", fault.name);
        begun += counts["begin"];
    }
    let twice = fs::read_to_string(witness.join("twice")).unwrap_or_default();
    assert_eq!(twice, "", "{}: a GPU was given out twice", fault.name);
    begun
}

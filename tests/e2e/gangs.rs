//! Tasks on several machines at once: all parts start or none, and they end together.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::support::daemon::until;
use crate::support::ssh_lab::SshLab;

/// Who has rank 0 waits for all others at the address that everybody was told, and tells them who has come.
const RENDEZVOUS: &str = r#"
import os, socket, sys, time
rank, nodes = int(os.environ["DANLU_NODE_RANK"]), os.environ["DANLU_NODES"].split(",")
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
me = "%d=%s" % (rank, os.environ["DANLU_NODE"])
assert nodes[rank] == os.environ["DANLU_NODE"], (rank, nodes)
if rank == 0:
    server = socket.create_server(("", place[1]))
    guests = [server.accept()[0] for _ in nodes[1:]]
    here = sorted([me] + [guest.recv(99).decode() for guest in guests])
    [guest.sendall(" ".join(here).encode()) for guest in guests]
else:
    for _ in range(300):
        try:
            guest = socket.create_connection(place, 5)
            break
        except OSError:
            time.sleep(0.1)
    guest.sendall(me.encode())
    here = guest.recv(999).decode().split()
print("met", *here, "world", os.environ["WORLD_SIZE"], "gpus", os.environ["CUDA_VISIBLE_DEVICES"])
"#;

/// All machines of the lab, and no other.
const LAB: &str = "-w lab=yes";

fn lab(gpus: usize) -> Option<SshLab> {
    let lab = SshLab::new(3)?;
    for machine in &lab.machines {
        lab.add(machine, &["--sim-gpus", &gpus.to_string(), "--label", "lab=yes"]);
    }
    for machine in &lab.machines {
        lab.wait_for(&machine.name, "ready");
    }
    Some(lab)
}

fn nowhere(lab: &SshLab, part: &str) -> bool {
    lab.machines.iter().all(|machine| machine.processes(part).is_empty())
}

#[test]
fn all_parts_meet_at_the_address_they_are_told() {
    let Some(lab) = lab(2) else { return };
    let daemon = &lab.daemon;
    let program = daemon.directory().join("rendezvous.py");
    fs::write(&program, RENDEZVOUS).unwrap();
    let line = format!("exec python3 {}", program.display());
    let id = daemon.submit(&format!("{LAB} --nodes 3 --gpus 2"), &line);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0, "{}", daemon.say(&["logs", &id]));

    let task = daemon.show(&id);
    assert_eq!((&task["gpus"], &task["node"]), (&6.into(), &"n1,n2,n3".into()), "{task}");
    let parts = task["runs"][0]["parts"].as_array().unwrap();
    for (part, name) in parts.iter().zip(["n1", "n2", "n3"]) {
        assert_eq!((&part["node"], &part["state"]), (&name.into(), &"ended".into()));
        assert_eq!((&part["exit_code"], &part["gpu_ids"]), (&0.into(), &[0, 1][..].into()));
    }
    assert_eq!(parts.len(), 3);
    let met = "met 0=n1 1=n2 2=n3 world 6 gpus 0,1\n";
    assert_eq!(daemon.say(&["logs", &id]), met);
    for name in ["n1", "n2", "n3"] {
        assert_eq!(daemon.say(&["logs", &id, "--node", name]), met, "{name}");
        assert_eq!(daemon.say(&["logs", "-f", &id, "--node", name]), met, "{name}");
    }
    let missing = daemon.ask(&["logs", &id, "--node", "n4"]);
    assert_eq!(missing.status, 69, "{missing:?}");
    let page = daemon.say(&["show", &id]);
    assert!(page.contains("3 machines, each with") && page.contains("n2:0,1"), "{page}");

    // What can never be is refused with the reason.
    let refused = daemon.ask(&["submit", "-N", "4", "-g", "1", "-w", "lab=yes", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    let words = "it needs 1 GPU on each of 4 machines, only 3 nodes are large enough";
    assert!(refused.stderr.contains(words), "{refused:?}");
    let dry = daemon.say(&["submit", "--dry-run", "-N", "2", "-w", "lab=yes", "--", "true"]);
    assert!(dry.contains("would start now on n1,n2:"), "{dry}");
}

/// Stands for the real one: it takes the same options, and meets the others as the real one would.
const TORCHRUN: &str = r#"#!/usr/bin/env python3
import argparse, os
options = argparse.ArgumentParser(allow_abbrev=False)
for name in ("--nnodes", "--node_rank", "--nproc_per_node", "--master_port"):
    options.add_argument(name, type=int, required=True)
options.add_argument("--master_addr", required=True)
options.add_argument("script")
given = options.parse_args()
assert given.node_rank == int(os.environ["DANLU_NODE_RANK"])
os.environ.update(MASTER_ADDR=given.master_addr, MASTER_PORT=str(given.master_port))
print(given.nnodes, "of", given.nproc_per_node, given.script, flush=True)
exec(open(os.path.dirname(__file__) + "/rendezvous.py").read())
"#;

/// The scripts that the guide shows.
fn scripts_of_the_guide() -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/machines.md");
    let guide = fs::read_to_string(guide).expect("the guide is there");
    let mut scripts: Vec<String> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        let code = line.strip_prefix("    ");
        inside = code.is_some_and(|code| inside || code.starts_with("#!"));
        match code.filter(|_| inside) {
            Some(first) if first.starts_with("#!") => scripts.push(format!("{first}\n")),
            Some(code) => {
                scripts.last_mut().expect("it has begun").push_str(&format!("{code}\n"));
            }
            None => {}
        }
    }
    scripts
}

#[test]
fn the_examples_of_the_guide_run() {
    let Some(lab) = lab(4) else { return };
    let daemon = &lab.daemon;
    let here = daemon.directory();
    let program = |name: &str, text: &str| {
        fs::write(here.join(name), text).unwrap();
        fs::set_permissions(here.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("rendezvous.py", RENDEZVOUS);
    program("torchrun", TORCHRUN);
    program("mpirun", "#!/bin/sh\nsleep 1\necho \"$@\"\n");
    let path = format!("PATH={}:/usr/local/bin:/usr/bin:/bin", here.display());
    let scripts = scripts_of_the_guide();
    let [torch, mpi] = scripts.as_slice() else { panic!("{scripts:?}") };
    let run = |name: &str, script: &str| {
        program(name, script);
        let script = here.join(name).display().to_string();
        let options = ["submit", "-q", "-w", "lab=yes", "--env", &path, "--dir"];
        let place = here.display().to_string();
        let id = daemon.say(&[&options[..], &[&place, &script]].concat()).trim().to_owned();
        let status = daemon.ask(&["wait", &id]).status;
        assert_eq!(status, 0, "{}{}", daemon.say(&["show", &id]), daemon.say(&["logs", &id]));
        let log = |node| daemon.say(&["logs", &id, "--node", node]);
        (log("n1"), log("n2"))
    };
    let met = "2 of 4 train.py\nmet 0=n1 1=n2 world 8 gpus 0,1,2,3\n".to_owned();
    assert_eq!(run("torch.sh", torch), (met.clone(), met));
    assert_eq!(run("mpi.sh", mpi), ("--host n1:4,n2:4 ./train\n".to_owned(), String::new()));
}

#[test]
fn all_parts_start_or_none_and_one_that_fails_ends_all() {
    let Some(lab) = lab(1) else { return };
    let daemon = &lab.daemon;
    daemon.say(&["set", "stop_grace", "1s"]);

    // One machine is busy: nobody begins.
    let busy = daemon.submit("-w n2", "sleep 1234");
    daemon.wait_until(&busy, "running");
    let line =
        "[ $DANLU_NODE_RANK = 1 ] && sleep 1 && exit 7; trap '' TERM; sleep 4321; sleep 4321";
    let id = daemon.submit(&format!("{LAB} --nodes 3 --gpus 1"), line);
    let why = daemon.say(&["why", &id]);
    assert!(why.contains("for 3 machines at once: 2 have room now"), "{why}");
    assert!(nowhere(&lab, "sleep 4321"));
    daemon.say(&["cancel", "-y", &busy]);
    daemon.wait_until(&id, "running");
    until("all parts run", || {
        let rank = |place: usize| !lab.machines[place].processes("sleep 4321").is_empty();
        rank(0) && rank(2)
    });

    // One part ends badly: so do the others, whatever they do about it.
    assert_eq!(daemon.ask(&["wait", &id]).status, 7, "{}", daemon.show(&id));
    assert_eq!(daemon.state(&id), "failed");
    assert!(nowhere(&lab, "sleep 4321"));
    let parts = daemon.show(&id)["runs"][0]["parts"].take();
    assert_eq!(parts[1]["exit_code"], 7, "{parts}");
    assert_ne!(parts[0]["exit_code"], 0, "{parts}");

    // A directory that one machine has not got: the whole task could not be started.
    for machine in ["machine1", "machine2"] {
        fs::create_dir(daemon.directory().join(machine).join("root/work")).unwrap();
    }
    let options = format!("{LAB} --nodes 3 --gpus 1 --dir /root/work");
    let id = daemon.submit(&options, "trap '' TERM; sleep 4321; sleep 4321");
    daemon.ask(&["wait", &id]);
    let task = daemon.show(&id);
    assert_eq!((&task["state"], &task["failure"]["class"]), (&"failed".into(), &"launch".into()));
    assert!(nowhere(&lab, "sleep 4321"));
    until("all GPUs are free", || {
        let gpus = daemon.json(&["gpus", "--json"]);
        gpus["gpus"].as_array().unwrap().iter().all(|gpu| gpu["state"] == "free")
    });
}

#[test]
fn a_gang_that_has_lost_a_machine_goes_on_until_somebody_says_otherwise() {
    let Some(lab) = lab(1) else { return };
    let daemon = &lab.daemon;
    daemon.say(&["set", "stop_grace", "1s"]);
    let id = daemon.submit(&format!("{LAB} --nodes 2 --gpus 1"), "sleep 4321");
    daemon.wait_until(&id, "running");
    let heard = daemon.ask(&["node", "declare-lost", "n1", "--force"]);
    assert!(
        heard.status == 64 && heard.stderr.contains("is connected: no run there is lost"),
        "{heard:?}"
    );

    // Its machine is away: it goes on there, and nobody is told otherwise without force.
    lab.machines[0].filter(Some("drop"));
    daemon.wait_until(&id, "lost");
    let refused = daemon.ask(&["node", "declare-lost", "n1"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(refused.stderr.contains("may still be running"), "{refused:?}");
    assert!(refused.stderr.contains("hint: --force"), "{refused:?}");
    assert_eq!(daemon.show(&id)["attempt"], 1);
    assert!(!lab.machines[0].processes("sleep 4321").is_empty());

    // By force: it begins again on those that are there, and what is left over there ends when it comes back.
    let declared = daemon.ask(&["node", "declare-lost", "n1", "--force"]);
    assert!(declared.status == 0 && declared.stderr.contains("may write"), "{declared:?}");
    until("it runs again", || {
        let task = daemon.show(&id);
        task["attempt"] == 2 && task["state"] == "running"
    });
    assert_eq!(daemon.show(&id)["node"], "n2,n3");
    assert_eq!(daemon.show(&id)["runs"][0]["failure"]["class"], "node_lost");
    assert!(!lab.machines[0].processes("sleep 4321").is_empty());
    lab.machines[0].filter(None);
    lab.wait_for("n1", "ready");
    assert!(lab.machines[0].processes("sleep 4321").is_empty());
    assert_eq!(daemon.state(&id), "running");
    daemon.say(&["cancel", "-y", &id]);
    daemon.ask(&["wait", &id]);
    assert!(nowhere(&lab, "sleep 4321"));
}

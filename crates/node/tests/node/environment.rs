//! The environment, descriptors and signals that a command starts with.

use crate::world::World;
use danlu_wire::launch::{AssignedGpu, GpuOrder};

pub(crate) fn placeholders_are_replaced() {
    let mut world = World::new();
    let mut order = world.argv(&[
        "sh",
        "-c",
        "echo \"$@\"; echo $LIST; echo $CUDA_VISIBLE_DEVICES",
        "{task_id}",
        "{gpu_list}",
        "{gpu_count}",
    ]);
    let gpu = |index| AssignedGpu { uuid: "GPU-x".into(), index };
    let argument = Some("--gpus=".to_owned());
    order.gpus = GpuOrder { assigned: vec![gpu(1), gpu(3)], argument, ..GpuOrder::default() };
    order.environment.0.push("LIST=<{gpu_list}>".to_owned());
    assert_eq!(world.output_of(&order), "1,3 2 --gpus=1,3\n<1,3>\n1,3\n");
}

pub(crate) fn nothing_of_the_daemon_is_inherited() {
    let mut world = World::new();
    let order = world.shell("env; ls -l /proc/self/fd/");
    let output = world.output_of(&order);
    assert!(output.contains("DANLU_RUN=1-1"), "{output}");
    // What cargo gives to its tests would be here.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
    assert!(!output.contains("CARGO") && !output.contains("NEXTEST"), "{output}");
    let descriptors: Vec<&str> = output.lines().filter(|line| line.contains(" -> ")).collect();
    // The fourth is that of the directory which `ls` reads.
    assert_eq!(descriptors.len(), 4, "{output}");
    assert!(descriptors[0].contains("/dev/null"), "{output}");
    assert!(descriptors[1].contains("output.log") && descriptors[2].contains("output.log"));
}

pub(crate) fn signals_are_at_their_defaults() {
    let mut world = World::new();
    let order = world.argv(&["sed", "-n", "/^Sig[BIC]/p", "/proc/self/status"]);
    let output = world.output_of(&order);
    for line in output.lines() {
        assert!(line.ends_with("\t0000000000000000"), "{output}");
    }
    assert_eq!(output.lines().count(), 3);
}

/// Otherwise a shim that is killed early would leave a command that nobody knows of.
pub(crate) fn state_is_written_before_the_command_begins() {
    let mut world = World::new();
    for _ in 0..10 {
        let order = world.shell(r#"test -s "${DANLU_PREEMPT_FILE%/*}/state.json""#);
        world.output_of(&order);
    }
}

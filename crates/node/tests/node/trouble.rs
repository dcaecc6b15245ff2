//! Trouble of the machine does not fail the task that was about to start, and ends when its cause does.

use crate::world::World;
use danlu_core::TroubleKind;
use danlu_core::run::{Exit, ReportedState};
use danlu_wire::launch::{AssignedGpu, GpuOrder};
use danlu_wire::{Hello, ToAgent};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::fs;
use std::io::Write as _;

fn fill(world: &World) -> std::path::PathBuf {
    let filler = world.root_path().join("filler");
    let mut content = fs::File::create(&filler).unwrap();
    while content.write_all(&[1; 4096]).is_ok() {}
    filler
}

pub(crate) fn full_disk_is_no_failure_of_a_task() {
    let Some(mut world) = World::on_a_small_disk() else { return };
    let filler = fill(&world);
    for _ in 0..2 {
        let run = world.launch_shell("true");
        let Exit::Trouble(trouble) = world.exit(run) else { panic!("{:?}", world.exit(run)) };
        assert_eq!(trouble.kind, TroubleKind::DiskFull, "{trouble:?}");
    }
    assert_eq!(world.fitness().unwrap().kind, TroubleKind::DiskFull);
    assert_eq!(world.whole_report().trouble.unwrap().kind, TroubleKind::DiskFull);
    fs::remove_file(filler).unwrap();
    assert_eq!(world.fitness(), None);
    assert_eq!(world.whole_report().trouble, None);
    let run = world.launch_shell("exit 4");
    assert_eq!(world.exit(run), Exit::Code(4));
}

/// The directory is there, but nothing more can be written to it.
pub(crate) fn disk_that_is_full_after_the_directory_was_made() {
    let Some(mut world) = World::on_a_small_disk() else { return };
    // Directories of ended runs are used again, so that there is no need for new ones.
    let runs: Vec<_> = (0..3).map(|_| world.launch_shell("true")).collect();
    for run in runs {
        world.exit(run);
        world.send(ToAgent::Forget { run });
    }
    world.report();
    let filler = fill(&world);
    let run = world.launch_shell("true");
    let Exit::Trouble(trouble) = world.exit(run) else { panic!("{:?}", world.exit(run)) };
    assert_eq!(trouble.kind, TroubleKind::DiskFull, "{trouble:?}");
    assert!(world.fitness().is_some());
    fs::remove_file(filler).unwrap();
    assert_eq!(world.fitness(), None);
}

pub(crate) fn no_descriptors_are_no_failure_of_a_task() {
    let mut world = World::new();
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let open = u64::try_from(fs::read_dir("/proc/self/fd").unwrap().count()).unwrap();
    let order = world.shell("exit 4");
    setrlimit(Resource::RLIMIT_NOFILE, open.saturating_sub(2).max(3), hard).unwrap();
    let run = world.launch(&order);
    let exit = world.exit(run);
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    let Exit::Trouble(trouble) = exit else { panic!("{exit:?}") };
    assert_eq!(trouble.kind, TroubleKind::Descriptors, "{trouble:?}");
    assert!(world.fitness().is_some());
    assert_eq!(world.fitness(), None);
    let run = world.launch_shell("exit 4");
    assert_eq!(world.exit(run), Exit::Code(4));
}

/// A server of an earlier version has no word for it.
pub(crate) fn an_older_server_hears_what_it_understands() {
    let Some(mut world) = World::on_a_small_disk() else { return };
    let hello = Hello::new("0.1.0", danlu_core::SessionId(1), None);
    world.greet(Hello { protocol: 1, oldest_protocol: Some(1), ..hello });
    let filler = fill(&world);
    let run = world.launch_shell("true");
    let Exit::Launch { message } = world.exit(run) else { panic!("{:?}", world.exit(run)) };
    assert!(message.contains("No space left"), "{message}");
    let reported = world.report().remove(&run).unwrap();
    assert!(
        matches!(&reported, ReportedState::Ended(ending) if matches!(ending.exit, Exit::Launch { .. }))
    );
    fs::remove_file(filler).unwrap();
}

pub(crate) fn reports_say_what_a_run_is_for() {
    let mut world = World::new();
    let mut order = world.shell("sleep 1000");
    let gpu = |index: u32| AssignedGpu { uuid: format!("GPU-{index}").as_str().into(), index };
    order.gpus = GpuOrder { assigned: vec![gpu(1), gpu(3)], ..GpuOrder::default() };
    let run = world.launch(&order);
    world.started(run);
    for _ in 0..2 {
        let report = world.whole_report().runs.remove(0);
        assert_eq!((report.run, report.task), (run, Some(order.task)));
        assert_eq!(report.gpus, ["GPU-1".into(), "GPU-3".into()]);
        // The next one knows it from the run directory.
        world.end_agent();
        world.start_agent();
    }
}

//! Memory limits, where there is a memory controller.

use crate::world::{World, is_root};
use danlu_core::run::Exit;

pub(crate) fn limit_is_kept() {
    let mut world = World::new();
    // Doubles a string in the shell's own memory.
    let mut order = world.shell("x=0123456789; while :; do x=$x$x; done");
    order.memory_limit = Some(64 << 20);
    // Where nobody keeps the limit, it ends all the same.
    order.time_limit = Some(danlu_core::Span::from_secs(5));
    let run = world.launch(&order);
    let (ending, used) = world.used(run);
    if used.oom_kills.is_none() {
        let user = if is_root() { "root" } else { "this user" };
        println!("skipped: {user} has no memory controller to use here");
        return;
    }
    assert_eq!((ending.exit, used.oom_kills), (Exit::Signal(9), Some(1)));
    let peak = used.peak_memory.unwrap();
    assert!((32 << 20..=64 << 20).contains(&peak), "{peak}");
}

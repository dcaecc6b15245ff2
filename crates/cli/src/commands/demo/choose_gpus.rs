//! Starts the server with the GPUs of the machine, or with simulated ones when none is free.

use std::time::{Duration, Instant};

use danlu_messages::cli::demo as msg;
use danlu_node::gpu::{Probe, ProbeConfig};
use danlu_wire::api::{Document, GpuStateName, Gpus};

use super::{
    interrupt::{Interrupt, Stop},
    server::DemoServer,
    tell,
    tour::bold,
};

const SIMULATED: u32 = 4;
const LOOK: Duration = Duration::from_millis(20);
/// A driver may take its time.
const LONGEST: Duration = Duration::from_secs(30);

/// A server whose GPUs can be used, and how many there are.
pub(super) fn start(interrupt: &Interrupt) -> Result<(DemoServer, u32), Stop> {
    let title = msg::title();
    tell(&format!("{}\n", bold(title)))?;
    let found = Probe::detect(&ProbeConfig::from_environment()).is_ok();
    if found {
        let server = DemoServer::start(None)?;
        let free = free_gpus(&server, interrupt)?;
        if free > 0 {
            let words = msg::free_gpus_here(&free);
            tell(&format!("{words}\n"))?;
            return Ok((server, free));
        }
        server.end()?;
    }
    let why = if found { msg::those_of_this_machine_are_in_use() } else { msg::no_gpus_here() };
    let server = DemoServer::start(Some(SIMULATED))?;
    let free = free_gpus(&server, interrupt)?;
    tell(&msg::simulated_gpus(&SIMULATED, &why))?;
    Ok((server, free))
}

/// Once the machine has said what it has.
fn free_gpus(server: &DemoServer, interrupt: &Interrupt) -> Result<u32, Stop> {
    let client = server.client()?;
    let since = Instant::now();
    loop {
        let gpus = client.get::<Document<Gpus>>("/gpus")?.content.gpus;
        if !gpus.is_empty() {
            let free = gpus.iter().filter(|gpu| gpu.state == GpuStateName::Free).count();
            return Ok(u32::try_from(free).unwrap_or(u32::MAX));
        }
        if since.elapsed() > LONGEST {
            return Ok(0);
        }
        interrupt.wait(LOOK)?;
    }
}

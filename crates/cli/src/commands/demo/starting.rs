//! Which GPUs the demo uses: those of the machine, or simulated ones where there are none to be had.

use std::time::{Duration, Instant};

use danlu_node::gpu::{Probe, ProbeConfig};
use danlu_wire::api::{Document, Gpus};

use super::{
    leaving::{Leaving, Stop},
    server::Server,
    tell,
    tour::bold,
};
use crate::language::{say, text};

const SIMULATED: u32 = 4;
const LOOK: Duration = Duration::from_millis(20);
/// A driver may take its time.
const LONGEST: Duration = Duration::from_secs(30);

/// A server whose GPUs can be used, and how many there are.
pub(super) fn start(leaving: &Leaving) -> Result<(Server, u32), Stop> {
    let title = text(
        "Danlu demo: a server of its own, with a few tasks",
        "丹炉演示：一个单独的服务器和几个任务",
    );
    tell(&format!("{}\n", bold(title)))?;
    let found = Probe::detect(&ProbeConfig::from_environment()).is_ok();
    if found {
        let server = Server::start(None)?;
        let free = free_gpus(&server, leaving)?;
        if free > 0 {
            let words =
                say!("the free GPUs of this machine: {free}", "使用本机的 {free} 块空闲 GPU");
            tell(&format!("{words}\n"))?;
            return Ok((server, free));
        }
        server.end()?;
    }
    let why = if found {
        text("those of this machine are in use", "本机的 GPU 都在使用中")
    } else {
        text("this machine has none", "本机没有 GPU")
    };
    let server = Server::start(Some(SIMULATED))?;
    let free = free_gpus(&server, leaving)?;
    tell(&say!(
        "{SIMULATED} simulated GPUs, because {why}\n",
        "{why}，使用 {SIMULATED} 块模拟的 GPU\n"
    ))?;
    Ok((server, free))
}

/// Once the machine has said what it has.
fn free_gpus(server: &Server, leaving: &Leaving) -> Result<u32, Stop> {
    let client = server.client()?;
    let since = Instant::now();
    loop {
        let gpus = client.get::<Document<Gpus>>("/gpus")?.content.gpus;
        if !gpus.is_empty() {
            let free = gpus.iter().filter(|gpu| gpu.state == "free").count();
            return Ok(u32::try_from(free).unwrap_or(u32::MAX));
        }
        if since.elapsed() > LONGEST {
            return Ok(0);
        }
        leaving.wait(LOOK)?;
    }
}

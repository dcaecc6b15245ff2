//! The line above the list: free GPUs, and the states of your tasks.

use danlu_messages::cli::ls as msg;
use danlu_wire::api::{GpuCounts, GpuStateName, Overview};

use crate::screen::width;

pub(super) fn line(overview: &Overview, columns: Option<usize>) -> String {
    let (machine, mine) = (machine(&overview.gpus), mine(overview));
    let together = width::of(&machine) + GAP.len() + width::of(&mine);
    if columns.is_some_and(|columns| together > columns) {
        format!("{machine}\n{mine}\n")
    } else {
        format!("{machine}{GAP}{mine}\n")
    }
}

const GAP: &str = "     ";

pub(crate) fn machine(gpus: &GpuCounts) -> String {
    use GpuStateName::{Conflict, Dirty, Disabled, Foreign, Free, Quarantined, Unknown};
    let (free, all) = (gpus.of(Free), gpus.total());
    if all == 0 {
        return msg::no_gpus().to_owned();
    }
    let mut parts = vec![msg::gpus_free_all_free(&free, &all)];
    let foreign = gpus.of(Foreign);
    if foreign > 0 {
        parts.push(msg::foreign_used_outside_danlu(&foreign));
    }
    let aside = gpus.of_any(&[Dirty, Quarantined, Disabled, Conflict]);
    if aside > 0 {
        parts.push(msg::aside_set_aside(&aside));
    }
    let unknown = gpus.of(Unknown);
    if unknown > 0 {
        parts.push(msg::unknown_not_known(&unknown));
    }
    parts.join(" · ")
}

pub(crate) fn mine(overview: &Overview) -> String {
    let Overview { running, running_gpus, waiting, .. } = overview;
    let running = match running_gpus {
        0 => msg::running_running(&running),
        1 => msg::running_running_1_gpu(&running),
        _ => msg::running_running_running_gpus_gpus(&running, &running_gpus),
    };
    msg::you_running_waiting_waiting(&running, &waiting)
}

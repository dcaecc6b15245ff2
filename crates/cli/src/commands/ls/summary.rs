//! The line above the list: are GPUs free, and how are my tasks?

use std::collections::BTreeMap;

use danlu_wire::api::Overview;

use crate::{
    language::{say, text},
    screen::width,
};

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

fn machine(gpus: &BTreeMap<String, usize>) -> String {
    let count = |states: &[&str]| states.iter().filter_map(|state| gpus.get(*state)).sum::<usize>();
    let (free, all) = (count(&["free"]), gpus.values().sum::<usize>());
    if all == 0 {
        return text("no GPUs", "没有 GPU").to_owned();
    }
    let mut parts = vec![say!("GPUs {free}/{all} free", "GPU 空闲 {free}/{all}")];
    let foreign = count(&["foreign"]);
    if foreign > 0 {
        parts.push(say!("{foreign} used outside Danlu", "{foreign} 块被外部占用"));
    }
    let aside = count(&["dirty", "quarantined", "disabled", "conflict"]);
    if aside > 0 {
        parts.push(say!("{aside} set aside", "{aside} 块停用"));
    }
    let unknown = count(&["unknown"]);
    if unknown > 0 {
        parts.push(say!("{unknown} not known", "{unknown} 块状态未知"));
    }
    parts.join(" · ")
}

fn mine(overview: &Overview) -> String {
    let Overview { running, running_gpus, waiting, .. } = overview;
    let running = match running_gpus {
        0 => say!("{running} running", "{running} 个运行"),
        1 => say!("{running} running (1 GPU)", "{running} 个运行（1 块 GPU）"),
        _ => {
            say!(
                "{running} running ({running_gpus} GPUs)",
                "{running} 个运行（{running_gpus} 块 GPU）"
            )
        }
    };
    say!("you: {running}, {waiting} waiting", "您：{running}，{waiting} 个等待")
}

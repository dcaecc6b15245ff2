//! The line above the list: are GPUs free, and how are my tasks?

use danlu_wire::api::{Gpus, TaskView};

use crate::{
    given::task_state::{ACTIVE, WAITING},
    language::{say, text},
    screen::width,
};

pub(super) fn line(
    gpus: &Gpus,
    tasks: &[TaskView],
    waiting: Option<usize>,
    me: &str,
    columns: Option<usize>,
) -> String {
    let (machine, mine) = (machine(gpus), mine(tasks, waiting, me));
    let together = width::of(&machine) + GAP.len() + width::of(&mine);
    if columns.is_some_and(|columns| together > columns) {
        format!("{machine}\n{mine}\n")
    } else {
        format!("{machine}{GAP}{mine}\n")
    }
}

const GAP: &str = "     ";

fn machine(gpus: &Gpus) -> String {
    let count = |states: &[&str]| {
        gpus.gpus.iter().filter(|gpu| states.contains(&gpu.state.as_str())).count()
    };
    let (free, all) = (count(&["free"]), gpus.gpus.len());
    if all == 0 {
        return text("no GPUs", "没有 GPU").to_owned();
    }
    let mut parts = vec![say!("GPUs {free}/{all} free", "GPU 空闲 {free}/{all}")];
    let foreign = count(&["foreign"]);
    if foreign > 0 {
        parts.push(say!("{foreign} used outside Danlu", "{foreign} 块被外部占用"));
    }
    let aside = count(&["dirty", "quarantined", "disabled"]);
    if aside > 0 {
        parts.push(say!("{aside} set aside", "{aside} 块停用"));
    }
    let unknown = count(&["unknown"]);
    if unknown > 0 {
        parts.push(say!("{unknown} not known", "{unknown} 块状态未知"));
    }
    parts.join(" · ")
}

fn mine(tasks: &[TaskView], waiting: Option<usize>, me: &str) -> String {
    let of_me = || tasks.iter().filter(|task| task.user == me);
    let active: Vec<&TaskView> = of_me().filter(|task| ACTIVE.contains(&task.state)).collect();
    let running = active.len();
    let used: u32 = active.iter().map(|task| task.gpus).sum();
    let everybody = tasks.iter().any(|task| task.user != me);
    // The server has counted those that are not shown as well.
    let waiting = waiting
        .filter(|_| !everybody)
        .unwrap_or_else(|| of_me().filter(|task| WAITING.contains(&task.state)).count());
    let running = match used {
        0 => say!("{running} running", "{running} 个运行"),
        1 => say!("{running} running (1 GPU)", "{running} 个运行（1 块 GPU）"),
        _ => say!("{running} running ({used} GPUs)", "{running} 个运行（{used} 块 GPU）"),
    };
    say!("you: {running}, {waiting} waiting", "您：{running}，{waiting} 个等待")
}

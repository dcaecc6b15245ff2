//! The GPUs of all machines: whose they are, and what is said about each.

use std::collections::BTreeMap;

use danlu_messages::cli::top as msg;
use danlu_wire::api::{GpuStateName, GpuView};

use crate::{
    commands::foreign_process,
    screen::{states, width},
};

/// Who holds GPUs: the tasks that run, by id.
pub(crate) type Holders = BTreeMap<u64, Holder>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) user: String,
    pub(crate) name: String,
}

/// Each has a colour, and always a word too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Nobodys,
    Mine,
    Others,
    Outside,
    Aside,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GpuRow {
    Machine { name: String, free: usize, all: usize },
    Gpu(Box<GpuLine>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GpuLine {
    pub(crate) index: u32,
    pub(crate) model: String,
    pub(crate) utilization: Option<u32>,
    pub(crate) memory_used: Option<u64>,
    pub(crate) memory_total: u64,
    pub(crate) whose: Whose,
    pub(crate) words: String,
    pub(crate) tasks: Vec<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct GpuPane {
    pub(crate) rows: Vec<GpuRow>,
    pub(crate) is_known: bool,
    pub(crate) top: usize,
}

impl GpuPane {
    pub(crate) fn take(&mut self, gpus: &[GpuView], holders: &Holders, me: &str, height: usize) {
        self.rows = rows(gpus, holders, me);
        self.is_known = true;
        self.scroll(0, height);
    }

    pub(crate) fn scroll(&mut self, by: isize, height: usize) {
        let most = self.rows.len().saturating_sub(height.max(1));
        self.top = self.top.saturating_add_signed(by).min(most);
    }
}

/// Machine after machine, in the order of the server.
fn rows(gpus: &[GpuView], holders: &Holders, me: &str) -> Vec<GpuRow> {
    let mut rows = Vec::new();
    for machine in gpus.chunk_by(|one, other| one.node == other.node) {
        let free = machine.iter().filter(|gpu| gpu.state == GpuStateName::Free).count();
        let name = width::plain(&machine[0].node);
        rows.push(GpuRow::Machine { name, free, all: machine.len() });
        rows.extend(machine.iter().map(|gpu| GpuRow::Gpu(Box::new(line(gpu, holders, me)))));
    }
    rows
}

fn line(gpu: &GpuView, holders: &Holders, me: &str) -> GpuLine {
    let (whose, words) = holder(gpu, holders, me);
    GpuLine {
        index: gpu.index,
        model: short_model(&gpu.model),
        utilization: gpu.utilization,
        memory_used: gpu.memory_used,
        memory_total: gpu.memory_total,
        whose,
        words,
        tasks: gpu.tasks.clone(),
    }
}

/// The maker's name is the same on every line.
fn short_model(model: &str) -> String {
    let model = width::plain(model);
    let words = model.split_whitespace().filter(|word| !["NVIDIA", "AMD"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

fn holder(gpu: &GpuView, holders: &Holders, me: &str) -> (Whose, String) {
    let mut parts = Vec::new();
    let mut is_mine = false;
    for id in &gpu.tasks {
        let held = holders.get(id);
        let mine = held.is_some_and(|holder| holder.user == me);
        is_mine |= mine;
        parts.push(match held {
            Some(holder) => {
                let user = if mine { msg::you().to_owned() } else { width::plain(&holder.user) };
                format!("{id} {user} {}", width::plain(&holder.name))
            }
            None => id.to_string(),
        });
    }
    parts.extend(gpu.idle.as_ref().map(|idle| width::plain(&idle.why)));
    parts.extend(gpu.foreign.iter().map(|process| msg::outside(&foreign_process(process))));
    let aside = || {
        let state = states::gpu(gpu.state).to_owned();
        let why = gpu.why.as_ref().map_or(state, |why| width::plain(why));
        msg::set_aside(&why)
    };
    let whose = match gpu.state {
        GpuStateName::Free => Whose::Nobodys,
        GpuStateName::Held | GpuStateName::Shared => match is_mine {
            true => Whose::Mine,
            false => Whose::Others,
        },
        GpuStateName::Foreign => Whose::Outside,
        GpuStateName::Dirty
        | GpuStateName::Quarantined
        | GpuStateName::Disabled
        | GpuStateName::Conflict
        | GpuStateName::Unknown => {
            parts.insert(0, aside());
            Whose::Aside
        }
    };
    if parts.is_empty() {
        parts.push(match whose {
            Whose::Nobodys => msg::free().to_owned(),
            Whose::Mine | Whose::Others | Whose::Outside | Whose::Aside => {
                states::gpu(gpu.state).to_owned()
            }
        });
    }
    (whose, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn every_gpu_says_in_words_whose_it_is() {
        let rows = rows(&sample::gpus(), &sample::holders(), "ada");
        let said: Vec<(Whose, &str)> = rows
            .iter()
            .filter_map(|row| match row {
                GpuRow::Gpu(line) => Some((line.whose, line.words.as_str())),
                GpuRow::Machine { .. } => None,
            })
            .collect();
        assert_eq!(said[0], (Whose::Mine, "412 you resnet"));
        assert_eq!(said[2], (Whose::Others, "398 bo vit-large"));
        assert_eq!(said[3], (Whose::Nobodys, "free"));
        assert_eq!(said[4].0, Whose::Outside);
        assert!(said[4].1.starts_with("outside: chen, pid 4711"), "{}", said[4].1);
        assert_eq!(said[5], (Whose::Aside, "set aside: Xid 79"));
    }

    #[test]
    fn machines_stand_above_their_gpus() {
        let rows = rows(&sample::gpus(), &sample::holders(), "ada");
        let machines: Vec<&GpuRow> =
            rows.iter().filter(|row| matches!(row, GpuRow::Machine { .. })).collect();
        assert_eq!(machines.len(), 2);
        assert_eq!(rows[0], GpuRow::Machine { name: "gpu1".into(), free: 1, all: 6 });
    }
}

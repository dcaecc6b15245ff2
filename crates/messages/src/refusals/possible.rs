//! Why no machine could ever run what is asked for, and what could be asked for instead.

use crate::reasons::{listed, words as msg};
use danlu_core::refusal::{Lack, NameKind, SizedNode};

pub(super) fn unknown(kind: NameKind, name: &str, nearest: Option<&str>) -> (String, String) {
    let message = match kind {
        NameKind::Node => msg::no_such_machine(&name),
        NameKind::Label => msg::no_machine_has_the_label_name(&name),
        NameKind::Channel => crate::notify::channels::no_such_channel(&name),
        NameKind::Resource => msg::no_machine_has_name(&name),
    };
    let hint = match nearest {
        Some(nearest) => msg::did_you_mean_nearest(&nearest),
        None => msg::danlu_nodes_lists_the_machines().to_owned(),
    };
    (message, hint)
}

pub(super) fn lacking(lacks: &Lack) -> (String, String) {
    match lacks {
        Lack::Gpus { wanted, most, equal, largest } => {
            let there = largest_words(*most, *equal, largest);
            let message = msg::no_node_has_wanted_gpus_there(&wanted, &there);
            (message, together(*wanted, *most, *equal))
        }
        Lack::Model { model, there_are } => {
            let message = msg::no_node_has_a_gpu_of_model_model(&model);
            let hint = match there_are.is_empty() {
                true => msg::list_gpus().to_owned(),
                false => {
                    let models = listed(there_are);
                    msg::models_are(&models)
                }
            };
            (message, hint)
        }
    }
}

/// `gpu1 and gpu2 have 8 each`.
fn largest_words(most: u32, equal: usize, largest: &[SizedNode]) -> String {
    let mut names: Vec<String> = largest.iter().map(|node| node.name.clone()).collect();
    let more = equal.saturating_sub(names.len());
    if more > 0 {
        names.push(msg::more_more(&more));
    }
    let all = listed(&names);
    match equal {
        1 => msg::all_has_most(&all, &most),
        _ => msg::all_have_most_each(&all, &most),
    }
}

/// Several of the largest nodes may have as many together.
fn together(wanted: u32, most: u32, equal: usize) -> String {
    let nodes = (2..=equal).find(|nodes| {
        let nodes = u32::try_from(*nodes).unwrap_or(u32::MAX);
        wanted.is_multiple_of(nodes) && wanted / nodes <= most
    });
    match nodes {
        Some(nodes) => {
            let each = wanted as usize / nodes;
            msg::nodes_together(&nodes, &each)
        }
        None => msg::gpus_most_is_the_most_on_one_node(&most),
    }
}

//! What is asked for and cannot be, in words and with what to do about it.

use super::listed;
use super::words as msg;
use danlu_core::Refusal;
use danlu_core::refusal::{Lack, NameKind, SizedNode};

/// The sentence and the hint; `None` for refusals that are worded elsewhere.
pub fn refused(refusal: &Refusal) -> Option<(String, String)> {
    match refusal {
        Refusal::UnknownName { kind, name, nearest } => {
            Some((unknown(*kind, name), meant(*kind, nearest.as_deref())))
        }
        Refusal::Impossible { lacks: Some(lacks), .. } => Some(impossible(lacks)),
        _ => None,
    }
}

fn unknown(kind: NameKind, name: &str) -> String {
    match kind {
        NameKind::Node => msg::there_is_no_machine_called_name(&name),
        NameKind::Label => msg::no_machine_has_the_label_name(&name),
        NameKind::Resource => msg::no_machine_has_name(&name),
    }
}

fn meant(kind: NameKind, nearest: Option<&str>) -> String {
    match (nearest, kind) {
        (Some(nearest), _) => msg::did_you_mean_nearest(&nearest),
        (None, NameKind::Node | NameKind::Label | NameKind::Resource) => {
            msg::danlu_nodes_lists_the_machines().to_owned()
        }
    }
}

fn impossible(lacks: &Lack) -> (String, String) {
    match lacks {
        Lack::Gpus { wanted, most, equal, largest } => {
            let there = largest_words(*most, *equal, largest);
            let message = msg::no_node_has_wanted_gpus_there(&wanted, &there);
            (message, together(*wanted, *most, *equal))
        }
        Lack::Model { model, there_are } => {
            let message = msg::no_node_has_a_gpu_of_model_model(&model);
            let hint = match there_are.is_empty() {
                true => msg::danlu_gpus_shows_what_there_is().to_owned(),
                false => {
                    let models = listed(there_are);
                    msg::there_are_models(&models)
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
            msg::nodes_nodes_gpus_each_runs_on_nodes_nodes(&nodes, &each)
        }
        None => msg::gpus_most_is_the_most_on_one_node(&most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    fn lacks_gpus(wanted: u32, names: &[&str]) -> Refusal {
        let sized = |name: &&str| SizedNode { name: (*name).to_owned(), gpus: 8 };
        let largest: Vec<SizedNode> = names.iter().map(sized).collect();
        let lacks = Some(Lack::Gpus { wanted, most: 8, equal: names.len(), largest });
        Refusal::Impossible { wanted: String::new(), most: String::new(), lacks }
    }

    #[test]
    fn too_many_gpus_are_refused_with_numbers_and_a_way_out() {
        let (message, hint) = refused(&lacks_gpus(16, &["gpu1", "gpu2"])).expect("words");
        assert_eq!(message, "no node has 16 GPUs (gpu1 and gpu2 have 8 each)");
        assert_eq!(hint, "--nodes 2 --gpus 8 runs on 2 nodes together");
        let (message, hint) = refused(&lacks_gpus(9, &["gpu1"])).expect("words");
        assert_eq!(message, "no node has 9 GPUs (gpu1 has 8)");
        assert_eq!(hint, "--gpus 8 is the most on one node");
        let chinese = Language::Chinese.within(|| refused(&lacks_gpus(16, &["gpu1", "gpu2"])));
        assert_eq!(chinese.expect("words").0, "没有机器有 16 块 GPU（gpu1 和 gpu2 各有 8 块）");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        let (kind, name) = (NameKind::Node, "gpu77".to_owned());
        let refusal = Refusal::UnknownName { kind, name, nearest: Some("gpu7".to_owned()) };
        let (message, hint) = refused(&refusal).expect("words");
        assert_eq!(message, "there is no machine called gpu77");
        assert_eq!(hint, "did you mean gpu7?");
    }
}

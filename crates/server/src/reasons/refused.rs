//! What is asked for and cannot be, in words and with what to do about it.

use super::listed;
use crate::language::{say, text};
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
        NameKind::Node => say!("there is no machine called {name}", "没有名为 {name} 的机器"),
        NameKind::Label => say!("no machine has the label {name}", "没有机器带有标签 {name}"),
        NameKind::Resource => say!("no machine has {name}", "没有机器有资源 {name}"),
    }
}

fn meant(kind: NameKind, nearest: Option<&str>) -> String {
    match (nearest, kind) {
        (Some(nearest), _) => say!("did you mean {nearest}?", "您是不是想写 {nearest}？"),
        (None, NameKind::Node | NameKind::Label | NameKind::Resource) => {
            text("danlu nodes lists the machines", "danlu nodes 列出所有机器").to_owned()
        }
    }
}

fn impossible(lacks: &Lack) -> (String, String) {
    match lacks {
        Lack::Gpus { wanted, most, equal, largest } => {
            let there = largest_words(*most, *equal, largest);
            let message = say!(
                "no node has {wanted} GPUs ({there})",
                "没有机器有 {wanted} 块 GPU（{there}）"
            );
            (message, together(*wanted, *most, *equal))
        }
        Lack::Model { model, there_are } => {
            let message =
                say!("no node has a GPU of model {model}", "没有机器有型号为 {model} 的 GPU");
            let hint = match there_are.is_empty() {
                true => {
                    text("danlu gpus shows what there is", "danlu gpus 列出现有 GPU").to_owned()
                }
                false => {
                    let models = listed(there_are);
                    say!("there are {models}", "现有 {models}")
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
        names.push(say!("{more} more", "另外 {more} 台"));
    }
    let all = listed(&names);
    match equal {
        1 => say!("{all} has {most}", "{all} 有 {most} 块"),
        _ => say!("{all} have {most} each", "{all} 各有 {most} 块"),
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
            say!(
                "--nodes {nodes} --gpus {each} runs on {nodes} nodes together",
                "--nodes {nodes} --gpus {each} 可同时在 {nodes} 台机器上运行"
            )
        }
        None => say!("--gpus {most} is the most on one node", "单台机器最多 --gpus {most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

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

//! Slurm's options in Danlu's words. What has no equal here is refused, never ignored.

use danlu_messages::spec as msg;
use std::collections::BTreeMap;

use crate::{complaint::Complaint, parse::amount::parse_bytes_in};

/// What becomes of an option.
enum Meaning {
    /// The same under another name.
    As(&'static str),
    /// A flag without a value.
    Flag(&'static str),
    /// It changes nothing here, with or without a value.
    Nothing,
    /// It changes nothing here if it has one of these values.
    Only(&'static [&'static str]),
    Convert(fn(&str) -> Result<Vec<String>, Complaint>),
    /// What to write instead.
    Refused(&'static str),
}

fn meaning(name: &str) -> Meaning {
    use Meaning::{As, Convert, Flag, Nothing, Only, Refused};
    match name {
        "job-name" | "J" => As("--name"),
        "output" | "o" => Convert(|file| file_name("--output", file)),
        "error" | "e" => Convert(|file| file_name("--stderr", file)),
        "time" | "t" => As("--time"),
        "gres" => Convert(gres),
        "gpus" | "G" | "gpus-per-node" | "gpus-per-task" => As("--gpus"),
        "cpus-per-task" | "c" => As("--cpus"),
        "mem" => Convert(mem),
        "array" | "a" => As("--array"),
        "dependency" | "d" => As("--after"),
        "chdir" | "D" => As("--dir"),
        "comment" => As("--description"),
        "account" | "A" => As("--project"),
        "nodelist" | "w" => As("--node"),
        "export" => Convert(export),
        "hold" | "H" => Flag("--hold"),
        "nodes" | "N" => Convert(nodes),
        "ntasks" | "n" | "ntasks-per-node" => Only(&["1"]),
        "open-mode" => Only(&["append"]),
        "kill-on-invalid-dep" => Only(&["yes"]),
        "requeue" | "parsable" | "quiet" | "Q" | "verbose" | "v" => Nothing,
        "partition" | "p" | "qos" | "q" => Refused(msg::there_are_no_partitions()),
        "begin" | "b" => As("--begin"),
        "mem-per-cpu" | "mem-per-gpu" => Refused(msg::give_the_total_memory()),
        _ => Refused(msg::remove_the_line()),
    }
}

/// The words of one `#SBATCH` line.
pub(super) fn translate(words: &[String]) -> Result<Vec<String>, Complaint> {
    let mut out = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, name, joined) = split(word)?;
        let mut value = || match joined {
            Some(value) => Ok(value.to_owned()),
            None => words.next().cloned().ok_or_else(|| needs_value(&flag)),
        };
        match meaning(name) {
            Meaning::As(danlu) => out.push(format!("{danlu}={}", value()?)),
            Meaning::Flag(danlu) => out.push(danlu.to_owned()),
            Meaning::Nothing => {}
            Meaning::Only(values) => {
                let value = value()?;
                if !values.contains(&value.as_str()) {
                    let only = values[0];
                    return Err(unsupported(&format!("{flag}={value}"))
                        .hint(msg::only_flag_only_is_possible_here(&flag, &only)));
                }
            }
            Meaning::Convert(convert) => out.extend(convert(&value()?)?),
            Meaning::Refused(instead) => return Err(unsupported(&flag).hint(instead)),
        }
    }
    Ok(out)
}

/// As it is shown, its name, and a value that is written together with it: `--time=5`, `-t5`.
fn split(word: &str) -> Result<(String, &str, Option<&str>), Complaint> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        return Ok((format!("--{name}"), name, value));
    }
    let short = word.strip_prefix('-').filter(|rest| rest.is_char_boundary(1) && !rest.is_empty());
    let Some(short) = short else {
        return Err(unsupported(word).hint(msg::an_option_was_expected()));
    };
    let (name, value) = short.split_at(1);
    let value = value.strip_prefix('=').unwrap_or(value);
    Ok((format!("-{name}"), name, Some(value).filter(|value| !value.is_empty())))
}

/// `2`, or `2-2`: exactly so many.
fn nodes(count: &str) -> Result<Vec<String>, Complaint> {
    let (least, most) = count.split_once('-').unwrap_or((count, count));
    match least.parse::<u32>() {
        Ok(1) if least == most => Ok(Vec::new()),
        Ok(nodes @ 1..) if least == most => Ok(vec![format!("--nodes={nodes}")]),
        _ => {
            Err(unsupported(&format!("--nodes={count}")).hint(msg::name_exactly_so_many_nodes_2()))
        }
    }
}

/// Slurm's `--gpus` counts over all nodes; what others count is on each.
pub(super) fn counts_in_all(words: &[String]) -> bool {
    let names = words.iter().filter_map(|word| split(word).ok()).map(|(_, name, _)| name);
    names.into_iter().any(|name| matches!(name, "gpus" | "G"))
}

/// `gpu:2`, `gpu:a100:2`, `gpu`.
fn gres(list: &str) -> Result<Vec<String>, Complaint> {
    let wrong = || unsupported(&format!("--gres={list}")).hint("--gres=gpu:2, --gres=gpu:a100:2");
    let list = list.split('(').next().unwrap_or(list);
    match list.split(':').collect::<Vec<_>>().as_slice() {
        _ if list.contains(',') => Err(wrong()),
        ["gpu"] => Ok(vec!["--gpus=1".to_owned()]),
        ["gpu", count] if count.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(vec![format!("--gpus={count}")])
        }
        ["gpu", model] => Ok(vec![format!("--gpus={model}:1")]),
        ["gpu", model, count] => Ok(vec![format!("--gpus={model}:{count}")]),
        _ => Err(wrong()),
    }
}

/// Megabytes, for Slurm.
fn mem(size: &str) -> Result<Vec<String>, Complaint> {
    if size == "0" {
        return Err(unsupported("--mem=0").hint(msg::say_how_much_mem_64g()));
    }
    let bytes = parse_bytes_in(size, 1 << 20).map_err(|complaint| {
        Complaint::usage(msg::mem_cannot_be_size_complaint(&size, &complaint))
    })?;
    Ok(vec![format!("--mem={bytes}")])
}

/// `ALL`, `ALL,A=1,B=2`.
fn export(list: &str) -> Result<Vec<String>, Complaint> {
    let mut out = Vec::new();
    for part in list.split(',') {
        match part {
            "ALL" => {}
            pair if pair.contains('=') => out.push(format!("--env={pair}")),
            _ => {
                return Err(unsupported(&format!("--export={list}"))
                    .hint(msg::the_whole_environment_is_taken_along_export()));
            }
        }
    }
    Ok(out)
}

fn file_name(option: &str, file: &str) -> Result<Vec<String>, Complaint> {
    let mut name = String::new();
    let mut rest = file.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        name += match rest.next() {
            Some('%') => "%",
            Some('j' | 'J') => "{task_id}",
            Some('A') => "{array_id}",
            Some('a') => "{array_index}",
            Some('N') => "{node}",
            _ => {
                return Err(unsupported(&format!("% in file names ({file})"))
                    .hint(msg::j_a_a_and_n_are_known()));
            }
        };
    }
    Ok(vec![format!("{option}={name}")])
}

/// What a script written for Slurm asks its environment for.
pub(super) fn variables(array: bool) -> BTreeMap<String, String> {
    let mut known = vec![("SLURM_JOB_ID", "{task_id}"), ("SLURM_JOBID", "{task_id}")];
    if array {
        known.push(("SLURM_ARRAY_JOB_ID", "{array_id}"));
        known.push(("SLURM_ARRAY_TASK_ID", "{array_index}"));
    }
    known.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn unsupported(what: &str) -> Complaint {
    Complaint::refused(msg::what_is_not_supported(&what))
}

fn needs_value(flag: &str) -> Complaint {
    Complaint::usage(msg::flag_needs_a_value(&flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complaint::ComplaintKind;

    fn translated(line: &str) -> Result<Vec<String>, Complaint> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        translate(&words)
    }

    #[test]
    fn the_common_options_have_their_equals() {
        for (slurm, danlu) in [
            ("--job-name=a", "--name=a"),
            ("-J a", "--name=a"),
            ("--output=a.out", "--output=a.out"),
            ("-o 100%%.out", "--output=100%.out"),
            ("-o out/%A_%a-%j.txt", "--output=out/{array_id}_{array_index}-{task_id}.txt"),
            ("-e a.err", "--stderr=a.err"),
            ("--time=1-00:00:00", "--time=1-00:00:00"),
            ("-t 30", "--time=30"),
            ("-t30", "--time=30"),
            ("--gres=gpu:2", "--gpus=2"),
            ("--gres=gpu:a100:2", "--gpus=a100:2"),
            ("--gres gpu:a100", "--gpus=a100:1"),
            ("--gres=gpu:2(S:0)", "--gpus=2"),
            ("--gpus=v100:1", "--gpus=v100:1"),
            ("--gpus-per-node=4", "--gpus=4"),
            ("-c 8", "--cpus=8"),
            ("--mem=16G", "--mem=17179869184"),
            ("--mem=1024", "--mem=1073741824"),
            ("-a 0-9%2", "--array=0-9%2"),
            ("-d afterok:12:13", "--after=afterok:12:13"),
            ("-D /tmp", "--dir=/tmp"),
            ("--account=lab", "--project=lab"),
            ("--export=ALL,A=1", "--env=A=1"),
            ("--hold", "--hold"),
            ("--begin=now+1hour", "--begin=now+1hour"),
            ("-N 1 -n 1 --ntasks-per-node=1 --requeue", ""),
            ("--nodes=2 --ntasks-per-node=1", "--nodes=2"),
            ("-N 4-4", "--nodes=4"),
        ] {
            let expect: Vec<String> = danlu.split_whitespace().map(str::to_owned).collect();
            assert_eq!(translated(slurm).expect(slurm), expect, "{slurm}");
        }
    }

    #[test]
    fn what_has_no_equal_is_refused() {
        for slurm in [
            "--partition=gpu",
            "-p gpu",
            "--qos=high",
            "--nodes=2-4",
            "--nodes=0",
            "-n 4",
            "--mail-type=END",
            "--gres=shard:1",
            "--gres=gpu:1,nvme:1",
            "--mem=0",
            "--mem-per-cpu=4G",
            "--export=NONE",
            "--output=%x.out",
            "--constraint=a100",
            "--open-mode=truncate",
            "--exclusive",
            "job.sh",
            "-",
        ] {
            let failure = translated(slurm).expect_err(slurm);
            assert_eq!(failure.kind, ComplaintKind::Refused, "{slurm}");
        }
        assert_eq!(translated("--time").expect_err("no value").kind, ComplaintKind::Usage);
    }
}

//! Whatever people and programs write, the parsers answer: they neither panic nor make much of little.

use danlu_slurm::{
    Program,
    batch::{check_script, script_options},
    environment::Submitter,
    formats::Format,
    getopt, hostlist,
    job::JobOptions,
    job_id::JobId,
    pattern::{Named, StepNames, file_name},
    queries::JobFilter,
    scontrol,
    state::JobState,
};
use proptest::prelude::*;

/// Letters that mean something to one of the parsers, and others.
const TEXT: &str = "[-a-zA-Z0-9%.,:=_@?*+\\[\\]()/\\\\ \n#'\"é值]{0,40}";

fn words() -> impl Strategy<Value = Vec<String>> {
    let option = prop::sample::select(vec![
        "-n",
        "-a",
        "-d",
        "-t",
        "-o",
        "-w",
        "-N",
        "-G",
        "-c",
        "--mem",
        "--gres",
        "--export",
        "--gpus-per-task",
        "--begin",
        "--mail-type",
        "--format",
        "-O",
        "-j",
        "--states",
    ]);
    let word = prop_oneof![option.prop_map(str::to_owned), TEXT.prop_map(|it| it)];
    prop::collection::vec(word, 0..8)
}

proptest! {
    #[test]
    fn values_are_read_or_refused(text in TEXT) {
        let _ = (Format::of_letters(&text), Format::of_names(&text), Format::of_sacct(&text));
        let _ = (JobId::read(&text), JobId::read_list(&text), JobState::read(&text));
        let _ = (script_options("job.sh", &text), check_script(&text));
        let _ = script_options("job.sh", &format!("#!/bin/sh\n#SBATCH {text}\n"));
        let _ = scontrol::update(&[text.clone(), format!("JobId={text}"), format!("Gres={text}")]);
        let named = Named { user: "ann", job_name: "job", is_array: true };
        let _ = (file_name(&text, &named), StepNames::default().file_name(&text, 7));
        if let Ok(names) = hostlist::expand(&text) {
            let written = hostlist::compress(names.iter().map(String::as_str));
            prop_assert!(written.len() <= text.len() * 70_000);
        }
    }

    #[test]
    fn command_lines_are_read_or_refused(words in words()) {
        for program in Program::ALL {
            let Ok(line) = getopt::read(program, &words) else { continue };
            let _ = getopt::without_effect(&line.options, true);
            let _ = JobFilter::of(&line.options, &line.operands);
            let _ = JobOptions::of(line.options).request(&Submitter::default(), "job");
        }
    }

    #[test]
    fn lists_of_machines_are_the_same_read_back(numbers in prop::collection::btree_set(1_u32..300, 1..20)) {
        let names: Vec<String> = numbers.iter().map(|number| format!("gpu{number}")).collect();
        let written = hostlist::compress(names.iter().map(String::as_str));
        prop_assert_eq!(hostlist::expand(&written), Ok(names), "{}", written);
    }
}

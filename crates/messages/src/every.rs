//! What holds for all tables of messages, and for all Rust outside this crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

type Table = &'static [(&'static str, &'static str, &'static str)];

macro_rules! tables {
    ($($($part:ident)::+,)*) => {
        &[$((stringify!($($part)::+), crate::$($part)::+::ALL)),*]
    };
}

const TABLES: &[(&str, Table)] = tables![
    cli::acting,
    cli::agent,
    cli::announce,
    cli::archive,
    cli::audit,
    cli::backup,
    cli::cancel,
    cli::cascade,
    cli::client,
    cli::clone,
    cli::completions,
    cli::config,
    cli::db,
    cli::debug,
    cli::demo,
    cli::doctor,
    cli::down,
    cli::edit,
    cli::extend,
    cli::follow,
    cli::gpu,
    cli::gpus,
    cli::help,
    cli::hold,
    cli::keep,
    cli::logs,
    cli::ls,
    cli::man,
    cli::metrics,
    cli::move_task,
    cli::node,
    cli::node_import,
    cli::nodes,
    cli::notices,
    cli::notify,
    cli::pause,
    cli::pause_queue,
    cli::policy,
    cli::program,
    cli::release,
    cli::reload,
    cli::report,
    cli::reset,
    cli::restore,
    cli::resume,
    cli::resume_queue,
    cli::retry,
    cli::rm,
    cli::run,
    cli::screen,
    cli::service,
    cli::set,
    cli::show,
    cli::sim,
    cli::start,
    cli::status,
    cli::submit,
    cli::token,
    cli::top,
    cli::up,
    cli::user,
    cli::version,
    cli::wait,
    cli::why,
    ends,
    errors,
    idle,
    machines::words,
    notify::channels,
    notify::config,
    notify::letters,
    reasons::words,
    refusals::hints,
    refusals::words,
    reports,
    server::daemon,
    server::gpuman,
    server::metrics,
    sim,
    slurm,
    spec,
    web::acts,
    web::admin,
    web::charts,
    web::gpu_map,
    web::manual,
    web::me,
    web::new,
    web::nodes,
    web::page,
    web::pages,
    web::reasons,
    web::reports,
    web::rows,
    web::states,
    web::task,
    web::tasks,
    efficiency,
];

/// Names, units, commands and examples that are the same in both languages.
const SAME: &[&str] = &[
    "web::charts::cpu",
    "cli::demo::on_gpu_list",
    "cli::demo::on_gpus_list",
    "cli::ls::gpus",
    "cli::notify::usage_channels",
    "cli::program::nothing",
    "cli::resume_queue::danlu_resume_queue",
    "cli::top::sort_gpus",
    "cli::top::title_gpus",
    "cli::screen::question_y_n",
    "cli::user::usage",
    "cli::user::gpus",
    "notify::channels::cancel_some",
    "notify::channels::http_status",
    "notify::channels::see_the_log",
    "reasons::words::cpus",
    "reasons::words::model_gpus",
    "reports::class_and_count",
    "reports::kilowatt_hours",
    "server::gpuman::bad_field",
    "server::gpuman::users_changed",
    "spec::gpus",
    "web::pages::gpus",
    "web::pages::zh",
    "web::pages::mark",
    "web::pages::of",
];

/// The languages need different arguments: `table::name`.
const DIFFERENT_ARGUMENTS: &[&str] = &[
    "cli::service::could_not_action_path_cause",
    "errors::key_cannot_be_that_error",
    "errors::more_tasks_run_there",
    "reasons::words::place_in_line",
];

/// Chinese texts with four or more English words in a row that are no sentence: `table::name`.
const ENGLISH_WORDS: &[&str] = &[];

/// Rust files outside this crate that may have Chinese characters outside of tests, and why.
const CHINESE_ELSEWHERE: &[&str] = &[
    // The words of gpuman's interface are its protocol.
    "server/src/compat/gpuman/",
    // An answer that people may type.
    "cli/src/screen/confirm.rs",
    // Tests, which have names of tasks in Chinese.
    "cli/src/top/draw/screens.rs",
    "cli/src/top/model/sample.rs",
];

/// Files of the core with words for developers and logs, none of which a person sees in their language.
const WORDS_OF_CORE: &[&str] = &[
    // Which invariant does not hold: for asserts, the simulator and `danlu db check`.
    "/check.rs",
    "/invariants.rs",
    // Rows that cannot be a state: the database is damaged.
    "/state.rs",
    "/state/mod.rs",
    // What a policy has done wrong: an event for the simulator.
    "/plan.rs",
    // Deliberate faults, for the tests of the simulator.
    "/mutant.rs",
    "/fault_injection.rs",
    // What programs print.
    "/diagnosis/",
    // serde wants words for values that cannot be read.
    "/fraction.rs",
    "/thousandths.rs",
    "/number.rs",
];

fn entries() -> impl Iterator<Item = (String, &'static str, &'static str)> {
    let all = |(table, entries): &'static (&str, Table)| {
        let named = move |(name, english, chinese): &'static (&str, &str, &str)| {
            let table = table.replace(' ', "");
            (format!("{table}::{name}"), *english, *chinese)
        };
        entries.iter().map(named)
    };
    TABLES.iter().flat_map(all)
}

fn is_chinese(letter: char) -> bool {
    matches!(letter, '\u{3000}'..='\u{303f}' | '\u{4e00}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

#[test]
fn every_message_has_chinese() {
    let bad = |(name, _, chinese): &(String, &str, &str)| {
        !chinese.chars().any(is_chinese) && !SAME.contains(&name.as_str())
    };
    let bad: Vec<_> = entries().filter(bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn no_chinese_message_contains_an_english_sentence() {
    let bad = |(name, _, chinese): &(String, &str, &str)| {
        has_english_sentence(chinese) && !ENGLISH_WORDS.contains(&name.as_str())
    };
    let bad: Vec<_> = entries().filter(bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(has_english_sentence("请注意：this is one of them"));
    assert!(!has_english_sentence("用 `this is a quoted command` 或 danlu submit -g 2 train.sh"));
}

/// Four words in a row that are neither quoted nor a command line.
fn has_english_sentence(chinese: &str) -> bool {
    let unquoted = chinese.split('`').step_by(2);
    unquoted.flat_map(|part| part.split(|it| is_chinese(it) || it == '\n')).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let command = ["danlu", "ssh-keygen", "#", "-", "submit"];
        let is_command = words.iter().any(|word| command.iter().any(|it| word.starts_with(it)));
        let is_word = |word: &&str| {
            let word = word.trim_matches(|it: char| it.is_ascii_punctuation());
            word.len() > 1 && word.chars().all(|it| it.is_ascii_lowercase())
        };
        let in_a_row = words.chunk_by(|one, next| is_word(one) && is_word(next));
        !is_command && in_a_row.into_iter().any(|row| row.len() >= 4)
    })
}

#[test]
fn both_languages_have_the_same_arguments() {
    let bad = |(name, english, chinese): &(String, &str, &str)| {
        arguments(english) != arguments(chinese) && !DIFFERENT_ARGUMENTS.contains(&name.as_str())
    };
    let bad: Vec<_> = entries().filter(bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

fn arguments(text: &str) -> BTreeSet<&str> {
    let parts = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
    parts.map(|(name, _)| name.split(':').next().unwrap_or_default()).collect()
}

#[test]
fn every_table_is_looked_at() {
    let sources = rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let has_table = |path: &&PathBuf| {
        let text = fs::read_to_string(path).expect("it can be read");
        text.lines().any(|line| line == "messages! {")
    };
    assert_eq!(sources.iter().filter(has_table).count(), TABLES.len());
}

#[test]
fn chinese_is_written_in_this_crate_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut bad = Vec::new();
    for name in ["cli", "core", "engine", "node", "server", "sim", "spec", "wire"] {
        for path in rust_files(&crates.join(name).join("src")) {
            let place = path.strip_prefix(&crates).expect("it is there").display().to_string();
            if CHINESE_ELSEWHERE.iter().any(|known| place.starts_with(known)) {
                continue;
            }
            let text = fs::read_to_string(&path).expect("it can be read");
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let lines = code.lines().enumerate();
            bad.extend(
                lines
                    .filter(|(_, line)| line.chars().any(is_chinese))
                    .map(|(at, line)| format!("{place}:{}: {}", at + 1, line.trim())),
            );
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn core_holds_no_sentence() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
    let mut bad = Vec::new();
    for path in rust_files(&core) {
        let place = format!("/{}", path.strip_prefix(&core).expect("it is there").display());
        let text = fs::read_to_string(&path).expect("it can be read");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let worded = WORDS_OF_CORE.iter().any(|known| place.contains(known));
        for (at, line) in code.lines().enumerate() {
            if line.contains("#[error(") || !worded && has_sentence(line) {
                bad.push(format!("core/src{place}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(bad.is_empty(), "words for people belong into this crate: {bad:#?}");
    assert!(has_sentence(r#"return Err("there is no such task");"#));
    assert!(!has_sentence(r#"let task = task.expect("the caller has looked it up");"#));
}

/// A string of several words that is not for a panic.
fn has_sentence(line: &str) -> bool {
    let developers = ["expect(", "assert", "panic!", "unreachable!", "reason = ", "const LISTED"];
    if line.trim_start().starts_with("//") || developers.iter().any(|it| line.contains(it)) {
        return false;
    }
    let strings = line.split('"').skip(1).step_by(2);
    strings.into_iter().any(|text| {
        let words: Vec<&str> = text.split(' ').collect();
        let ends = |word: &str| word.ends_with(|it: char| it.is_ascii_lowercase() || it == '}');
        let begins = |word: &str| word.starts_with(|it: char| it.is_ascii_lowercase() || it == '{');
        words.windows(2).any(|pair| ends(pair[0]) && begins(pair[1]))
    })
}

#[test]
fn every_message_is_used() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut used: BTreeSet<String> = BTreeSet::new();
    for path in files(&crates, &["rs", "html"]) {
        let text = fs::read_to_string(&path).expect("it can be read");
        let code = text.split("\nmessages! {").next().unwrap_or_default();
        let words = code.split(|it: char| !it.is_alphanumeric() && it != '_');
        used.extend(words.map(str::to_owned));
    }
    let name = |entry: &str| entry.rsplit("::").next().unwrap_or_default().to_owned();
    let unused = entries().map(|(entry, ..)| entry).filter(|entry| !used.contains(&name(entry)));
    let unused: Vec<String> = unused.collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    files(directory, &["rs"])
}

fn files(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return found };
    for path in entries.map(|entry| entry.expect("it can be read").path()) {
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending)) {
            found.push(path);
        }
    }
    found
}

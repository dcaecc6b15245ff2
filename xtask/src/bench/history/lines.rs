//! Ended tasks as lines that `danlu archive --import` reads: users, projects, names, labels and commands of a lab over two years.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// What is searched for: a name for the figure, what it is, and the word of each question.
pub(super) const WORDS: [Word; 4] = [
    Word {
        name: "search_rare",
        what: "search: a word of few tasks",
        of: |asked| rare(asked % RARE),
    },
    Word {
        name: "search_common",
        what: "search: a word of most tasks",
        of: |_| String::from(COMMON),
    },
    Word {
        name: "search_chinese",
        what: "search: two Chinese characters",
        of: |_| String::from("蒸馏"),
    },
    Word {
        name: "search_nowhere",
        what: "search: a word of no task",
        of: |_| String::from(NOWHERE),
    },
];
pub(super) const NOWHERE: &str = "zzyzx";
const COMMON: &str = "train.py";

pub(super) struct Word {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// Of the question with this number.
    pub(super) of: fn(usize) -> String,
}

/// So many different rare words: each is in one task of 5,000, or in some of a million.
const RARE: usize = 5;
const USERS: usize = 20;
const PROJECTS: [&str; 6] = ["vision", "llm", "语音识别", "bio", "robots", "graphs"];
const MODELS: [&str; 5] = ["resnet50", "vit-large", "llama-7b", "whisper-medium", "unet"];
/// Between the ends of two tasks.
const SECONDS: u64 = 60;

fn rare(number: usize) -> String {
    format!("quasar{number}x")
}

pub(super) fn users() -> impl Iterator<Item = String> {
    (0..USERS).map(|number| format!("user{number:02}"))
}

/// Ids begin after `first`.
pub(super) fn write(path: &Path, count: usize, first: u64) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufWriter::new(File::create(path).map_err(problem)?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    for number in 0..count {
        let ended = now - (count - number) as u64 * SECONDS;
        write_line(&mut file, number, first + number as u64, ended).map_err(problem)?;
    }
    file.flush().map_err(problem)
}

fn write_line(
    file: &mut impl std::io::Write,
    number: usize,
    id: u64,
    ended: u64,
) -> std::io::Result<()> {
    let ran = 5 + (number as u64 * 7_919) % 40_000;
    let (submitted, started, ended) =
        (rfc3339(ended - ran - 30), rfc3339(ended - ran), rfc3339(ended));
    let user = number % USERS;
    let (project, model) = (PROJECTS[number % 6], MODELS[number % 5]);
    // Failures, and words that few have.
    let (state, code) = if number % 11 == 3 { ("failed", 1) } else { ("succeeded", 0) };
    let description = match number % 1_000 {
        17 => format!("蒸馏实验，第 {number} 次"),
        500 => rare(number / 1_000 % RARE),
        _ => String::new(),
    };
    let program = if number % 5 == 4 { "eval.py" } else { COMMON };
    writeln!(
        file,
        r#"{{"id":{id},"name":"{model}-{number}","user":"user{user:02}","state":"{state}","command":["python","{program}","--model","{model}","--seed","{number}"],"shell":false,"gpus":1,"node":null,"gpu_ids":[],"submitted_at":"{submitted}","started_at":"{started}","ended_at":"{ended}","exit_code":{code},"failure":null,"attempt":1,"array":null,"index":null,"priority":5,"urgent":false,"project":"{project}","labels":{{"sweep":"s{}","group":"g{}"}},"time_limit":null,"description":"{description}","directory":"/home/user{user:02}/experiments","request":{{"gpus":1,"cpus":0,"memory":0,"span_nodes":false,"gpu_memory":0,"sharing":"slot","gpu_model":null,"node":null,"gpu_ids":[],"resources":{{}}}},"after":[],"retries":0,"retry_on":[],"begin":null,"preemptible":false,"output":{{"both":null,"stdout":null,"stderr":null}},"gpu_argument":null,"gpus_by_uuid":false,"python":null,"variables":{{}},"runs":[{{"run":"1-{id}","attempt":1,"state":"ended","nodes":[],"gpu_ids":[],"started_at":"{started}","ended_at":"{ended}","exit_code":{code},"exit":"exit code {code}","failure":null}}]}}"#,
        number / 200,
        number % 7
    )
}

/// Of seconds since 1970, in UTC.
fn rfc3339(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}

/// Days since 1970 as a date: years begin in March, so that the day that some have more is their last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (era * 400 + year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_api_does() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_399), "2000-02-28T23:59:59.000Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_794_974_673), "2026-11-18T04:04:33.000Z");
    }

    #[test]
    fn every_line_is_json_and_every_word_occurs() {
        let mut lines = Vec::new();
        for number in 0..5_000 {
            write_line(&mut lines, number, number as u64 + 1, 1_794_974_673).expect("memory");
        }
        let text = String::from_utf8(lines).expect("text");
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert!(line["ended_at"].is_string());
        }
        for word in WORDS {
            assert_eq!(
                text.contains(&(word.of)(3)),
                word.name != "search_nowhere",
                "{}",
                word.name
            );
        }
    }
}

//! Formats of `squeue` and `sacct`: which columns, how wide, and how lines of them are written.

use std::collections::BTreeSet;

use danlu_messages::slurm as msg;
use danlu_wire::api::TaskView;

use crate::columns::{COLUMNS, Column, Line, NEVER_CUT};
use crate::reason::reason;
use crate::state::JobState;
use crate::times::Now;

/// One column of a chosen format.
#[derive(Debug)]
pub struct Chosen {
    pub column: &'static Column,
    /// 0: as wide as it is.
    pub width: usize,
    pub right: bool,
    /// The text before it.
    pub before: String,
    /// What the person called it, for the header of `sacct`.
    pub called: String,
}

#[derive(Debug)]
pub struct Format {
    pub columns: Vec<Chosen>,
    /// The text after the last one.
    pub after: String,
}

pub const SQUEUE: &str = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
pub const SQUEUE_LONG: &str = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
pub const SQUEUE_START: &str = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
pub const SACCT: &str = "jobid,jobname,partition,account,alloccpus,state,exitcode";
pub const SACCT_BRIEF: &str = "jobid,state,exitcode";

impl Format {
    /// `%.18i %.9P` of `squeue -o`: `%`, a point for right, a width, a letter.
    pub fn of_letters(text: &str) -> Result<Format, String> {
        let mut format = Format { columns: Vec::new(), after: String::new() };
        if text == "%all" {
            return Format::of_letters(ALL_LETTERS);
        }
        let mut rest = text.chars().peekable();
        let mut before = String::new();
        while let Some(letter) = rest.next() {
            if letter != '%' {
                before.push(letter);
                continue;
            }
            if rest.next_if_eq(&'%').is_some() {
                before.push('%');
                continue;
            }
            let right = rest.next_if_eq(&'.').is_some();
            let mut width = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                width.push(digit);
            }
            let width = width.parse().unwrap_or(0).min(WIDEST);
            let Some(letter) = rest.next() else { break };
            // What is expected of a start is not told here.
            let letter = if letter == 'Y' { 'f' } else { letter };
            let column = COLUMNS.iter().find(|column| column.letter == Some(letter));
            let column = column.ok_or_else(|| msg::unknown_format_letter(&letter))?;
            let called = column.header.to_owned();
            format.columns.push(Chosen {
                column,
                width,
                right,
                before: std::mem::take(&mut before),
                called,
            });
        }
        format.after = before;
        Ok(format)
    }

    /// `JobID:20,Name` of `squeue -O`; a point before the width is for right, a text after it follows the column.
    pub fn of_names(text: &str) -> Result<Format, String> {
        let mut format = Format { columns: Vec::new(), after: String::new() };
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, size) = part.split_once(':').unwrap_or((part, ""));
            let right = size.starts_with('.');
            let digits: String =
                size.trim_start_matches('.').chars().take_while(char::is_ascii_digit).collect();
            let width = digits.parse().unwrap_or(20).min(WIDEST);
            let column = named(name)?;
            let called = column.header.to_owned();
            let before = std::mem::take(&mut format.after);
            format.after = size.trim_start_matches('.')[digits.len()..].to_owned();
            format.columns.push(Chosen { column, width, right, before, called });
        }
        Ok(format)
    }

    /// `JobID,State%20,ExitCode%-10` of `sacct -o`: right unless the width is negative.
    pub fn of_sacct(text: &str) -> Result<Format, String> {
        let mut format = Format { columns: Vec::new(), after: String::new() };
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, width) = part.split_once('%').unwrap_or((part, ""));
            let column = named(name)?;
            let is_first_id = column.names[0] == "JobID" || column.names[0] == "JobIDRaw";
            let (right, width) = match width.parse::<i64>() {
                Ok(width) => (width > 0, usize::try_from(width.unsigned_abs()).unwrap_or(0)),
                Err(_) => (!is_first_id, column.width),
            };
            let known = column.names.iter().find(|known| known.eq_ignore_ascii_case(name.trim()));
            let called = known.copied().unwrap_or_default().to_owned();
            let width = width.min(WIDEST);
            format.columns.push(Chosen { column, width, right, before: String::new(), called });
        }
        Ok(format)
    }

    pub fn needs_details(&self) -> bool {
        self.columns.iter().any(|chosen| chosen.column.needs_details)
    }

    /// The names of the columns, cut as their cells are.
    pub fn header(&self) -> String {
        let mut out = String::new();
        for chosen in &self.columns {
            out += &chosen.before;
            out += &padded(&chosen.called, chosen.width, chosen.right);
        }
        out + &self.after
    }

    pub fn line(&self, line: &Line<'_>) -> String {
        let mut out = String::new();
        for chosen in &self.columns {
            out += &chosen.before;
            let cell = (chosen.column.value)(line);
            let is_whole = chosen.column.letter.is_some_and(|letter| NEVER_CUT.contains(letter));
            let width = if is_whole { chosen.width.max(cell.len()) } else { chosen.width };
            out += &padded(&cell, if chosen.width == 0 { 0 } else { width }, chosen.right);
        }
        out + &self.after
    }

    /// The cells alone, for `sacct`.
    pub fn cells(&self, line: &Line<'_>) -> Vec<String> {
        let cell = |chosen: &Chosen| {
            let text = (chosen.column.value)(line);
            // Where `squeue` writes a word for nothing, `sacct` has others.
            match (chosen.called.as_str(), text.as_str()) {
                ("Start" | "End", "N/A") => "Unknown".to_owned(),
                ("NodeList", "") => "None assigned".to_owned(),
                (_, "(null)") => String::new(),
                // Accounts know no more than that it has not ended.
                ("State", "COMPLETING") => "RUNNING".to_owned(),
                _ => text,
            }
        };
        self.columns.iter().map(cell).collect()
    }
}

const WIDEST: usize = 1_000;
const ALL_LETTERS: &str =
    "%a|%A|%i|%j|%u|%P|%t|%T|%M|%l|%L|%D|%R|%N|%r|%S|%e|%V|%F|%K|%p|%b|%C|%m|%Z|%k";

pub(crate) fn padded(text: &str, width: usize, right: bool) -> String {
    if width == 0 {
        return text.to_owned();
    }
    let cut: String = text.chars().take(width).collect();
    if right { format!("{cut:>width$}") } else { format!("{cut:<width$}") }
}

fn named(name: &str) -> Result<&'static Column, String> {
    let name = name.trim();
    let is_it = |known: &str| known.eq_ignore_ascii_case(name);
    let column = COLUMNS.iter().find(|column| column.names.iter().any(|known| is_it(known)));
    column.ok_or_else(|| msg::unknown_format_name(&name))
}

/// All names that `sacct --helpformat` lists.
pub fn names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().flat_map(|column| column.names.iter().copied())
}

/// What `sacct` puts between columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    Aligned,
    /// After each column, or only between them.
    Separated {
        by: String,
        at_the_end: bool,
    },
}

impl Table {
    pub fn header(&self, format: &Format) -> String {
        let cells: Vec<String> =
            format.columns.iter().map(|chosen| chosen.called.clone()).collect();
        match self {
            Table::Separated { .. } => self.row(format, &cells),
            Table::Aligned => {
                let rule: Vec<String> =
                    format.columns.iter().map(|chosen| "-".repeat(chosen.width)).collect();
                format!("{}{}", self.row(format, &cells), self.row(format, &rule))
            }
        }
    }

    pub fn row(&self, format: &Format, cells: &[String]) -> String {
        match self {
            Table::Separated { by, at_the_end } => {
                let end = if *at_the_end { by.as_str() } else { "" };
                cells.join(by) + end + "\n"
            }
            Table::Aligned => {
                let cell = |(chosen, cell): (&Chosen, &String)| {
                    let width = chosen.width;
                    let cell = match cell.chars().count() > width {
                        // A plus sign shows that it was cut.
                        true => cell.chars().take(width.saturating_sub(1)).chain(['+']).collect(),
                        false => cell.clone(),
                    };
                    padded(&cell, width, chosen.right) + " "
                };
                format.columns.iter().zip(cells).map(cell).collect::<String>() + "\n"
            }
        }
    }
}

/// Waiting elements of an array with the same reason are one line, unless each is asked for.
pub fn folded<'a>(tasks: &'a [TaskView], unfold: bool, now: &'a Now) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for task in tasks {
        let line = Line::of(task, now);
        let foldable = !unfold && line.state() == Some(JobState::Pending) && task.array.is_some();
        let same = |other: &&mut Line<'_>| {
            !other.folded.is_empty()
                && other.task.array == task.array
                && reason(other.task) == reason(task)
        };
        match lines.iter_mut().find(same).filter(|_| foldable) {
            Some(other) => {
                other.folded.extend(task.index);
            }
            None => {
                let folded =
                    if foldable { task.index.into_iter().collect() } else { BTreeSet::new() };
                lines.push(Line { folded, ..line });
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::exit_code;
    use danlu_wire::api::TaskStateName;
    use serde_json::json;

    fn now() -> Now {
        Now { at: "2026-11-18T10:51:17Z".parse().expect("a time"), zone: jiff::tz::TimeZone::UTC }
    }

    #[allow(clippy::needless_pass_by_value, reason = "`json!` makes values")]
    fn task(id: u64, name: &str, change: serde_json::Value) -> TaskView {
        let mut value = json!({
            "id": id, "name": name, "user": "root", "state": "queued", "why": null, "wait": null,
            "command": ["true"], "shell": false, "gpus": 1, "node": null, "gpu_ids": [],
            "submitted_at": "2026-11-18T10:50:35Z", "started_at": null, "ended_at": null,
            "exit_code": null, "failure": null, "attempt": 1, "array": null, "index": null,
            "priority": 0, "urgent": false, "project": null, "labels": {}, "time_limit": null,
        });
        let change = change.as_object().expect("an object").clone();
        value.as_object_mut().expect("an object").extend(change);
        serde_json::from_value(value).expect("a task")
    }

    fn element(id: u64, index: u32) -> TaskView {
        task(
            id,
            "wrap",
            json!({"array": 2, "index": index, "wait": danlu_core::WaitReason::Resources { held_by: vec![] }}),
        )
    }

    fn printed(tasks: &[TaskView], format: &str, unfold: bool) -> String {
        let (format, now) = (Format::of_letters(format).expect(format), now());
        let lines = folded(tasks, unfold, &now);
        let lines = lines.iter().map(|line| format.line(line));
        std::iter::once(format.header()).chain(lines).map(|line| line + "\n").collect()
    }

    fn queue() -> Vec<TaskView> {
        let mut tasks: Vec<TaskView> =
            (2..=5).map(|index| element(u64::from(index) + 1, index)).collect();
        tasks.push(task(7, "dep", json!({"state": "blocked"})));
        tasks.push(task(8, "heldheldheldheld", json!({"state": "held", "time_limit": 86_400})));
        let running =
            json!({"state": "running", "node": "n1", "started_at": "2026-11-18T10:50:37Z"});
        tasks.push(task(1, "hello", running));
        tasks
    }

    #[test]
    fn squeue_prints_what_slurm_prints() {
        // Lines of Slurm 22.05, but for the name of the partition.
        let expect =
            "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
           2_[2-5]     danlu     wrap     root PD       0:00      1 (Resources)
                 7     danlu      dep     root PD       0:00      1 (Dependency)
                 8     danlu heldheld     root PD       0:00      1 (JobHeldUser)
                 1     danlu    hello     root  R       0:40      1 n1
";
        assert_eq!(printed(&queue(), SQUEUE, false), expect);
        let long = printed(&queue(), SQUEUE_LONG, false);
        let expect = "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)";
        assert_eq!(long.lines().next(), Some(expect));
        let expect = "                 8     danlu heldheld     root  PENDING       0:00 1-00:00:00      1 (JobHeldUser)";
        assert_eq!(long.lines().nth(3), Some(expect));
        let each = printed(&queue(), "%i|%t|%r|%N|%K|%F", true);
        assert_eq!(each.lines().nth(1), Some("2_2|PD|Resources||2|2"));
        assert_eq!(each.lines().last(), Some("1|R|None|n1|N/A|1"));
        assert!(Format::of_letters("%;").is_err());
    }

    #[test]
    fn names_have_widths_too() {
        let format =
            Format::of_names("JobID,Name,State,TimeUsed,NumNodes:5,ReasonList").expect("known");
        let expect = "JOBID               NAME                STATE               TIME                NODESNODELIST(REASON)    ";
        assert_eq!(format.header(), expect);
        assert!(Format::of_names("Nonsense").is_err());
    }

    #[test]
    fn sacct_prints_what_slurm_prints() {
        let ended = json!({
            "state": "failed", "exit_code": 3, "node": "n1", "failure": {"class": "other", "evidence": null},
            "started_at": "2026-11-18T10:50:37Z", "ended_at": "2026-11-18T11:50:40Z",
        });
        let (task, now) = (task(12, "a long name of a job", ended), now());
        let line = Line::of(&task, &now);
        let table = |table: &Table, format: &str| {
            let format = Format::of_sacct(format).expect(format);
            table.header(&format) + &table.row(&format, &format.cells(&line))
        };
        let expect = "JobID           JobName  Partition    Account      State ExitCode \n\
                      ------------ ---------- ---------- ---------- ---------- -------- \n\
                      12           a long na+      danlu                FAILED      3:0 \n";
        assert_eq!(
            table(&Table::Aligned, "jobid,jobname,partition,account,state,exitcode"),
            expect
        );
        let separated = Table::Separated { by: "|".into(), at_the_end: false };
        let expect =
            "JobID|State|NodeList|Elapsed|Start\n12|FAILED|n1|01:00:03|2026-11-18T10:50:37\n";
        assert_eq!(table(&separated, "JobID,State,NodeList,Elapsed,start"), expect);
        let separated = Table::Separated { by: "^".into(), at_the_end: true };
        assert_eq!(table(&separated, "JobID,ExitCode%20"), "JobID^ExitCode^\n12^3:0^\n");
        assert!(Format::of_sacct("Nonsense").is_err());
    }

    #[test]
    fn ends_by_signals_are_told_apart() {
        let of = |state: TaskStateName, code: i32, class: &str| {
            let change = json!({"exit_code": code, "failure": {"class": class, "evidence": null}});
            exit_code(&TaskView { state, ..task(1, "a", change) })
        };
        assert_eq!(of(TaskStateName::Failed, 137, "killed"), (0, 9));
        assert_eq!(of(TaskStateName::Failed, 137, "other"), (137, 0));
        assert_eq!(of(TaskStateName::Cancelled, 143, "other"), (0, 15));
        assert_eq!(of(TaskStateName::Succeeded, 0, "other"), (0, 0));
    }
}

//! Which files are traces, and what is said about those that are not.

use danlu_sim::trace::read::{Trace, read_from};
use danlu_sim::trace::{TraceError, read_trace};
use std::path::Path;

fn read(text: &str) -> Result<Trace, TraceError> {
    read_from(text.as_bytes(), Path::new("jobs.csv"))
}

fn refused(text: &str, expect: &str) {
    let error = read(text).expect_err(expect);
    assert_eq!(error.to_string(), format!("`jobs.csv`{expect}"));
    assert_ne!(error.hint(), "");
}

/// A row below two good ones, and what is wrong with it.
fn refused_row(row: &str, expect: &str) {
    let header = "submit_time,num_gpus,duration,vc,user,est_duration,job_id";
    let text = format!("{header}\n0,1,10,a,u,10,j1\n0,1,10,a,u,10,j2\n{row}\n");
    refused(&text, &format!(" line 4: {expect}"));
}

#[test]
fn columns_are_found_by_name_in_any_order_and_others_ignored() {
    let rows = "colour,duration, vc ,num_gpus,submit_time\nred,10,a,2,5\nblue,7.0,b,1,5.00\n";
    let trace = read(rows).unwrap();
    assert_eq!(trace.vcs, ["a", "b"]);
    assert_eq!(trace.users, ["a", "b"]);
    let job = &trace.jobs[1];
    assert_eq!((job.id.as_str(), job.line, job.gpus), ("1", 3, 1));
    assert_eq!((job.submit_at.0, job.duration.0, job.estimate), (5_000, 7_000, None));
}

#[test]
fn only_three_columns_are_needed() {
    let trace = read("submit_time,num_gpus,duration\n0,1,0\n").unwrap();
    assert_eq!((trace.vcs, trace.users), (vec![String::new()], vec![String::new()]));
}

#[test]
fn rows_are_sorted_by_submission_and_keep_the_order_of_the_file_otherwise() {
    let trace = read("job_id,submit_time,num_gpus,duration\nc,9,1,1\na,5,1,1\nb,5,1,1\n").unwrap();
    let order: Vec<_> = trace.jobs.iter().map(|job| (job.id.as_str(), job.line)).collect();
    assert_eq!(order, [("a", 3), ("b", 4), ("c", 2)]);
}

#[test]
fn an_estimate_may_be_left_empty() {
    let trace = read("submit_time,num_gpus,duration,est_duration\n0,1,5,\n0,1,5,9\n").unwrap();
    let estimates: Vec<_> = trace.jobs.iter().map(|job| job.estimate.map(|span| span.0)).collect();
    assert_eq!(estimates, [None, Some(9_000)]);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read_over() {
    let trace = read("\u{feff}submit_time,num_gpus,duration\r\n0,1,5\r\n\r\n0,1,5\r\n").unwrap();
    assert_eq!(trace.jobs.len(), 2);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let check = |text: &str| {
        let trace = read(text).unwrap();
        let lines: Vec<_> = trace.jobs.iter().map(|job| job.line).collect();
        assert_eq!(lines, [2, 4, 5], "{text:?}");
    };
    check("submit_time,num_gpus,duration\n0,1,5\n\n0,1,5\n0,1,5\n");
    check("submit_time,num_gpus,duration\n0,1,5\n\n0,1,5\n0,1,5");
    check("submit_time,num_gpus,duration\r\n0,1,5\r\n\r\n0,1,5\r\n0,1,\"5\"\r\n\r\n");
}

#[test]
fn files_without_jobs_or_columns_are_refused() {
    refused("", " has no column `submit_time`; its columns are: ");
    let found = "submit_time, num_gpus";
    refused(
        "submit_time,num_gpus\n",
        &format!(" has no column `duration`; its columns are: {found}"),
    );
    refused("submit_time,num_gpus,duration\n", " has no jobs");
    refused("submit_time,num_gpus,duration,num_gpus\n1,1,1,1\n", " has two columns `num_gpus`");
}

#[test]
fn bad_values_are_named_with_line_and_column() {
    refused_row("-1,1,10,a,u,10,j", "column `submit_time`: `-1` is negative");
    refused_row("x,1,10,a,u,10,j", "column `submit_time`: `x` is not a number");
    refused_row("NaN,1,10,a,u,10,j", "column `submit_time`: `NaN` is not a number");
    refused_row("1e5,1,10,a,u,10,j", "column `submit_time`: `1e5` is not a number");
    refused_row(".5,1,10,a,u,10,j", "column `submit_time`: `.5` is not a number");
    refused_row("0.5,1,10,a,u,10,j", "column `submit_time`: `0.5` is not a whole number");
    refused_row(",1,10,a,u,10,j", "column `submit_time`: `` is empty");
    refused_row("0,0,10,a,u,10,j", "column `num_gpus`: `0` is less than 1");
    refused_row("0,4097,10,a,u,10,j", "column `num_gpus`: `4097` is more than 4096");
    refused_row("0,1.5,10,a,u,10,j", "column `num_gpus`: `1.5` is not a whole number");
    refused_row("0,1,-10,a,u,10,j", "column `duration`: `-10` is negative");
    refused_row(
        "0,1,9999999999,a,u,1,j",
        "column `duration`: `9999999999` is more than 3162240000",
    );
    refused_row("0,1,10,a,u,ten,j", "column `est_duration`: `ten` is not a number");
    refused_row("0,1,10,,u,10,j", "column `vc`: `` is empty");
    refused_row("0,1,10,a,,10,j", "column `user`: `` is empty");
    refused_row("0,1,10,a,u,10,", "column `job_id`: `` is empty");
}

#[test]
fn endless_values_are_quoted_only_in_part() {
    let (digits, name) = ("9".repeat(60), "v".repeat(257));
    refused_row(
        &format!("{digits},1,10,a,u,10,j"),
        &format!("column `submit_time`: `{}…` is more than 3162240000", "9".repeat(40)),
    );
    refused_row(
        &format!("0,1,10,{name},u,10,j"),
        &format!("column `vc`: `{}…` is longer than 256 bytes", "v".repeat(40)),
    );
}

#[test]
fn broken_rows_are_named_with_their_line() {
    refused_row("0,1,10", "3 values, but the header has 7 columns");
    refused_row("0,1,10,a,u,10,j,more", "8 values, but the header has 7 columns");
    let bytes = b"submit_time,num_gpus,duration\n0,1,1\n0,\xff,1\n";
    let error = read_from(bytes.as_slice(), Path::new("jobs.csv")).unwrap_err();
    assert_eq!(error.to_string(), "`jobs.csv` line 3: is not UTF-8 text");
    assert_eq!(error.hint(), "sed -n 3p jobs.csv");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read_trace(Path::new("/nowhere/jobs.csv")).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("could not read `/nowhere/jobs.csv`: "), "{said}");
}

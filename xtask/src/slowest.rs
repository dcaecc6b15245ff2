//! Which tests took longest, from the report that cargo-nextest writes.

/// The slowest, with their seconds.
pub(crate) fn of(report: &str, count: usize) -> Vec<(f64, String)> {
    let mut tests: Vec<(f64, String)> = report.lines().filter_map(test).collect();
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    tests.truncate(count);
    tests
}

/// `<testcase name="NAME" classname="PROGRAM" timestamp="…" time="1.013">`.
fn test(line: &str) -> Option<(f64, String)> {
    let line = line.trim_start().strip_prefix("<testcase ")?;
    let attribute = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    // `classname` ends in `name`.
    let name = line.strip_prefix("name=\"")?.split_once('"')?.0;
    Some((attribute(" time")?.parse().ok()?, format!("{} {name}", attribute("classname")?)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_slowest_come_first_and_no_more_than_asked_for() {
        let report = r#"
    <testsuite name="danlu::e2e" tests="3" time="9.9">
        <testcase name="a::b" classname="danlu::e2e" timestamp="2026" time="0.5">
        <testcase name="c" classname="danlu-core" timestamp="2026" time="12.25">
            <system-out>time="99"</system-out>
        <testcase name="d" classname="danlu-core" timestamp="2026" time="2.0"/>"#;
        let expect = [(12.25, "danlu-core c".to_owned()), (2.0, "danlu-core d".to_owned())];
        assert_eq!(super::of(report, 2), expect);
        assert_eq!(super::of(report, 20).len(), 3);
        assert_eq!(super::of("", 20), []);
    }
}

//! `danlu demo`.

mod danlu;

use danlu::danlu;

#[test]
fn needs_nothing_and_compares_six_policies() {
    for (language, sentence) in [("en", "A made-up week of a lab"), ("zh", "虚构的实验室一周")]
    {
        let answer = danlu(language, "demo");
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{answer:?}");
        assert!(answer.stdout.starts_with(sentence), "{}", answer.stdout);
        for policy in ["fifo", "fifo+skip", "fifo+easy", "sjf+skip", "srtf", "las"] {
            assert!(answer.stdout.matches(policy).count() >= 2, "{policy}:\n{}", answer.stdout);
        }
        assert!(answer.stdout.contains("danlu sim --trace jobs.csv"), "{}", answer.stdout);
    }
}

//! `danlu report --predictions`, with a real server.

use crate::support::daemon::Daemon;
use crate::support::danlu::answer;

#[test]
fn predictions_are_compared_with_what_came() {
    let daemon = Daemon::start();
    let none = daemon.json(&["report", "--predictions", "--json"]);
    assert_eq!(none["predictions"]["durations"]["compared"], 0);
    assert!(none["predictions"]["durations"]["bias"].is_null());
    for _ in 0..2 {
        let task = daemon.submit("-g 1", "true");
        daemon.say(&["wait", &task]);
    }
    let told = daemon.json(&["report", "--predictions", "--json"]);
    assert_eq!(told["v"], 1);
    assert_eq!(told["predictions"]["durations"]["compared"], 1, "{told}");
    assert_eq!(told["predictions"]["starts"]["compared"], 2, "{told}");
    assert_eq!(told["predictions"]["starts"]["within_25_percent"], 1.0, "they start at once");
    let mut command = daemon.command(&["report", "--predictions"]);
    let words = answer(command.env("DANLU_LANG", "zh").output().expect("it starts")).stdout;
    assert!(words.contains("运行时长：1 次预测"), "{words}");
    let mut command = daemon.command(&["report"]);
    assert_eq!(
        answer(command.output().expect("it starts")).status,
        2,
        "there is no other report yet"
    );
}

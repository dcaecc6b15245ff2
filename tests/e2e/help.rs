//! `danlu --help` and what a wrong command line is answered.

use crate::support::danlu::danlu;

#[test]
fn help_is_in_the_language_of_the_person() {
    let check = |language, arguments, heading: &str, sentence: &str| {
        let answer = danlu(language, arguments);
        assert_eq!(answer.status, 0, "{answer:?}");
        assert!(answer.stdout.contains(heading), "{}", answer.stdout);
        assert!(answer.stdout.contains(sentence), "{}", answer.stdout);
    };
    check("en", "--help", "Usage: danlu VERB", "Danlu shares GPU servers");
    check("zh_CN.UTF-8", "--help", "用法：danlu 动词", "共享 GPU 服务器");
    check("en", "sim --help", "Usage: danlu sim", "Replay a trace");
    check("zh", "help sim", "用法：danlu sim", "回放任务记录");
    check("zh", "--help", "选项：", "显示本帮助");
}

const VERBS: [&str; 48] = [
    "submit",
    "run",
    "ls",
    "show",
    "why",
    "logs",
    "follow",
    "wait",
    "cancel",
    "hold",
    "release",
    "pause",
    "resume",
    "retry",
    "clone",
    "edit",
    "start",
    "move",
    "rm",
    "gpus",
    "gpu",
    "nodes",
    "report",
    "doctor",
    "up",
    "down",
    "reload",
    "policy",
    "policy show",
    "policy set",
    "set",
    "config",
    "config show",
    "notices",
    "service",
    "service install",
    "service uninstall",
    "backup",
    "restore",
    "db",
    "db check",
    "reset",
    "demo",
    "sim",
    "completions",
    "man",
    "version",
    "help",
];

#[test]
fn every_verb_has_help_in_both_languages() {
    for verb in VERBS {
        let english = danlu("en", &format!("{verb} --help"));
        assert_eq!((english.status, english.stderr.as_str()), (0, ""), "{english:?}");
        assert!(english.stdout.contains(&format!("Usage: danlu {verb}")), "{}", english.stdout);
        let foreign = english.stdout.chars().find(|character| ('一'..='龥').contains(character));
        assert_eq!(foreign, None, "Chinese in the English help of {verb}");
        let chinese = danlu("zh", &format!("help {verb}"));
        assert_eq!(chinese.status, 0, "{chinese:?}");
        assert!(chinese.stdout.contains(&format!("用法：danlu {verb}")), "{}", chinese.stdout);
        for words in [
            "Usage",
            "Options",
            "Verbs",
            "Arguments",
            "Examples",
            "default:",
            "possible values",
            "aliases:",
            "Commands",
        ] {
            assert!(!chinese.stdout.contains(words), "`{words}` in:\n{}", chinese.stdout);
        }
    }
}

#[test]
fn the_list_of_verbs_has_their_other_names() {
    let help = danlu("en", "--help").stdout;
    for words in ["(add)", "(ps, queue)", "(log)", "(kill)", "(mv)", "(sinfo)"] {
        assert!(help.contains(words), "`{words}` is missing:\n{help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 90), "{help}");
    let help = danlu("zh", "--help").stdout;
    assert!(!help.contains("Options") && !help.contains("Commands"), "{help}");
}

#[test]
fn no_verb_shows_the_help_as_an_error() {
    let answer = danlu("en", "");
    assert_eq!(answer.status, 2);
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.contains("Change tasks:"), "{answer:?}");
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let check = |language, arguments, stderr: &str| {
        let answer = danlu(language, arguments);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert_eq!(answer.stdout, "");
        assert_eq!(answer.stderr, stderr);
    };
    check("en", "--frobnicate", "error: unknown argument `--frobnicate`\nhint: danlu --help\n");
    check("en", "frobnicate", "error: unknown verb `frobnicate`\nhint: danlu --help\n");
    check("zh", "frobnicate", "错误：未知的动词 `frobnicate`\n提示：danlu --help\n");
    check("en", "versoin", "error: unknown verb `versoin`\nhint: did you mean `version`?\n");
    check("en", "version -x", "error: unknown argument `-x`\nhint: danlu version --help\n");
}

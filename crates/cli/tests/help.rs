//! `danlu --help` and what a wrong command line is answered.

mod danlu;

use danlu::danlu;

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

#[test]
fn chinese_help_has_no_english_headings() {
    for arguments in ["--help", "demo --help", "sim --help", "version --help"] {
        let help = danlu("zh", arguments).stdout;
        for english in ["Usage", "Options", "Verbs", "Examples", "default:", "possible values"] {
            assert!(!help.contains(english), "`{english}` in:\n{help}");
        }
    }
}

#[test]
fn no_verb_shows_the_help_as_an_error() {
    let answer = danlu("en", "");
    assert_eq!(answer.status, 2);
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.contains("Verbs:"), "{answer:?}");
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let check = |language, arguments, stderr: &str| {
        let answer = danlu(language, arguments);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert_eq!(answer.stdout, "");
        assert_eq!(answer.stderr, stderr);
    };
    check("en", "--nonsense", "error: unknown argument `--nonsense`\nhint: danlu --help\n");
    check("en", "nonsense", "error: unknown verb `nonsense`\nhint: danlu --help\n");
    check("zh", "nonsense", "error: 未知的动词 `nonsense`\nhint: danlu --help\n");
    check("en", "versoin", "error: unknown verb `versoin`\nhint: did you mean `version`?\n");
    check("en", "version -x", "error: unknown argument `-x`\nhint: danlu version --help\n");
}

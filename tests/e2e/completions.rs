//! `danlu completions`.

use crate::support::danlu::danlu;

#[test]
fn every_shell_gets_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = danlu("en", &format!("completions {shell}"));
        assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{said:?}");
        for verb in ["submit", "logs", "gpus"] {
            assert!(said.stdout.contains(verb), "{shell} does not know {verb}");
        }
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert!(said.stdout.contains("timed_out"), "{shell} does not complete wait --until");
        }
    }
    assert_eq!(danlu("en", "completions dosbox").status, 2);
}

//! `danlu version`.

use crate::support::danlu::danlu;

#[test]
fn version_verb_and_flags_print_the_same() {
    for arguments in ["version", "--version", "-V"] {
        let answer = danlu("en", arguments);
        assert_eq!(answer.status, 0, "{answer:?}");
        assert_eq!(answer.stdout, concat!("danlu ", env!("CARGO_PKG_VERSION"), "\n"));
        assert_eq!(answer.stderr, "");
    }
}

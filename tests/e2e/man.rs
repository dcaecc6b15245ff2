//! `danlu man`.

use crate::support::danlu::danlu;

#[test]
fn man_prints_one_page_or_writes_all() {
    let said = danlu("en", "man");
    assert!(said.stdout.contains(".TH DANLU 1"), "{}", said.stdout);
    let said = danlu("en", "man submit");
    assert!(said.stdout.contains(".TH DANLU-SUBMIT 1"), "{}", said.stdout);
    assert!(said.stdout.contains("\\-\\-gpus"), "{}", said.stdout);
    assert_eq!(danlu("en", "man nonsense").status, 2);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let said = danlu("en", &format!("man --dir {}", directory.path().display()));
    assert_eq!((said.status, said.stdout.as_str()), (0, ""), "{said:?}");
    for page in ["danlu.1", "danlu-submit.1", "danlu-logs.1"] {
        assert!(directory.path().join(page).is_file(), "{page} is missing");
    }
}

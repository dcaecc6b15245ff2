//! Documents name files that exist.

use std::{
    fs,
    path::{Path, PathBuf},
};

const DOCUMENTS: [&str; 4] = [
    "CONTRIBUTING.md",
    "docs/ARCHITECTURE.md",
    "docs/threat-model.md",
    "docs/threat-model.zh-CN.md",
];

#[test]
fn every_source_file_that_a_document_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository");
    let mut files = Vec::new();
    for folder in ["crates", "tests", "xtask"] {
        collect(&root.join(folder), &mut files);
    }
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).expect("the document can be read");
        for name in quoted(&text).filter(|name| name.ends_with(".rs")) {
            if !files.iter().any(|file| file.ends_with(name)) {
                missing.push(format!("{document}: {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such files: {missing:#?}");
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

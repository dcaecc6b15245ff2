//! The table of options in `docs/slurm.md`, made of the tables that the commands read.

use crate::options::{Program, Support};

/// In Markdown; the words for the four kinds come from who writes the page.
pub fn markdown(words: impl Fn(Support) -> &'static str) -> String {
    let mut out = String::new();
    for program in Program::ALL {
        out += &format!("\n### `{}`\n\n| | |\n|---|---|\n", program.name());
        let mut rows: Vec<_> = program.options().filter(|row| !row.long.is_empty()).collect();
        rows.sort_by_key(|row| row.long.to_ascii_lowercase());
        for row in rows {
            let short = row.short.map(|letter| format!("`-{letter}`, ")).unwrap_or_default();
            out += &format!("| {short}`--{}` | {} |\n", row.long, words(row.support));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    fn english(support: Support) -> &'static str {
        match support {
            Support::Does(_) | Support::Silent => "supported",
            Support::Ignored => "accepted with a warning",
            Support::Refused => "**refused**",
        }
    }

    #[test]
    fn the_document_has_this_table() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/slurm.md");
        let page = fs::read_to_string(&file).expect("the page is there");
        let mark = "<!-- made by the tests of danlu-slurm: DANLU_UPDATE=1 -->\n";
        let (before, table) = page.split_once(mark).expect("the page has the mark");
        let expect = markdown(english);
        if std::env::var_os("DANLU_UPDATE").is_some() {
            fs::write(&file, format!("{before}{mark}{expect}")).expect("it can be written");
            return;
        }
        assert_eq!(table, expect, "DANLU_UPDATE=1 cargo nextest run -p danlu-slurm");
    }
}

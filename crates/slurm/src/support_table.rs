//! The table of options in `docs/slurm.md` and its translation, made of the tables that the commands read.

use danlu_messages::slurm as msg;

use crate::options::{Program, Support};

/// In Markdown, in the language of the reader.
pub fn markdown() -> String {
    let mut out = String::new();
    for program in Program::ALL {
        out += &format!("\n### `{}`\n\n| | |\n|---|---|\n", program.name());
        let mut rows: Vec<_> = program.options().filter(|row| !row.long.is_empty()).collect();
        rows.sort_by_key(|row| (row.long.to_ascii_lowercase(), row.long));
        for row in rows {
            let short = row.short.map(|letter| format!("`-{letter}`, ")).unwrap_or_default();
            out += &format!("| {short}`--{}` | {} |\n", row.long, word(row.support));
        }
    }
    out
}

fn word(support: Support) -> &'static str {
    match support {
        Support::Does(_) | Support::Silent => msg::supported(),
        Support::Ignored => msg::accepted_with_a_warning(),
        Support::Refused => msg::refused(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::Language;
    use std::{fs, path::Path};

    #[test]
    fn the_documents_have_this_table() {
        for (name, language) in
            [("slurm.md", Language::English), ("slurm.zh-CN.md", Language::Chinese)]
        {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
            let page = fs::read_to_string(&file).expect("the page is there");
            let mark = "<!-- made by the tests of danlu-slurm: DANLU_UPDATE=1 -->\n";
            let (before, table) = page.split_once(mark).expect("the page has the mark");
            let expect = language.within(markdown);
            if std::env::var_os("DANLU_UPDATE").is_some() {
                fs::write(&file, format!("{before}{mark}{expect}")).expect("it can be written");
            } else {
                assert!(table == expect, "DANLU_UPDATE=1 cargo nextest run -p danlu-slurm");
            }
        }
    }
}

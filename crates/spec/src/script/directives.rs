//! Finds the `#DANLU` and `#SBATCH` lines of a script.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Danlu,
    Slurm,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Directive<'a> {
    /// From 1.
    pub(super) line: usize,
    pub(super) dialect: Dialect,
    pub(super) words: &'a str,
}

/// Up to the first line that is neither empty nor a comment, as Slurm reads them.
pub(super) fn directives(source: &str) -> Vec<Directive<'_>> {
    let head = source.lines().enumerate().take_while(|(_, line)| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    });
    head.filter_map(|(place, line)| {
        let (dialect, words) = marked(line)?;
        Some(Directive { line: place + 1, dialect, words })
    })
    .collect()
}

fn marked(line: &str) -> Option<(Dialect, &str)> {
    let marks = [("#DANLU", Dialect::Danlu), ("#SBATCH", Dialect::Slurm)];
    marks.into_iter().find_map(|(mark, dialect)| {
        let words = line.strip_prefix(mark)?;
        // `#SBATCHX` is a remark.
        words.starts_with(char::is_whitespace).then(|| (dialect, words.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_lines_before_the_first_command_count() {
        let source = "#!/bin/sh\n\n# SBATCH no\n##SBATCH no\n#SBATCH -t 5 \n#DANLU\t-g 1\r\n#SBATCHX\nset -e\n#SBATCH late\n";
        let found = directives(source);
        let expect = [
            Directive { line: 5, dialect: Dialect::Slurm, words: "-t 5" },
            Directive { line: 6, dialect: Dialect::Danlu, words: "-g 1" },
        ];
        assert_eq!(found, expect);
        assert_eq!(directives(""), []);
    }
}

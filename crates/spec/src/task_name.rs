//! The default name of a task: the script file rather than its interpreter.

/// `train.py` of `python -u train.py`, `make` of `make -j8`.
pub fn name_of(command: &[String]) -> String {
    let first = command.first().map_or("", |word| base(word));
    let runner = RUNNERS.iter().any(|runner| first.trim_end_matches(is_version) == *runner);
    let is_file = |word: &&String| {
        !word.starts_with('-') && word.contains('.') && !word.contains(char::is_whitespace)
    };
    let file = command.iter().skip(1).find(is_file);
    let name = match file {
        Some(file) if runner => base(file),
        _ => command.first().and_then(|word| word.split_whitespace().next()).map_or("", base),
    };
    name.chars().take(LONGEST).collect()
}

const RUNNERS: [&str; 12] = [
    "python",
    "bash",
    "sh",
    "zsh",
    "torchrun",
    "accelerate",
    "deepspeed",
    "uv",
    "poetry",
    "julia",
    "Rscript",
    "node",
];
const LONGEST: usize = 40;

fn base(word: &str) -> &str {
    word.rsplit('/').find(|part| !part.is_empty()).unwrap_or(word)
}

fn is_version(character: char) -> bool {
    character.is_ascii_digit() || character == '.'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_rather_than_its_runner() {
        let check = |command: &str, expect: &str| {
            let words: Vec<String> = command.split('_').map(str::to_owned).collect();
            assert_eq!(name_of(&words), expect, "{command}");
        };
        check("python_train.py_--lr_0.1", "train.py");
        check("/usr/bin/python3.11_-u_src/train.py", "train.py");
        check("torchrun_--nproc-per-node=2_train.py", "train.py");
        check("make_-j8", "make");
        check("./a.out_b.txt", "a.out");
        check("bash_-c_sleep 0.1", "bash");
        check("make && cat a.txt", "make");
        assert_eq!(name_of(&[]), "");
    }
}

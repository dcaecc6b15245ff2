//! File name patterns of Slurm (`%j`, `%A_%a`, `%x`), as names with the placeholders of Danlu.

use danlu_messages::slurm as msg;

/// What is known when a job is submitted.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub user: &'a str,
    pub job_name: &'a str,
    pub is_array: bool,
}

/// A backslash anywhere lets every `%` stand for itself, as with Slurm.
pub fn file_name(pattern: &str, named: &Named<'_>) -> Result<String, String> {
    if pattern.contains('\\') {
        return Ok(pattern.replace('\\', ""));
    }
    let mut name = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        let mut has_width = false;
        while rest.next_if(char::is_ascii_digit).is_some() {
            has_width = true;
        }
        match rest.next() {
            Some('%') => name.push('%'),
            Some(_) if has_width => return Err(msg::widths_in_names(&pattern)),
            Some('j' | 'J') => name += "{task_id}",
            Some('A') => name += "{array_id}",
            // Outside of an array it has no index.
            Some('a') => name += if named.is_array { "{array_index}" } else { "4294967294" },
            Some('N') => name += "{node}",
            // Of the batch script: the first process on the first machine.
            Some('n' | 't') => name.push('0'),
            Some('s') => name += "batch",
            Some('u') => name += named.user,
            Some('x') => name += named.job_name,
            Some(other) => {
                name.push('%');
                name.push(other);
            }
            None => name.push('%'),
        }
    }
    Ok(name)
}

/// The same for a step that runs now: all is known.
#[derive(Clone, Debug, Default)]
pub struct StepNames {
    pub job: String,
    pub array_job: String,
    pub array_index: String,
    pub step: String,
    pub node: String,
    pub user: String,
    pub job_name: String,
}

impl StepNames {
    /// Of the process `task`; a number before the letter is a width, filled with zeros.
    pub fn file_name(&self, pattern: &str, task: u32) -> String {
        if pattern.contains('\\') {
            return pattern.replace('\\', "");
        }
        let mut name = String::new();
        let mut rest = pattern.chars().peekable();
        while let Some(letter) = rest.next() {
            if letter != '%' {
                name.push(letter);
                continue;
            }
            let mut width = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                width.push(digit);
            }
            let width: usize = width.parse().unwrap_or(0).min(10);
            let text = match rest.next() {
                Some('j') => self.job.clone(),
                Some('J') => format!("{}.{}", self.job, self.step),
                Some('A') => self.array_job.clone(),
                Some('a') => self.array_index.clone(),
                Some('s') => self.step.clone(),
                Some('t') => task.to_string(),
                Some('n') => "0".to_owned(),
                Some('N') => self.node.clone(),
                Some('u') => self.user.clone(),
                Some('x') => self.job_name.clone(),
                Some('%') => "%".to_owned(),
                Some(other) => format!("%{other}"),
                None => "%".to_owned(),
            };
            name += &format!("{text:0>width$}");
        }
        name
    }

    /// Whether each process writes to a file of its own.
    pub fn is_per_task(pattern: &str) -> bool {
        let mut rest = pattern.chars().peekable();
        while let Some(letter) = rest.next() {
            if letter == '%' {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                if rest.next() == Some('t') {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_become_placeholders() {
        let named = Named { user: "ann", job_name: "train", is_array: true };
        for (pattern, name) in [
            ("slurm-%j.out", "slurm-{task_id}.out"),
            ("%A_%a.log", "{array_id}_{array_index}.log"),
            ("%x-%u@%N", "train-ann@{node}"),
            ("100%%", "100%"),
            ("%t_%n_%s", "0_0_batch"),
            ("\\%j", "%j"),
            ("%q", "%q"),
        ] {
            assert_eq!(file_name(pattern, &named).as_deref(), Ok(name), "{pattern}");
        }
        assert!(file_name("%4a.log", &named).is_err());
        let single = Named { is_array: false, ..named };
        assert_eq!(file_name("%a", &single).as_deref(), Ok("4294967294"));
    }

    #[test]
    fn steps_know_everything() {
        let names = StepNames {
            job: "12".into(),
            array_job: "10".into(),
            array_index: "2".into(),
            step: "0".into(),
            node: "n1".into(),
            user: "ann".into(),
            job_name: "train".into(),
        };
        assert_eq!(names.file_name("%A_%a_%t.out %3t %J %%", 7), "10_2_7.out 007 12.0 %");
        assert!(StepNames::is_per_task("a%2t") && !StepNames::is_per_task("%%t"));
    }
}

//! What the kernel knows about a process and its threads, read without disturbing it.

use std::{fs, path::PathBuf};

#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
}

impl Process {
    /// Resident memory, in MB.
    pub(super) fn memory(self) -> Result<f64, String> {
        let status = self.read("status")?;
        Ok(field(&status, "VmRSS:")? as f64 * 1024.0 / 1e6)
    }

    /// How often any of its threads went to sleep, which is how often one was woken.
    pub(super) fn sleeps(self) -> Result<u64, String> {
        self.threads(|status| field(status, "voluntary_ctxt_switches:"), "status")
    }

    /// Nanoseconds on a processor.
    pub(super) fn processor_time(self) -> Result<u64, String> {
        let first = |line: &str| {
            let number = line.split_whitespace().next().and_then(|word| word.parse().ok());
            number.ok_or_else(|| format!("`{line}` is no schedstat"))
        };
        self.threads(first, "schedstat")
    }

    /// Those that it has started and that still run.
    pub(super) fn children(self) -> Result<Vec<Process>, String> {
        let path = format!("/proc/{0}/task", self.pid);
        let threads = fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))?;
        let mut found = Vec::new();
        for thread in threads.filter_map(Result::ok) {
            let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(list.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
        }
        Ok(found.into_iter().map(|pid| Process { pid }).collect())
    }

    fn threads(
        self,
        number: impl Fn(&str) -> Result<u64, String>,
        file: &str,
    ) -> Result<u64, String> {
        let path = format!("/proc/{}/task", self.pid);
        let threads = fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))?;
        let mut sum = 0;
        for thread in threads {
            let path = thread.map_err(|error| format!("{path}: {error}"))?.path().join(file);
            sum += number(&text(&path)?)?;
        }
        Ok(sum)
    }

    fn read(self, file: &str) -> Result<String, String> {
        text(&PathBuf::from(format!("/proc/{}/{file}", self.pid)))
    }
}

fn text(path: &PathBuf) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn field(status: &str, name: &str) -> Result<u64, String> {
    // `nonvoluntary_…` ends like `voluntary_…`: the name must begin the line.
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("no {name} in a status file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_has_used_a_processor() {
        let me = Process { pid: std::process::id() };
        assert!(me.memory().is_ok_and(|megabytes| megabytes > 0.1));
        assert!(me.processor_time().is_ok_and(|time| time > 0));
        assert!(me.sleeps().is_ok());
        assert!(Process { pid: u32::MAX }.memory().is_err());
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let status = "nonvoluntary_ctxt_switches:\t9\nvoluntary_ctxt_switches:\t7\n";
        assert_eq!(field(status, "voluntary_ctxt_switches:"), Ok(7));
        assert!(field(status, "VmRSS:").is_err());
    }
}

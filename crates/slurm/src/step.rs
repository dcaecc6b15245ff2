//! Steps: the processes that `srun` starts inside a job, their variables, and what their ends mean together.

use danlu_messages::slurm as msg;
use danlu_spec::input_error::InputError;

use crate::job::JobOptions;
use crate::options::Act;

/// What a step of a job starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRequest {
    pub tasks: u32,
    pub cpus_per_task: Option<u32>,
    pub label: bool,
    /// The others are ended when one fails.
    pub kill_on_bad_exit: bool,
}

/// More processes than anybody starts on one machine.
const MOST_TASKS: u32 = 4_096;

impl StepRequest {
    /// `variable` are those of the job; what the options leave out is as the job asked for it.
    pub fn of(
        options: &JobOptions,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<StepRequest, InputError> {
        let number = |name: &str| variable(name).and_then(|text| text.parse::<u32>().ok());
        let nodes = number("SLURM_JOB_NUM_NODES").or_else(|| number("SLURM_NNODES")).unwrap_or(1);
        let wanted =
            options.value(Act::Nodes).and_then(|text| text.split('-').next()?.parse().ok());
        if wanted.unwrap_or(nodes) > 1 {
            return Err(
                InputError::refused(msg::steps_on_several_nodes()).hint(msg::start_on_each_node())
            );
        }
        let tasks = match (options.number(Act::Ntasks)?, options.number(Act::NtasksPerNode)?) {
            (Some(tasks), _) | (None, Some(tasks)) => tasks,
            (None, None) => number("SLURM_NTASKS").or_else(|| number("SLURM_NPROCS")).unwrap_or(1),
        };
        if tasks > MOST_TASKS {
            return Err(InputError::refused(msg::too_many_processes(&tasks, &MOST_TASKS)));
        }
        let kill = match options.get(Act::KillOnBadExit) {
            Some(given) => given.value.as_deref() != Some("0"),
            None => number("SLURM_KILL_BAD_EXIT") == Some(1),
        };
        Ok(StepRequest {
            tasks: tasks.max(1),
            cpus_per_task: options
                .number(Act::CpusPerTask)?
                .or_else(|| number("SLURM_CPUS_PER_TASK")),
            label: options.has(Act::Label) || number("SLURM_LABELIO") == Some(1),
            kill_on_bad_exit: kill,
        })
    }

    /// Of the process with this rank, on top of those of the job.
    pub fn variables(&self, rank: u32, step: u32, node: &str) -> Vec<(&'static str, String)> {
        let tasks = self.tasks.to_string();
        let ranks: Vec<String> = (0..self.tasks).map(|rank| rank.to_string()).collect();
        let mut all = vec![
            ("SLURM_PROCID", rank.to_string()),
            ("SLURM_LOCALID", rank.to_string()),
            ("SLURM_NODEID", "0".to_owned()),
            ("SLURM_NTASKS", tasks.clone()),
            ("SLURM_NPROCS", tasks.clone()),
            ("SLURM_TASKS_PER_NODE", tasks.clone()),
            ("SLURM_GTIDS", ranks.join(",")),
            ("SLURM_STEP_ID", step.to_string()),
            ("SLURM_STEPID", step.to_string()),
            ("SLURM_STEP_NUM_NODES", "1".to_owned()),
            ("SLURM_STEP_NUM_TASKS", tasks.clone()),
            ("SLURM_STEP_TASKS_PER_NODE", tasks),
            ("SLURM_STEP_NODELIST", node.to_owned()),
            ("SLURM_DISTRIBUTION", "block".to_owned()),
        ];
        if let Some(cpus) = self.cpus_per_task {
            all.push(("SLURM_CPUS_PER_TASK", cpus.to_string()));
        }
        if self.label {
            all.push(("SLURM_LABELIO", "1".to_owned()));
        }
        all
    }

    /// `1: `, as wide as the highest rank.
    pub fn label_of(&self, rank: u32) -> String {
        let width = (self.tasks - 1).to_string().len();
        format!("{rank:>width$}: ")
    }
}

/// How a process of a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    Code(u8),
    Signal(u8),
}

impl TaskEnd {
    /// As a shell counts it.
    pub fn code(self) -> u8 {
        match self {
            TaskEnd::Code(code) => code,
            TaskEnd::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }
}

/// The exit code of the step: that of the worst.
pub fn worst(ends: impl IntoIterator<Item = TaskEnd>) -> u8 {
    ends.into_iter().map(TaskEnd::code).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{getopt, options::Program};

    fn step(line: &str, variables: &[(&str, &str)]) -> Result<StepRequest, InputError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = JobOptions::of(getopt::read(Program::Srun, &words).expect(line).options);
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        StepRequest::of(&options, variable)
    }

    #[test]
    fn a_step_is_as_large_as_its_job_unless_told() {
        let job = [("SLURM_NTASKS", "4"), ("SLURM_CPUS_PER_TASK", "2")];
        let whole = step("hostname", &job).expect("fine");
        assert_eq!((whole.tasks, whole.cpus_per_task, whole.label), (4, Some(2), false));
        let part = step("-n2 -l -K hostname", &job).expect("fine");
        assert_eq!((part.tasks, part.label, part.kill_on_bad_exit), (2, true, true));
        assert!(!step("-K0 hostname", &job).expect("fine").kill_on_bad_exit);
        assert_eq!(step("hostname", &[]).expect("fine").tasks, 1);
        assert!(step("-N2 hostname", &job).is_err());
        assert!(step("hostname", &[("SLURM_JOB_NUM_NODES", "2")]).is_err());
        assert!(step("-n 99999 hostname", &job).is_err());
    }

    #[test]
    fn ranks_labels_and_ends() {
        let request = step("-n12 -l x", &[]).expect("fine");
        let variables = request.variables(3, 0, "n1");
        assert!(variables.contains(&("SLURM_PROCID", "3".into())), "{variables:?}");
        assert_eq!((request.label_of(3), request.label_of(11)), (" 3: ".into(), "11: ".into()));
        assert_eq!(worst([TaskEnd::Code(0), TaskEnd::Code(3), TaskEnd::Code(1)]), 3);
        assert_eq!(worst([TaskEnd::Code(1), TaskEnd::Signal(9)]), 137);
        assert_eq!(worst([]), 0);
    }
}

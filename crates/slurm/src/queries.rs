//! What `squeue`, `sacct` and `scancel` are asked for: filters over tasks.

use danlu_messages::slurm as msg;
use danlu_spec::input_error::InputError;
use danlu_wire::api::TaskView;

use crate::environment::PARTITION;
use crate::getopt::Given;
use crate::hostlist;
use crate::job_id::JobId;
use crate::job_values::invalid;
use crate::options::{Act, Support};
use crate::state::JobState;

#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    pub jobs: Vec<JobId>,
    /// `None`: everybody's, as far as one may see them.
    pub users: Option<Vec<String>>,
    pub me: bool,
    /// `None`: as the command does without.
    pub states: Option<Vec<JobState>>,
    pub names: Vec<String>,
    pub nodes: Vec<String>,
    pub accounts: Vec<String>,
    /// Of the partitions that are named, none is the one that there is.
    pub other_partitions: bool,
}

impl JobFilter {
    pub fn of(options: &[Given], operands: &[String]) -> Result<JobFilter, InputError> {
        let mut filter = JobFilter::default();
        for given in options {
            let Support::Does(act) = given.row.support else { continue };
            let text = given.value.as_deref().unwrap_or_default();
            let words = || text.split(',').map(str::trim).filter(|word| !word.is_empty());
            match act {
                Act::Jobs => {
                    let ids = JobId::read_list(text);
                    filter.jobs.extend(ids.ok_or_else(|| invalid_job_id(text))?);
                }
                Act::User => {
                    filter.users.get_or_insert_default().extend(words().map(str::to_owned));
                }
                Act::Me => filter.me = true,
                Act::States => filter.add_states(given, words())?,
                Act::Name => filter.names.extend(words().map(str::to_owned)),
                Act::Account => filter.accounts.extend(words().map(str::to_owned)),
                Act::Partition => filter.other_partitions = !words().any(|word| word == PARTITION),
                Act::NodeList => {
                    let nodes = hostlist::expand(text).map_err(|reason| invalid(given, reason))?;
                    filter.nodes.extend(nodes);
                }
                _ => {}
            }
        }
        for word in operands {
            let ids = JobId::read_list(word);
            filter.jobs.extend(ids.ok_or_else(|| invalid_job_id(word))?);
        }
        Ok(filter)
    }

    fn add_states<'a>(
        &mut self,
        given: &Given,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<(), InputError> {
        for word in words {
            let states = self.states.get_or_insert_default();
            if word.eq_ignore_ascii_case("all") {
                states.extend(JobState::ALL);
                continue;
            }
            match JobState::read(word) {
                Some(found) => states.extend(found),
                None => return Err(invalid(given, msg::expected_job_state())),
            }
        }
        Ok(())
    }

    /// Nothing but options that choose nothing.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
            && self.users.is_none()
            && !self.me
            && self.states.is_none()
            && self.names.is_empty()
            && self.nodes.is_empty()
            && self.accounts.is_empty()
            && !self.other_partitions
    }

    /// The server has chosen by job already.
    pub fn admits(&self, task: &TaskView) -> bool {
        let listed =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|it| it == name);
        let on_node = || {
            let nodes = task.node.as_deref().unwrap_or_default();
            nodes.split(',').any(|node| self.nodes.iter().any(|it| it == node.trim()))
        };
        let state = JobState::of(task);
        !self.other_partitions
            && self
                .users
                .as_ref()
                .is_none_or(|users| listed(users, &task.user) && !users.is_empty())
            && self
                .states
                .as_ref()
                .is_none_or(|states| state.is_some_and(|it| states.contains(&it)))
            && listed(&self.names, &task.name)
            && (self.accounts.is_empty()
                || task.project.as_ref().is_some_and(|it| self.accounts.contains(it)))
            && (self.nodes.is_empty() || on_node())
            && (self.jobs.is_empty() || self.jobs.iter().any(|id| names(id, task)))
    }
}

/// By the id of the task, or by its array and index.
pub fn names(id: &JobId, task: &TaskView) -> bool {
    let of_array = task.array == Some(id.job) && id.has_element(task.index);
    of_array || task.id == id.job && id.elements.is_empty()
}

pub fn invalid_job_id(text: &str) -> InputError {
    InputError::usage(msg::invalid_job_id(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{getopt, options::Program};

    fn filter(program: Program, line: &str) -> Result<JobFilter, InputError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let line = getopt::read(program, &words)?;
        getopt::without_effect(&line.options, false)?;
        JobFilter::of(&line.options, &line.operands)
    }

    #[test]
    fn filters_choose_jobs() {
        let found = filter(Program::Squeue, "-u ann,bob -t PD,R -n a -j 1,2_[3-4]").expect("fine");
        assert_eq!(found.users, Some(vec!["ann".to_owned(), "bob".to_owned()]));
        assert_eq!(found.states, Some(vec![JobState::Pending, JobState::Running]));
        assert_eq!(found.jobs.len(), 2);
        assert!(filter(Program::Squeue, "-t nonsense").is_err());
        assert!(filter(Program::Scancel, "12 x").is_err());
        assert!(filter(Program::Squeue, "").expect("fine").is_empty());
    }

    #[test]
    fn nothing_is_cancelled_that_a_filter_could_have_left_out() {
        for line in ["-q high -u ann", "-R night -u ann", "--wckey=x -u ann"] {
            assert!(filter(Program::Scancel, line).is_err(), "{line}");
        }
        assert!(filter(Program::Scancel, "-p gpu -u ann").expect("fine").other_partitions);
        assert!(!filter(Program::Scancel, "-p gpu,danlu -u ann").expect("fine").other_partitions);
    }
}

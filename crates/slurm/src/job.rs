//! What the options of `sbatch`, `srun` and `salloc` ask for, as the fields of a task.

use std::collections::BTreeMap;

use danlu_core::resources::NodeSelector;
use danlu_core::task::{DependencyKind, Stream};
use danlu_messages::{slurm as msg, spec as spec_msg};
use danlu_spec::input_error::InputError;
use danlu_spec::parse::dependency::UnresolvedDependency;
use danlu_spec::parse::task_ids::TaskName;
use danlu_spec::patch::OutputPatch;
use danlu_spec::script::Mail;
use danlu_spec::{Change, Field, Patch};

use crate::environment::{JobShape, Submitter, variables};
use crate::getopt::{Given, label};
use crate::hostlist;
use crate::job_values::{gpu_count, gres, invalid, megabytes, node_count};
use crate::options::{Act, Support};
use crate::pattern::{Named, file_name};

/// The options that count, with the last of each.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    given: Vec<(Act, Given)>,
}

/// A job as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    pub patch: Patch,
    /// It waits for these arrays or jobs, which only the server can take apart.
    pub after: Vec<JobDependency>,
    /// And for all others of this name that are the submitter's.
    pub singleton: bool,
    /// `--export=NONE` and `--export=A,B`: which variables of the submitter it gets; `None`: all.
    pub keeps: Option<Vec<String>>,
    pub shape: JobShape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDependency {
    pub kind: DependencyKind,
    pub job: crate::job_id::JobId,
}

impl JobOptions {
    /// Later ones win, as with Slurm: lines of the script, then variables, then the command line.
    pub fn of(options: impl IntoIterator<Item = Given>) -> JobOptions {
        let mut given: Vec<(Act, Given)> = Vec::new();
        for option in options {
            let Support::Does(act) = option.row.support else { continue };
            // Of these two, the later one counts.
            let same =
                |other: Act| other == act || group(other).is_some() && group(other) == group(act);
            given.retain(|(other, _)| !same(*other));
            given.push((act, option));
        }
        JobOptions { given }
    }

    pub fn has(&self, act: Act) -> bool {
        self.given.iter().any(|(other, _)| *other == act)
    }

    pub fn get(&self, act: Act) -> Option<&Given> {
        self.given.iter().find(|(other, _)| *other == act).map(|(_, given)| given)
    }

    pub fn value(&self, act: Act) -> Option<&str> {
        self.get(act)?.value.as_deref()
    }

    pub fn number(&self, act: Act) -> Result<Option<u32>, InputError> {
        let Some(given) = self.get(act) else { return Ok(None) };
        let text = given.value.as_deref().unwrap_or_default();
        let number = text.parse().ok().filter(|number| *number > 0);
        number.map(Some).ok_or_else(|| invalid(given, spec_msg::expected_whole_number()))
    }

    /// Everything but the command and what is captured from the submitter.
    pub fn request(&self, by: &Submitter, default_name: &str) -> Result<JobRequest, InputError> {
        let mut request = JobRequest::default();
        let patch = &mut request.patch;
        for (act, field) in [
            (Act::JobName, Field::Name),
            (Act::Comment, Field::About),
            (Act::Account, Field::Project),
            (Act::Begin, Field::Begin),
            (Act::Chdir, Field::Dir),
            (Act::Array, Field::Array),
        ] {
            if let Some(given) = self.get(act) {
                set(field, given, patch)?;
            }
        }
        let name = self.value(Act::JobName).unwrap_or(default_name).to_owned();
        patch.name = Change::Set(name.clone());
        self.time(patch)?;
        if self.has(Act::Hold) {
            patch.hold = Change::Set(true);
        }
        if self.has(Act::NoRequeue) {
            patch.retries = Change::Set(0);
        }
        if self.has(Act::TestOnly) {
            patch.dry_run = Change::Set(true);
        }
        let mut shape = self.shape()?;
        self.place(patch, &mut shape)?;
        self.resources(patch, &mut shape)?;
        self.mail(patch)?;
        let array = patch.array.value().map(|array| array.indices.clone());
        let named = Named { user: &by.user, job_name: &name, is_array: array.is_some() };
        patch.output = Change::Set(self.output(&named)?);
        self.dependencies(&mut request)?;
        request.keeps = self.export(&mut request.patch)?;
        let mut known = variables(by, &name, &shape, array.as_deref());
        known.extend(request.patch.variables.value().cloned().unwrap_or_default());
        request.patch.variables = Change::Set(known);
        request.shape = shape;
        Ok(request)
    }

    fn time(&self, patch: &mut Patch) -> Result<(), InputError> {
        let Some(given) = self.get(Act::Time) else { return Ok(()) };
        let text = given.value.as_deref().unwrap_or_default();
        match text.to_ascii_lowercase().as_str() {
            "unlimited" | "infinite" | "-1" | "0" => Ok(()),
            _ => set(Field::Time, given, patch),
        }
    }

    /// How many processes on how many machines.
    fn shape(&self) -> Result<JobShape, InputError> {
        let nodes = match self.get(Act::Nodes) {
            Some(given) => node_count(given)?,
            None => 1,
        };
        let per_node = self.number(Act::NtasksPerNode)?;
        let tasks = match (self.number(Act::Ntasks)?, per_node) {
            (Some(tasks), _) => tasks.max(nodes),
            (None, Some(per_node)) => per_node.saturating_mul(nodes),
            (None, None) => nodes,
        };
        let cpus_per_task = self.number(Act::CpusPerTask)?;
        Ok(JobShape { nodes, tasks, cpus_per_task, ..JobShape::default() })
    }

    fn place(&self, patch: &mut Patch, shape: &mut JobShape) -> Result<(), InputError> {
        if shape.nodes > 1 {
            patch.nodes = Change::Set(shape.nodes);
        }
        if let Some((key, value)) = self.get(Act::Constraint).and_then(label) {
            let (key, value) = (key.to_owned(), value.to_owned());
            patch.node = Change::Set(NodeSelector::Label { key, value });
        }
        let Some(given) = self.get(Act::NodeList) else { return Ok(()) };
        let list = given.value.as_deref().unwrap_or_default();
        let nodes = hostlist::expand(list).map_err(|reason| invalid(given, reason))?;
        match nodes.as_slice() {
            [node] => patch.node = Change::Set(NodeSelector::Name(node.clone())),
            _ => {
                return Err(InputError::refused(msg::several_nodes_in_list(&given.written))
                    .hint(msg::name_one_node()));
            }
        }
        Ok(())
    }

    fn resources(&self, patch: &mut Patch, shape: &mut JobShape) -> Result<(), InputError> {
        // Without an option there is no GPU.
        patch.gpus = Change::Set(0);
        let counts = [Act::Gpus, Act::GpusPerNode, Act::GpusPerTask, Act::Gres];
        if let Some((act, given)) = self.given.iter().find(|(act, _)| counts.contains(act)) {
            let text = given.value.as_deref().unwrap_or_default();
            let (model, count) = match act {
                Act::Gres => gres(given, text)?,
                _ => gpu_count(text).ok_or_else(|| invalid(given, msg::expected_gpus()))?,
            };
            let per_node = match act {
                Act::Gpus if count.is_multiple_of(shape.nodes) => count / shape.nodes,
                Act::Gpus => {
                    let message = spec_msg::gpus_not_divisible(&count, &shape.nodes);
                    return Err(InputError::refused(message).hint("--gpus-per-node=4"));
                }
                Act::GpusPerTask => count.saturating_mul(shape.tasks.div_ceil(shape.nodes)),
                _ => count,
            };
            patch.gpus = Change::Set(per_node);
            if let Some(model) = model {
                patch.gpu_model = Change::Set(model);
            }
            shape.gpus_per_node = per_node;
            shape.gpus = per_node.saturating_mul(shape.nodes);
        }
        let tasks_on_node = shape.tasks.div_ceil(shape.nodes);
        let cpus = match self.number(Act::CpusPerGpu)? {
            Some(each) => Some(each.saturating_mul(shape.gpus_per_node.max(1))),
            None => shape.cpus_per_task.map(|each| each.saturating_mul(tasks_on_node)),
        };
        let cpus = cpus.or_else(|| (tasks_on_node > 1).then_some(tasks_on_node));
        // As many processes as are wanted on one CPU.
        let cpus = if self.has(Act::Overcommit) { Some(1) } else { cpus };
        if let Some(cpus) = cpus {
            patch.cpus = Change::Set(cpus);
        }
        shape.cpus_on_node = cpus.unwrap_or(1);
        let memory = |act, count: u32| -> Result<Option<u64>, InputError> {
            let Some(given) = self.get(act) else { return Ok(None) };
            let each = megabytes(given)?;
            Ok(Some(each.saturating_mul(u64::from(count.max(1)))))
        };
        let memory = match memory(Act::Mem, 1)? {
            Some(bytes) => Some(bytes),
            None => match memory(Act::MemPerCpu, shape.cpus_on_node)? {
                Some(bytes) => Some(bytes),
                None => memory(Act::MemPerGpu, shape.gpus_per_node)?,
            },
        };
        // 0 is all that the machine has, which is what a task without a limit may use.
        if let Some(bytes) = memory.filter(|bytes| *bytes > 0) {
            patch.memory = Change::Set(bytes);
            shape.memory = Some(bytes);
        }
        Ok(())
    }

    fn mail(&self, patch: &mut Patch) -> Result<(), InputError> {
        let mut mail = Mail::default();
        if let Some(list) = self.value(Act::MailType) {
            mail.set_types(list)?;
        }
        if let Some(list) = self.value(Act::MailUser) {
            mail.set_users(list)?;
        }
        mail.put_into(patch);
        Ok(())
    }

    fn output(&self, named: &Named<'_>) -> Result<OutputPatch, InputError> {
        let append = match self.value(Act::OpenMode) {
            Some("append" | "a") => true,
            Some("truncate" | "t") | None => false,
            Some(_) => {
                let given = self.get(Act::OpenMode);
                return Err(given.map_or_else(
                    || InputError::usage(msg::expected_open_mode()),
                    |given| invalid(given, msg::expected_open_mode()),
                ));
            }
        };
        let stream = |path: String| match path.as_str() {
            "/dev/null" => Stream::Discard,
            _ if append => Stream::Append { path },
            _ => Stream::Truncate { path },
        };
        let usual = if named.is_array { "slurm-%A_%a.out" } else { "slurm-%j.out" };
        let read = |act: Act| match self.get(act) {
            Some(given) => {
                let pattern = given.value.as_deref().unwrap_or_default();
                file_name(pattern, named).map(Some).map_err(|reason| invalid(given, reason))
            }
            None => Ok(None),
        };
        let stdout = match read(Act::Output)? {
            Some(path) => path,
            None => file_name(usual, named).map_err(InputError::usage)?,
        };
        let stderr = read(Act::Error)?.filter(|path| *path != stdout);
        if let Some(given) = self.get(Act::Input)
            && !matches!(given.value.as_deref(), Some("/dev/null" | "none"))
        {
            return Err(InputError::refused(msg::option_not_supported(&given.written))
                .hint(msg::read_the_input_in_the_script()));
        }
        Ok(OutputPatch {
            both: Change::Keep,
            stdout: Change::Set(stream(stdout)),
            stderr: stderr.map_or(Change::Keep, |path| Change::Set(stream(path))),
        })
    }

    /// `afterok:12:13_4,afterany:14`, `singleton`.
    fn dependencies(&self, request: &mut JobRequest) -> Result<(), InputError> {
        let Some(given) = self.get(Act::Dependency) else { return Ok(()) };
        let text = given.value.as_deref().unwrap_or_default();
        if text.contains('?') {
            return Err(InputError::refused(msg::alternatives_not_supported(&given.written))
                .hint(msg::separate_by_commas()));
        }
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let mut words = part.split(':');
            let kind = match words.next().unwrap_or_default() {
                "singleton" => {
                    request.singleton = true;
                    continue;
                }
                "afterok" | "aftercorr" => DependencyKind::AfterOk,
                "afterany" => DependencyKind::AfterAny,
                "afternotok" => DependencyKind::AfterNotOk,
                _ => return Err(invalid(given, msg::expected_dependency())),
            };
            let mut named = false;
            for word in words {
                // `+10` delays only `after`, which is not there.
                let job = crate::job_id::JobId::read(word);
                let job = job.ok_or_else(|| invalid(given, msg::expected_dependency()))?;
                request.after.push(JobDependency { kind, job });
                named = true;
            }
            if !named {
                return Err(invalid(given, msg::expected_dependency()));
            }
        }
        Ok(())
    }

    /// `ALL`, `NONE`, `ALL,A=1`, `PATH,HOME,A=1`.
    fn export(&self, patch: &mut Patch) -> Result<Option<Vec<String>>, InputError> {
        let Some(given) = self.get(Act::Export) else { return Ok(None) };
        let text = given.value.as_deref().unwrap_or_default();
        let mut keeps = Vec::new();
        let mut all = false;
        let mut set = BTreeMap::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((name, value)) => {
                    set.insert(name.to_owned(), value.to_owned());
                }
                None if part == "ALL" => all = true,
                None if part == "NONE" || part == "NIL" => {}
                None => keeps.push(part.to_owned()),
            }
        }
        if !set.is_empty() {
            patch.variables = Change::Set(set);
        }
        Ok((!all).then_some(keeps))
    }
}

/// Options of which only one counts.
fn group(act: Act) -> Option<u8> {
    match act {
        Act::Gpus | Act::GpusPerNode | Act::GpusPerTask | Act::Gres => Some(0),
        Act::Mem | Act::MemPerCpu | Act::MemPerGpu => Some(1),
        _ => None,
    }
}

impl JobRequest {
    /// With the tasks that the jobs stand for, which the server has told.
    pub fn wait_for(&mut self, tasks: &[(DependencyKind, u64)]) {
        if tasks.is_empty() {
            return;
        }
        let after = tasks
            .iter()
            .map(|(kind, id)| UnresolvedDependency { kind: *kind, on: TaskName::Id(*id) });
        self.patch.after = Change::Set(after.collect());
    }
}

fn set(field: Field, given: &Given, patch: &mut Patch) -> Result<(), InputError> {
    let text = given.value.as_deref().unwrap_or_default();
    field.read(text, patch).map_err(|reason| invalid(given, reason))
}

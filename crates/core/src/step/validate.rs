//! Validates the description of a task by itself: sizes and characters, independent of the machines.

use crate::model::limits;
use crate::model::notify_rule::NotifyRule;
use crate::model::number::thousandths::Thousandths;
use crate::model::resources::{NodeSelector, Request, Sharing};
use crate::model::task::{ArraySpec, Axis, LaunchSpec, PythonEnvironment, Stream, TaskSpec};
use crate::step::refusal::{AxisProblem, Counted, Refusal, Share, TextField};
use crate::step::users::is_address;
use std::collections::{BTreeMap, BTreeSet};

/// Of a task that was submitted elsewhere: what does not depend on the machines here.
pub fn check_description(spec: &TaskSpec, key: Option<&str>) -> Result<(), Refusal> {
    check(spec)?;
    spec.array.iter().try_for_each(check_array)?;
    key.map_or(Ok(()), |key| check_text(TextField::Key, key))?;
    at_most(Counted::Dependencies, spec.after.len(), limits::DEPENDENCIES_PER_TASK)
}

pub(crate) fn check_array(array: &ArraySpec) -> Result<(), Refusal> {
    at_most(Counted::ArrayTasks, array.indices.len(), limits::TASKS_PER_ARRAY)?;
    let distinct: BTreeSet<u32> = array.indices.iter().copied().collect();
    let sound = !distinct.is_empty() && distinct.len() == array.indices.len();
    if sound && array.at_once != Some(0) { Ok(()) } else { Err(Refusal::BadArray) }
}

pub(crate) fn check(spec: &TaskSpec) -> Result<(), Refusal> {
    check_command(spec)?;
    check_words(spec)?;
    check_launch(&spec.launch)?;
    spec.array.iter().try_for_each(check_grid)?;
    check_notify(&spec.notify)?;
    check_resources(&spec.request.resources)?;
    at_most(Counted::Retries, spec.retries as usize, limits::RETRIES as usize)?;
    at_most(Counted::Gpus, spec.request.gpus as usize, limits::GPUS_PER_TASK as usize)?;
    at_most(Counted::GpuNumbers, spec.request.gpu_ids.len(), spec.request.gpus as usize)?;
    check_nodes(&spec.request)?;
    check_sharing(&spec.request)?;
    let limit = spec.time_limit.map(|limit| limit.0);
    if limit.is_some_and(|limit| limit == 0 || limit > limits::LONGEST.0) {
        return Err(Refusal::BadTimeLimit);
    }
    Ok(())
}

/// Which channels there are is known outside.
fn check_notify(rules: &[NotifyRule]) -> Result<(), Refusal> {
    at_most(Counted::NotifyRules, rules.len(), limits::NOTIFY_RULES)?;
    for rule in rules {
        rule.to.iter().try_for_each(|to| check_text(TextField::NotifyTarget, to))?;
        if rule.address().is_some_and(|address| !is_address(address)) {
            return Err(Refusal::BadEmail);
        }
    }
    Ok(())
}

pub(crate) fn check_resources(resources: &BTreeMap<String, u32>) -> Result<(), Refusal> {
    at_most(Counted::NamedResources, resources.len(), limits::RESOURCES)?;
    for name in resources.keys() {
        check_text(TextField::ResourceName, name)?;
        if name.is_empty() {
            return Err(Refusal::NameMissing);
        }
    }
    Ok(())
}

/// Words that stand for something else already.
const TAKEN: [&str; 6] = ["task_id", "array_id", "array_index", "node", "gpu_list", "gpu_count"];

fn check_grid(array: &ArraySpec) -> Result<(), Refusal> {
    at_most(Counted::SweepNames, array.grid.len(), limits::AXES)?;
    for (at, Axis { name, values }) in array.grid.iter().enumerate() {
        check_text(TextField::SweepName, name)?;
        let bad = |why| Err(Refusal::BadAxis { name: name.clone(), why });
        let letter = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-' || it == '.';
        if name.is_empty() || !name.chars().all(letter) {
            return bad(AxisProblem::BadCharacter);
        }
        if TAKEN.contains(&name.as_str()) || array.grid[..at].iter().any(|it| it.name == *name) {
            return bad(AxisProblem::Taken);
        }
        if values.is_empty() {
            return bad(AxisProblem::NoValues);
        }
        values.iter().try_for_each(|value| check_text(TextField::SweepValue, value))?;
    }
    let complete = array.grid.is_empty()
        || ArraySpec::combinations(&array.grid) == Some(array.indices.len())
            && (0..).zip(&array.indices).all(|(at, index)| at == *index);
    if complete { Ok(()) } else { Err(Refusal::BadArray) }
}

fn check_nodes(request: &Request) -> Result<(), Refusal> {
    at_most(Counted::NodesOfTask, request.nodes as usize, limits::NODES_PER_TASK as usize)?;
    if !request.is_gang() {
        return Ok(());
    }
    if !request.gpus.is_multiple_of(request.nodes) {
        return Err(Refusal::UnequalNodes { nodes: request.nodes, gpus: request.gpus });
    }
    if !request.gpu_ids.is_empty() || matches!(request.node, Some(NodeSelector::Name(_))) {
        return Err(Refusal::GangNamesOne { nodes: request.nodes });
    }
    Ok(())
}

fn check_sharing(request: &Request) -> Result<(), Refusal> {
    let Sharing::Shared { idle_utilization } = request.sharing else { return Ok(()) };
    if request.gpus == 0 || request.gpu_memory == 0 {
        return Err(Refusal::ShareWithoutMemory);
    }
    if idle_utilization > 100 { Err(Refusal::BadUtilization) } else { Ok(()) }
}

fn check_command(spec: &TaskSpec) -> Result<(), Refusal> {
    let bytes = spec.command.iter().map(|word| word.len() + 1).sum();
    short(TextField::Command, bytes, limits::COMMAND_BYTES)?;
    let first = spec.command.first().map_or("", String::as_str);
    if first.is_empty()
        || spec.launch.shell && spec.command.iter().all(|word| word.trim().is_empty())
    {
        return Err(Refusal::EmptyCommand);
    }
    spec.command.iter().try_for_each(|word| no_zero(TextField::Command, word))
}

fn check_words(spec: &TaskSpec) -> Result<(), Refusal> {
    check_text(TextField::Name, &spec.name)?;
    short(TextField::Description, spec.description.len(), limits::DESCRIPTION_BYTES)?;
    if spec.description.chars().any(|it| it.is_control() && it != '\n' && it != '\t') {
        return Err(Refusal::ControlCharacter { what: TextField::Description });
    }
    spec.project.iter().try_for_each(|project| check_text(TextField::Project, project))?;
    check_labels(&spec.labels)?;
    spec.request.gpu_model.iter().try_for_each(|model| check_text(TextField::GpuModel, model))?;
    let selectors = [&spec.request.node, &spec.request.prefer].into_iter().flatten();
    selectors.into_iter().try_for_each(|selector| match selector {
        NodeSelector::Name(name) => check_text(TextField::NodeName, name),
        NodeSelector::Label { key, value } => {
            check_text(TextField::NodeLabel, key)?;
            check_text(TextField::NodeLabel, value)
        }
    })
}

pub(crate) fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), Refusal> {
    at_most(Counted::Labels, labels.len(), limits::LABELS)?;
    for (key, value) in labels {
        check_text(TextField::Label, key)?;
        check_text(TextField::Label, value)?;
    }
    Ok(())
}

fn check_launch(launch: &LaunchSpec) -> Result<(), Refusal> {
    let paths = [Some(&launch.directory), launch.output.both.as_ref()].into_iter().flatten();
    let streams = [&launch.output.stdout, &launch.output.stderr].into_iter().flatten();
    let files = streams.filter_map(|stream| match stream {
        Stream::Append { path } | Stream::Truncate { path } => Some(path),
        Stream::Discard => None,
    });
    for path in paths.chain(files) {
        short(TextField::Path, path.len(), limits::PATH_BYTES)?;
        no_zero(TextField::Path, path)?;
    }
    if let Some(argument) = &launch.gpu_argument {
        short(TextField::GpuArgument, argument.len(), limits::NAME_BYTES)?;
        no_zero(TextField::GpuArgument, argument)?;
    }
    if let Some(program) = &launch.shell_program {
        short(TextField::Shell, program.len(), limits::PATH_BYTES)?;
        if program.is_empty() || program.chars().any(char::is_control) {
            return Err(Refusal::ControlCharacter { what: TextField::Shell });
        }
    }
    if let Some(PythonEnvironment::Conda(name) | PythonEnvironment::Venv(name)) = &launch.python {
        short(TextField::PythonEnvironment, name.len(), limits::PATH_BYTES)?;
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(Refusal::ControlCharacter { what: TextField::PythonEnvironment });
        }
    }
    let bytes = launch.variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    short(TextField::Variables, bytes, limits::COMMAND_BYTES)?;
    for (name, value) in &launch.variables {
        if name.is_empty() || name.contains('=') {
            return Err(Refusal::BadVariable { name: name.clone() });
        }
        no_zero(TextField::Variable, name)?;
        no_zero(TextField::Variable, value)?;
    }
    Ok(())
}

pub(crate) fn within(
    what: Share,
    number: Option<Thousandths>,
    least: Thousandths,
) -> Result<(), Refusal> {
    let most = Thousandths::MOST;
    match number.is_none_or(|number| (least..=most).contains(&number)) {
        true => Ok(()),
        false => Err(Refusal::OutOfRange { what, least, most }),
    }
}

/// One line that people read in lists.
pub(crate) fn check_text(what: TextField, text: &str) -> Result<(), Refusal> {
    short(what, text.len(), limits::NAME_BYTES)?;
    if text.chars().any(char::is_control) {
        return Err(Refusal::ControlCharacter { what });
    }
    Ok(())
}

fn no_zero(what: TextField, text: &str) -> Result<(), Refusal> {
    if text.contains('\0') { Err(Refusal::ControlCharacter { what }) } else { Ok(()) }
}

pub(crate) fn short(what: TextField, bytes: usize, limit: usize) -> Result<(), Refusal> {
    if bytes > limit { Err(Refusal::TooLong { what, limit }) } else { Ok(()) }
}

pub(crate) fn at_most(what: Counted, count: usize, limit: usize) -> Result<(), Refusal> {
    if count > limit { Err(Refusal::TooMany { what, limit }) } else { Ok(()) }
}

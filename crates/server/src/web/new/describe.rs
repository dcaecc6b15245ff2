//! From the fields of the form to the description of a task.

use super::draft::Draft;
use crate::api::ApiError;
use crate::given::amount::parse_bytes;
use crate::given::array::parse_array;
use crate::given::begin::parse_begin;
use crate::given::dependency::parse_dependencies;
use crate::given::gpus::{parse_gpu_ids, parse_gpus};
use crate::given::grid::parse_axis;
use crate::given::pair::{Pair, parse_pair};
use crate::given::resource::parse_resource;
use crate::given::retries::parse_retries;
use crate::given::task_ids::TaskName;
use crate::given::time_limit::{TimeLimit, parse_time_limit};
use crate::script;
use danlu_core::TaskId;
use danlu_core::resources::NodeSelector;
use danlu_core::task::{Dependency, PythonEnvironment};
use danlu_messages::web::new as msg;
use danlu_wire::api::{Needs, Submit};
use std::collections::BTreeMap;
use std::str::FromStr;

/// `base` has what the form does not ask for.
pub(super) fn submit(draft: &Draft, base: Submit) -> Result<Submit, ApiError> {
    let read = Reader { draft };
    let some = |name: &str| Some(draft.get(name).to_owned()).filter(|text| !text.is_empty());
    let (command, shell) = read.command()?;
    let gpus = read.field("gpus", parse_gpus)?;
    let retries = read.field("retries", parse_retries)?;
    let python = some("conda").map(PythonEnvironment::Conda);
    let mut output = base.output.clone();
    output.both = some("output");
    Ok(Submit {
        name: draft.get("name").to_owned(),
        description: draft.get("description").to_owned(),
        project: some("project"),
        labels: read.field("labels", pairs)?.unwrap_or_default(),
        command,
        shell,
        directory: draft.get("directory").to_owned(),
        variables: read.field("variables", pairs)?.unwrap_or_default(),
        gpus: gpus.as_ref().map(|wish| wish.count),
        request: read.needs(gpus.and_then(|wish| wish.model))?,
        time_limit: read.field("time", parse_time_limit)?.and_then(TimeLimit::seconds),
        retries: retries.as_ref().map(|retries| retries.times),
        retry_on: retries.map(|retries| retries.on).unwrap_or_default(),
        // A browser sends the time of its own zone without naming it; a script names it.
        begin: read.field("begin", parse_begin)?.map(|begin| begin.0.to_string()),
        preemptible: draft.has("preemptible"),
        urgent: draft.has("urgent"),
        priority: read.field("priority", number)?,
        after: read.field("after", dependencies)?.unwrap_or_default(),
        hold: draft.has("hold"),
        array: read.array()?,
        output,
        gpu_argument: some("gpu_arg"),
        python: python.or_else(|| some("venv").map(PythonEnvironment::Venv)),
        ..base
    })
}

struct Reader<'a> {
    draft: &'a Draft,
}

impl Reader<'_> {
    /// Empty is no value; what cannot be read is refused as on the command line.
    fn field<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ApiError> {
        let text = self.draft.get(name).trim();
        if text.is_empty() {
            return Ok(None);
        }
        read(text).map(Some).map_err(|complaint| self.wrong(name, text, &complaint))
    }

    fn wrong(&self, name: &str, text: &str, complaint: &str) -> ApiError {
        let label = super::labels::label(name);
        let message = msg::label_cannot_be_text(&label, &text);
        ApiError::bad_request(message, complaint)
    }

    fn command(&self) -> Result<(Vec<String>, bool), ApiError> {
        if self.draft.has("script") {
            return Ok((script::without_file(self.draft.get("script"))?, false));
        }
        let line = self.draft.get("command").trim();
        if line.is_empty() {
            let message = msg::there_is_no_command_yet();
            return Err(ApiError::bad_request(message, msg::for_example_python_train_py()));
        }
        if !self.draft.has("no_shell") {
            return Ok((vec![line.to_owned()], true));
        }
        let words = shlex::split(line).filter(|words| !words.is_empty());
        words
            .map(|words| (words, false))
            .ok_or_else(|| self.wrong("command", line, msg::a_quote_is_not_closed()))
    }

    fn needs(&self, gpu_model: Option<String>) -> Result<Needs, ApiError> {
        Ok(Needs {
            cpus: self.field("cpus", number)?,
            memory: self.field("mem", parse_bytes)?.unwrap_or(0),
            gpu_memory: self.field("vram", parse_bytes)?.unwrap_or(0),
            shared: self.draft.get("sharing") == "shared",
            idle_util: self.field("idle_util", percent)?.unwrap_or(0),
            exclusive: self.draft.get("sharing") == "exclusive",
            gpu_model,
            node: self.field("node", |text| Ok(node(text)))?,
            nodes: self.field("nodes", number)?.unwrap_or(0),
            prefer: self.field("prefer", |text| Ok(node(text)))?,
            resources: self.field("resources", resources)?.unwrap_or_default(),
            gpu_ids: self.field("gpu_ids", parse_gpu_ids)?.map(|ids| ids.0).unwrap_or_default(),
        })
    }

    fn array(&self) -> Result<Option<danlu_wire::api::Array>, ApiError> {
        let array = self.field("array", parse_array)?;
        let lines = self.draft.get("grid").lines().map(str::trim).filter(|line| !line.is_empty());
        let axis =
            |line| parse_axis(line).map_err(|complaint| self.wrong("grid", line, &complaint));
        let grid: Vec<_> = lines.map(axis).collect::<Result<_, _>>()?;
        if array.is_none() && grid.is_empty() {
            return Ok(None);
        }
        Ok(Some(danlu_wire::api::Array { grid, ..array.unwrap_or_default() }))
    }
}

fn number<T: FromStr>(given: &str) -> Result<T, String> {
    given.parse().map_err(|_| msg::it_is_a_whole_number().to_owned())
}

fn percent(given: &str) -> Result<u8, String> {
    let percent = given.parse().ok().filter(|it| *it <= 100);
    percent.ok_or_else(|| msg::it_is_a_number_up_to_100().to_owned())
}

fn node(given: &str) -> NodeSelector {
    match parse_pair(given) {
        Ok(Pair { name, value }) => NodeSelector::Label { key: name, value },
        Err(_) => NodeSelector::Name(given.to_owned()),
    }
}

/// One `NAME=value` on each line.
fn pairs(given: &str) -> Result<BTreeMap<String, String>, String> {
    let lines = given.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| parse_pair(line).map(|pair| (pair.name, pair.value))).collect()
}

/// `licence:2,scratch`.
fn resources(given: &str) -> Result<BTreeMap<String, u32>, String> {
    let one = |part: &str| parse_resource(part.trim()).map(|named| (named.name, named.count));
    given.split(',').map(one).collect()
}

/// `12`, `afterok:12,13`, `#12`.
fn dependencies(given: &str) -> Result<Vec<Dependency>, String> {
    let plain: String = given.chars().filter(|it| *it != '#' && !it.is_whitespace()).collect();
    let mut all = Vec::new();
    for wish in parse_dependencies(&plain)?.0 {
        let of = |id| Dependency { task: TaskId(id), kind: wish.kind };
        match wish.on {
            TaskName::Id(id) => all.push(of(id)),
            TaskName::Range(first, last) => all.extend((first..=last).map(of)),
            TaskName::Mine(_) => {
                return Err(msg::name_a_task_by_its_id().to_owned());
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::Language;

    #[test]
    fn lists_in_fields() {
        assert_eq!(pairs("A=1\n\nB=x=y").map(|pairs| pairs.len()), Ok(2));
        assert!(pairs("A").is_err());
        assert_eq!(resources("licence:2, scratch").map(|all| all.len()), Ok(2));
        assert!(resources("licence:0").is_err());
        assert_eq!(dependencies("#1, 2-4,afterany:9").map(|all| all.len()), Ok(5));
        assert!(dependencies("@").is_err());
        assert!(percent("101").is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named_in_the_readers_language() {
        let check = |language: Language, words: &str| {
            let mut draft = Draft::default();
            draft.set("command", "true".to_owned());
            draft.set("time", "soon".to_owned());
            let error = language.within(|| submit(&draft, Submit::default()));
            let error = error.expect_err("it is no time");
            assert!(error.0.hint.contains(words), "{error:?}");
        };
        check(Language::English, "a time is written as");
        check(Language::Chinese, "时间的写法是");
    }
}

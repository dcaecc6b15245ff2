//! From the fields of the form to the description of a task.

use super::draft::Draft;
use super::given;
use super::script;
use crate::api::ApiError;
use crate::web::language::{Language, tell};
use danlu_core::resources::NodeSelector;
use danlu_core::task::PythonEnvironment;
use danlu_wire::api::{Needs, Submit};

/// `base` has what the form does not ask for.
pub(super) fn submit(draft: &Draft, base: Submit, language: Language) -> Result<Submit, ApiError> {
    let read = Reader { draft, language };
    let some = |name: &str| Some(draft.get(name).to_owned()).filter(|text| !text.is_empty());
    let (command, shell) = read.command()?;
    let (gpus, gpu_model) = read.field("gpus", "2, A100:2", given::gpus)?.unzip();
    let (retries, retry_on) = read.field("retries", "3, 3:cuda_oom,nccl", given::retries)?.unzip();
    let python = some("conda").map(PythonEnvironment::Conda);
    let mut output = base.output.clone();
    output.both = some("output");
    Ok(Submit {
        name: draft.get("name").to_owned(),
        description: draft.get("description").to_owned(),
        project: some("project"),
        labels: read.field("labels", "team=vision", given::pairs)?.unwrap_or_default(),
        command,
        shell,
        directory: draft.get("directory").to_owned(),
        variables: read.field("variables", "NAME=value", given::pairs)?.unwrap_or_default(),
        gpus,
        request: read.needs(gpu_model.flatten())?,
        time_limit: read.field("time", "90m, 2h, 1-12:00:00", given::seconds)?.filter(|it| *it > 0),
        retries,
        retry_on: retry_on.unwrap_or_default(),
        begin: read.begin()?,
        preemptible: draft.has("preemptible"),
        urgent: draft.has("urgent"),
        priority: read.field("priority", "5", |text| text.parse().ok())?,
        after: read.field("after", "12, afterany:14", given::after)?.unwrap_or_default(),
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
    language: Language,
}

impl Reader<'_> {
    /// Empty is no value; what cannot be read is refused with an example.
    fn field<T>(
        &self,
        name: &str,
        example: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let text = self.draft.get(name).trim();
        if text.is_empty() {
            return Ok(None);
        }
        read(text).map(Some).ok_or_else(|| self.wrong(name, text, example))
    }

    fn wrong(&self, name: &str, text: &str, example: &str) -> ApiError {
        let label = super::labels::label(name, self.language);
        let message =
            tell!(self.language, "“{label}” cannot be “{text}”", "“{label}”不能是“{text}”");
        ApiError::bad_request(
            message,
            &tell!(self.language, "for example: {example}", "例如：{example}"),
        )
    }

    fn command(&self) -> Result<(Vec<String>, bool), ApiError> {
        if self.draft.has("script") {
            return Ok((script::command(self.draft.get("script"), self.language)?, false));
        }
        let line = self.draft.get("command").trim();
        if line.is_empty() {
            let message = self.language.say("There is no command yet.", "还没有命令。");
            return Err(ApiError::bad_request(
                message,
                self.language.say("for example: python train.py", "例如：python train.py"),
            ));
        }
        if !self.draft.has("no_shell") {
            return Ok((vec![line.to_owned()], true));
        }
        let words = shlex::split(line).filter(|words| !words.is_empty());
        words
            .map(|words| (words, false))
            .ok_or_else(|| self.wrong("command", line, "python 'my file.py'"))
    }

    fn needs(&self, gpu_model: Option<String>) -> Result<Needs, ApiError> {
        let node = |text: &str| match text.split_once('=') {
            Some((key, value)) => {
                NodeSelector::Label { key: key.to_owned(), value: value.to_owned() }
            }
            None => NodeSelector::Name(text.to_owned()),
        };
        Ok(Needs {
            cpus: self.field("cpus", "4", |text| text.parse().ok())?,
            memory: self.field("mem", "64G", given::bytes)?.unwrap_or(0),
            gpu_memory: self.field("vram", "20G", given::bytes)?.unwrap_or(0),
            shared: self.draft.get("sharing") == "shared",
            idle_util: self
                .field("idle_util", "50", |text| text.parse().ok().filter(|it| *it <= 100))?
                .unwrap_or(0),
            exclusive: self.draft.get("sharing") == "exclusive",
            gpu_model,
            node: self.field("node", "gpu1", |text| Some(node(text)))?,
            resources: self.field("resources", "licence:1", given::resources)?.unwrap_or_default(),
            gpu_ids: self.field("gpu_ids", "0,2", given::numbers)?.unwrap_or_default(),
            ..Needs::default()
        })
    }

    /// A browser sends the time of its own zone without naming it; a script names it.
    fn begin(&self) -> Result<Option<String>, ApiError> {
        let here = |text: &str| {
            if text.parse::<jiff::Timestamp>().is_ok() {
                return Some(text.to_owned());
            }
            let civil: jiff::civil::DateTime = text.replacen(' ', "T", 1).parse().ok()?;
            let zoned = civil.to_zoned(jiff::tz::TimeZone::system()).ok()?;
            Some(zoned.timestamp().to_string())
        };
        self.field("begin", "2026-11-20 22:00", here)
    }

    fn array(&self) -> Result<Option<danlu_wire::api::Array>, ApiError> {
        let array = self.field("array", "0-99, 0-99%4", given::array)?;
        let mut grid = Vec::new();
        for line in self.draft.get("grid").lines().map(str::trim).filter(|line| !line.is_empty()) {
            grid.push(given::axis(line).ok_or_else(|| self.wrong("grid", line, "lr=1e-3,1e-4"))?);
        }
        if array.is_none() && grid.is_empty() {
            return Ok(None);
        }
        Ok(Some(danlu_wire::api::Array { grid, ..array.unwrap_or_default() }))
    }
}

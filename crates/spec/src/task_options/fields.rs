//! From options to the fields of a request: only what was said, so that they can be laid over others.

use danlu_core::{
    TaskId,
    resources::{NodeSelector, Sharing},
    task::{Dependency, PythonEnvironment},
};
use danlu_wire::api::{Submit, TaskView};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{NewTaskOptions, Submitter, TaskOptions};
use crate::{
    complaint::Complaint,
    given::{
        dependency::Wish,
        pair::{Pair, parse_pair},
        task_ids::TaskName,
    },
    language::text,
};

/// Fields of `danlu_wire::api::Submit`.
pub type Fields = Map<String, Value>;

impl TaskOptions {
    pub fn fields<S: Submitter>(&self, submitter: &S) -> Result<Fields, S::Error> {
        self.planned.refuse()?;
        let mut fields = Fields::new();
        self.put_needs(&mut fields);
        self.put_turn(&mut fields, submitter)?;
        self.put_description(&mut fields);
        self.put_manner(&mut fields, submitter)?;
        self.put_output(&mut fields)?;
        Ok(fields)
    }

    fn put_needs(&self, fields: &mut Fields) {
        let needs = &self.needs;
        if let Some(wish) = &needs.gpus {
            put(fields, "gpus", wish.count);
            put(fields, "gpu_model", &wish.model);
        }
        put_given(fields, "nodes", needs.nodes);
        put_given(fields, "gpu_ids", needs.gpu_ids.as_ref().map(|ids| &ids.0));
        put_given(fields, "gpu_memory", needs.vram);
        // One replaces the other when they are laid over a task that has said something else.
        if needs.shared || needs.exclusive {
            put(fields, "shared", needs.shared);
            put(fields, "exclusive", needs.exclusive);
            put(fields, "idle_util", needs.idle_util.unwrap_or(0));
        } else {
            put_given(fields, "idle_util", needs.idle_util);
        }
        put_given(fields, "cpus", needs.cpus);
        put_given(fields, "memory", needs.mem);
        if !needs.resource.is_empty() {
            let named = needs.resource.iter().map(|it| (it.name.clone(), json!(it.count)));
            put(fields, "resources", named.collect::<Fields>());
        }
        put_given(fields, "node", needs.node.as_deref().map(selector));
        put_given(fields, "prefer", needs.prefer.as_deref().map(selector));
        put_given(
            fields,
            "time_limit",
            needs.time.map(crate::given::time_limit::TimeLimit::seconds),
        );
    }

    fn put_turn<S: Submitter>(&self, fields: &mut Fields, submitter: &S) -> Result<(), S::Error> {
        let turn = &self.turn;
        put_given(fields, "priority", turn.priority);
        put_given(fields, "urgent", turn.urgent.then_some(true));
        put_given(fields, "preemptible", turn.preemptible.then_some(true));
        if let Some(retries) = &turn.retries {
            put(fields, "retries", retries.times);
            put(fields, "retry_on", &retries.on);
        }
        put_given(fields, "begin", turn.begin.map(|begin| begin.0.to_string()));
        if let Some(wishes) = &turn.after {
            let after = wishes.0.iter().map(|wish| dependencies(submitter, *wish));
            put(fields, "after", after.collect::<Result<Vec<_>, _>>()?.concat());
        }
        Ok(())
    }

    fn put_description(&self, fields: &mut Fields) {
        let description = &self.description;
        put_given(fields, "name", description.name.as_ref());
        put_given(fields, "description", description.description.as_ref());
        put_given(fields, "project", description.project.as_ref());
        put_pairs(fields, "labels", &description.label);
    }

    fn put_manner<S: Submitter>(&self, fields: &mut Fields, submitter: &S) -> Result<(), S::Error> {
        let manner = &self.manner;
        if let Some(directory) = &manner.dir {
            put(fields, "directory", absolute(submitter, directory)?);
        }
        put_pairs(fields, "variables", &manner.env);
        put_given(fields, "shell", manner.shell.is_some().then_some(true));
        put_given(fields, "shell_program", manner.shell.as_ref().filter(|it| !it.is_empty()));
        put_given(fields, "gpu_argument", manner.gpu_arg.as_ref());
        let conda = manner.conda.clone().map(PythonEnvironment::Conda);
        // Where the submitter is, which need not be where it runs.
        let venv = manner.venv.as_deref().map(|path| absolute(submitter, path)).transpose()?;
        let venv = venv.map(PythonEnvironment::Venv);
        put_given(fields, "python", conda.or(venv));
        put_given(fields, "gpus_by_uuid", manner.gpu_env.as_ref().map(|form| form == "uuid"));
        Ok(())
    }

    fn put_output(&self, fields: &mut Fields) -> Result<(), Complaint> {
        let given = &self.output;
        if given.truncate && given.stdout.is_none() && given.stderr.is_none() {
            return Err(Complaint::usage(text(
                "`--truncate` says what to do with the files of --stdout and --stderr",
                "`--truncate` 用于 --stdout 和 --stderr 的文件",
            ))
            .hint("--stdout FILE --truncate"));
        }
        let mut output = Fields::new();
        put_given(&mut output, "both", given.output.as_ref());
        for (name, target) in [("stdout", &given.stdout), ("stderr", &given.stderr)] {
            put_given(&mut output, name, target.as_ref().map(|it| it.stream(given.truncate)));
        }
        if !output.is_empty() {
            put(fields, "output", output);
        }
        Ok(())
    }
}

impl NewTaskOptions {
    pub fn is_array(&self) -> bool {
        self.array.is_some() || !self.grid.is_empty()
    }

    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new();
        put_given(&mut fields, "hold", self.hold.then_some(true));
        if self.is_array() {
            let mut array = self.array.clone().unwrap_or_default();
            array.grid.clone_from(&self.grid);
            put(&mut fields, "array", array);
        }
        fields
    }
}

/// What is in `over` replaces what is in `base`; labels, variables and output files one by one.
pub fn merge(base: &mut Fields, over: Fields) {
    for (name, value) in over {
        match (base.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) if is_map(&name) => old.extend(new),
            (_, value) => drop(base.insert(name, value)),
        }
    }
}

fn is_map(name: &str) -> bool {
    ["labels", "variables", "output"].contains(&name)
}

/// The fields with which this task could have been submitted, apart from its array and its environment.
pub fn of_task(task: &TaskView) -> Option<Fields> {
    let details = task.details.as_ref()?;
    let request = &details.request;
    let fields = json!({
        "name": task.name,
        "description": details.description,
        "project": task.project,
        "labels": task.labels,
        "command": task.command,
        "shell": task.shell,
        "shell_program": details.shell_program,
        "directory": details.directory,
        "variables": details.variables,
        "gpus": request.gpus_per_node(),
        "nodes": request.nodes,
        "cpus": request.cpus,
        "memory": request.memory,
        "resources": request.resources,
        "gpu_ids": request.gpu_ids,
        "gpu_memory": request.gpu_memory,
        "shared": request.is_shared(),
        "idle_util": match request.sharing {
            Sharing::Shared { idle_utilization } => idle_utilization,
            Sharing::Slot | Sharing::Exclusive => 0,
        },
        "exclusive": request.sharing == Sharing::Exclusive,
        "gpu_model": request.gpu_model,
        "node": request.node,
        "prefer": request.prefer,
        "time_limit": task.time_limit,
        "retries": details.retries,
        "retry_on": details.retry_on,
        "preemptible": details.preemptible,
        "urgent": task.urgent,
        "priority": task.priority,
        "after": details.after,
        "output": details.output,
        "gpu_argument": details.gpu_argument,
        "gpus_by_uuid": details.gpus_by_uuid,
        "python": details.python,
    });
    match fields {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

pub fn submit_body(fields: Fields) -> serde_json::Result<Submit> {
    serde_json::from_value(Value::Object(fields))
}

fn put(fields: &mut Fields, name: &str, value: impl Serialize) {
    let value = serde_json::to_value(value).expect("a field of the API is plain data");
    fields.insert(name.to_owned(), value);
}

fn put_given(fields: &mut Fields, name: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        put(fields, name, value);
    }
}

fn put_pairs(fields: &mut Fields, name: &str, pairs: &[Pair]) {
    if !pairs.is_empty() {
        let map: Fields = pairs.iter().map(|pair| (pair.name.clone(), json!(pair.value))).collect();
        put(fields, name, map);
    }
}

fn selector(given: &str) -> NodeSelector {
    match parse_pair(given) {
        Ok(Pair { name, value }) => NodeSelector::Label { key: name, value },
        Err(_) => NodeSelector::Name(given.to_owned()),
    }
}

fn dependencies<S: Submitter>(submitter: &S, wish: Wish) -> Result<Vec<Dependency>, S::Error> {
    let of = |id| Dependency { task: TaskId(id), kind: wish.kind };
    match wish.on {
        TaskName::Range(first, last) => Ok((first..=last).map(of).collect()),
        one => Ok(vec![of(submitter.task(one)?)]),
    }
}

fn absolute<S: Submitter>(submitter: &S, directory: &str) -> Result<String, S::Error> {
    if directory.starts_with('/') {
        return Ok(directory.to_owned());
    }
    if directory == "~" || directory.starts_with("~/") {
        return Ok(directory.replacen('~', &submitter.home(), 1));
    }
    let path = std::path::Path::new(&submitter.directory()?).join(directory);
    // `a/..` and `./a` read better without the dots; nothing is looked up.
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok(path.into_os_string().into_string().expect("it was put together from text"))
}

#[cfg(test)]
mod tests {
    use super::super::AtHome;
    use super::*;
    use crate::complaint::ComplaintKind;
    use clap::Parser;

    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        options: TaskOptions,
        #[command(flatten)]
        new: NewTaskOptions,
    }

    fn fields(line: &str) -> Result<Fields, Complaint> {
        let line = Line::try_parse_from(line.split_whitespace()).expect("the options are known");
        let mut fields = line.options.fields(&AtHome)?;
        merge(&mut fields, line.new.fields());
        Ok(fields)
    }

    fn check(line: &str, expect: &Value) {
        let fields = fields(line).unwrap_or_else(|failure| panic!("{line}: {failure:?}"));
        assert_eq!(&Value::Object(fields.clone()), expect, "{line}");
        submit_body(fields).unwrap_or_else(|failure| panic!("{line}: {failure:?}"));
    }

    #[test]
    fn what_is_not_said_is_not_sent() {
        check("", &json!({}));
    }

    #[test]
    fn each_option_has_its_field() {
        check("-g 2", &json!({"gpus": 2, "gpu_model": null}));
        check(
            "--gpus=A100:4 --vram 40G",
            &json!({"gpus": 4, "gpu_model": "A100", "gpu_memory": 40_u64 << 30}),
        );
        check("-c 8 --mem 1G -t 90m", &json!({"cpus": 8, "memory": 1 << 30, "time_limit": 5_400}));
        check("-t none", &json!({"time_limit": null}));
        check("-w gpu1", &json!({"node": {"name": "gpu1"}}));
        check("-w rack=7", &json!({"node": {"label": {"key": "rack", "value": "7"}}}));
        check(
            "-p -3 --urgent --preemptible",
            &json!({"priority": -3, "urgent": true, "preemptible": true}),
        );
        check("--retries 2 --hold", &json!({"retries": 2, "retry_on": [], "hold": true}));
        check("--retries 2:cuda_oom", &json!({"retries": 2, "retry_on": ["cuda_oom"]}));
        check("--begin 2026-11-20T22:00:00Z", &json!({"begin": "2026-11-20T22:00:00Z"}));
        check(
            "-d afterok:12,afterany:14",
            &json!({"after": [{"task": 12, "kind": "after_ok"}, {"task": 14, "kind": "after_any"}]}),
        );
        check(
            "-J a --description b --project c",
            &json!({"name": "a", "description": "b", "project": "c"}),
        );
        check("--label a=1 --label b=2", &json!({"labels": {"a": "1", "b": "2"}}));
        check(
            "--dir /tmp --env A=1 --shell",
            &json!({"directory": "/tmp", "variables": {"A": "1"}, "shell": true}),
        );
        check("--shell=/bin/zsh", &json!({"shell": true, "shell_program": "/bin/zsh"}));
        check(
            "--gpu-arg=--gpus= --gpu-env uuid",
            &json!({"gpu_argument": "--gpus=", "gpus_by_uuid": true}),
        );
        check(
            "--grid a=1,2 --array %2",
            &json!({"array": {"indices": [], "at_once": 2, "grid": [{"name": "a", "values": ["1", "2"]}]}}),
        );
        check("--array 0-2%1", &json!({"array": {"indices": [0, 1, 2], "at_once": 1}}));
        check(
            "--exclusive --nodes 1",
            &json!({"nodes": 1, "shared": false, "exclusive": true, "idle_util": 0}),
        );
        check("-N 3 -g 2", &json!({"nodes": 3, "gpus": 2, "gpu_model": null}));
        check("--prefer gpu1", &json!({"prefer": {"name": "gpu1"}}));
        check("--prefer d=a", &json!({"prefer": {"label": {"key": "d", "value": "a"}}}));
        check(
            "--shared --vram 20G --idle-util 50",
            &json!({
                "gpu_memory": 20_u64 << 30, "shared": true, "exclusive": false, "idle_util": 50,
            }),
        );
        check("--resource a:2 --resource b", &json!({"resources": {"a": 2, "b": 1}}));
        check("--conda torch", &json!({"python": {"conda": "torch"}}));
        check("--venv /opt/v", &json!({"python": {"venv": "/opt/v"}}));
    }

    #[test]
    fn output_files() {
        check("--output a", &json!({"output": {"both": "a"}}));
        check("--logpath a/", &json!({"output": {"both": "a/"}}));
        check(
            "--stdout a --stderr stdout",
            &json!({"output": {"stdout": {"append": {"path": "a"}}, "stderr": null}}),
        );
        check("--stderr b --truncate", &json!({"output": {"stderr": {"truncate": {"path": "b"}}}}));
        check("--stdout /dev/null", &json!({"output": {"stdout": "discard"}}));
        assert!(fields("--truncate").is_err());
    }

    #[test]
    fn what_is_not_there_yet_is_refused() {
        let failure = fields("--notify a@b").expect_err("nobody is told yet");
        assert_eq!(failure.kind, ComplaintKind::Refused);
    }

    #[test]
    fn merging_replaces_fields_and_extends_maps() {
        let object = |value: Value| value.as_object().cloned().expect("an object");
        let mut base =
            object(json!({"gpus": 1, "labels": {"a": "1", "b": "1"}, "node": {"name": "x"}}));
        merge(&mut base, object(json!({"gpus": 2, "labels": {"b": "2"}, "node": {"name": "y"}})));
        let expect = json!({"gpus": 2, "labels": {"a": "1", "b": "2"}, "node": {"name": "y"}});
        assert_eq!(Value::Object(base), expect);
    }

    #[test]
    fn the_server_would_refuse_a_field_it_does_not_know() {
        let unknown = json!({"gpu": 1}).as_object().cloned().expect("an object");
        assert!(submit_body(unknown).is_err());
    }
}

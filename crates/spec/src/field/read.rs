//! Parses the text of one field into a patch. Values of repeated options are added to those that the patch has.

use super::ON;
use crate::parse::amount::parse_bytes;
use crate::parse::array::parse_array;
use crate::parse::begin::parse_begin;
use crate::parse::dependency::{UnresolvedDependency, parse_dependencies};
use crate::parse::gpus::{GpuCount, parse_gpu_ids, parse_gpus};
use crate::parse::grid::parse_axis;
use crate::parse::notify::parse_notify;
use crate::parse::pair::{Pair, parse_pair};
use crate::parse::resource::parse_resource;
use crate::parse::retries::{Retries, parse_retries};
use crate::parse::stream::target;
use crate::parse::time_limit::parse_time_limit;
use crate::patch::{Change, Patch};
use danlu_core::resources::NodeSelector;
use danlu_core::task::{PythonEnvironment, Stream};
use danlu_messages::spec as msg;
use std::collections::BTreeMap;
use std::str::FromStr;

type Read = Result<(), String>;

pub(super) fn line(given: &str, said: &mut Change<String>) -> Read {
    *said = Change::Set(given.to_owned());
    Ok(())
}

pub(super) fn number<T: FromStr>(given: &str, said: &mut Change<T>) -> Read {
    let number = given.parse().map_err(|_| msg::expected_whole_number().to_owned())?;
    *said = Change::Set(number);
    Ok(())
}

pub(super) fn switch(said: &mut Change<bool>) -> Read {
    *said = Change::Set(true);
    Ok(())
}

pub(super) fn size(given: &str, said: &mut Change<u64>) -> Read {
    *said = Change::Set(parse_bytes(given)?);
    Ok(())
}

pub(super) fn pair(given: &str, said: &mut Change<BTreeMap<String, String>>) -> Read {
    let Pair { name, value } = parse_pair(given)?;
    said.get_or_default().insert(name, value);
    Ok(())
}

pub(super) fn selector(given: &str, said: &mut Change<NodeSelector>) -> Read {
    *said = Change::Set(match parse_pair(given) {
        Ok(Pair { name, value }) => NodeSelector::Label { key: name, value },
        Err(_) => NodeSelector::Name(given.to_owned()),
    });
    Ok(())
}

pub(super) fn gpus(given: &str, patch: &mut Patch) -> Read {
    let GpuCount { count, model } = parse_gpus(given)?;
    patch.gpus = Change::Set(count);
    patch.gpu_model = model.into();
    Ok(())
}

pub(super) fn gpu_ids(given: &str, patch: &mut Patch) -> Read {
    patch.gpu_ids = Change::Set(parse_gpu_ids(given)?.0);
    Ok(())
}

pub(super) fn nodes(given: &str, patch: &mut Patch) -> Read {
    let number = given
        .parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| msg::expected_positive().to_owned())?;
    patch.nodes = Change::Set(number);
    Ok(())
}

/// One replaces the other when they are laid over a task that has said something else.
pub(super) fn sharing(patch: &mut Patch, is_shared: bool) -> Read {
    patch.shared = Change::Set(is_shared);
    patch.exclusive = Change::Set(!is_shared);
    if patch.idle_util.is_keep() {
        patch.idle_util = Change::Set(0);
    }
    Ok(())
}

pub(super) fn idle_util(given: &str, patch: &mut Patch) -> Read {
    let percent = given
        .parse()
        .ok()
        .filter(|it| *it <= 100)
        .ok_or_else(|| msg::expected_percent().to_owned())?;
    patch.idle_util = Change::Set(percent);
    Ok(())
}

pub(super) fn resource(given: &str, patch: &mut Patch) -> Read {
    let named = parse_resource(given)?;
    patch.resources.get_or_default().insert(named.name, named.count);
    Ok(())
}

pub(super) fn time(given: &str, patch: &mut Patch) -> Read {
    patch.time_limit = parse_time_limit(given)?.seconds().into();
    Ok(())
}

pub(super) fn after(given: &str, patch: &mut Patch) -> Read {
    let wishes = parse_dependencies(given)?.0;
    patch.after = Change::Set(wishes.into_iter().flat_map(UnresolvedDependency::each).collect());
    Ok(())
}

pub(super) fn retries(given: &str, patch: &mut Patch) -> Read {
    let Retries { times, on } = parse_retries(given)?;
    patch.retries = Change::Set(times);
    patch.retry_on = Change::Set(on);
    Ok(())
}

pub(super) fn begin(given: &str, patch: &mut Patch) -> Read {
    patch.begin = Change::Set(parse_begin(given)?.0.to_string());
    Ok(())
}

pub(super) fn notify(given: &str, patch: &mut Patch) -> Read {
    patch.notify.get_or_default().push(parse_notify(given)?);
    Ok(())
}

pub(super) fn conda(given: &str, patch: &mut Patch) -> Read {
    patch.python = Change::Set(PythonEnvironment::Conda(given.to_owned()));
    Ok(())
}

pub(super) fn venv(given: &str, patch: &mut Patch) -> Read {
    patch.python = Change::Set(PythonEnvironment::Venv(given.to_owned()));
    Ok(())
}

/// `--shell`, or `--shell=PROGRAM`.
pub(super) fn shell(given: &str, patch: &mut Patch) -> Read {
    patch.shell = Change::Set(true);
    if !["", ON].contains(&given) {
        patch.shell_program = Change::Set(given.to_owned());
    }
    Ok(())
}

pub(super) fn gpu_env(given: &str, patch: &mut Patch) -> Read {
    let by_uuid = match given {
        "index" => false,
        "uuid" => true,
        _ => return Err(msg::expected_gpu_naming().to_owned()),
    };
    patch.gpus_by_uuid = Change::Set(by_uuid);
    Ok(())
}

pub(super) fn output(given: &str, patch: &mut Patch) -> Read {
    patch.output.get_or_default().both = Change::Set(given.to_owned());
    Ok(())
}

pub(super) fn stdout(given: &str, patch: &mut Patch) -> Read {
    patch.output.get_or_default().stdout = target(given).into();
    Ok(())
}

pub(super) fn stderr(given: &str, patch: &mut Patch) -> Read {
    patch.output.get_or_default().stderr = target(given).into();
    Ok(())
}

/// After the files that it is about.
pub(super) fn truncate(patch: &mut Patch) -> Read {
    let output = patch.output.get_or_default();
    if output.stdout.is_keep() && output.stderr.is_keep() {
        return Err(msg::truncate_needs_files().to_owned());
    }
    for said in [&mut output.stdout, &mut output.stderr] {
        if let Change::Set(Stream::Append { path }) = said {
            *said = Change::Set(Stream::Truncate { path: std::mem::take(path) });
        }
    }
    Ok(())
}

/// As a shell would take it apart.
pub(super) fn command(given: &str, patch: &mut Patch) -> Read {
    let words = shlex::split(given).ok_or_else(|| msg::unclosed_quote().to_owned())?;
    patch.command = Change::Set(words);
    Ok(())
}

pub(super) fn array(given: &str, patch: &mut Patch) -> Read {
    let array = parse_array(given)?;
    let grid = std::mem::take(&mut patch.array.get_or_default().grid);
    patch.array = Change::Set(danlu_wire::api::Array { grid, ..array });
    Ok(())
}

pub(super) fn axis(given: &str, patch: &mut Patch) -> Read {
    patch.array.get_or_default().grid.push(parse_axis(given)?);
    Ok(())
}

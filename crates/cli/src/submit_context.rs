//! What a submitted task inherits from the client: environment, umask and working directory.

use std::env;

use danlu_messages::cli::program as msg;
use danlu_spec::{Patch, Place, input_error::InputError};

use crate::{
    client::Client, failure::Failure, parse::task_ids::TaskName, screen, selection::resolve_one,
};

/// Ours, or of the run that this process is itself part of: not to be handed on.
const NOT_CAPTURED: [&str; 13] = [
    "DANLU_TOKEN",
    "DANLU_AGENT_TOKEN",
    "DANLU_TASK_ID",
    "DANLU_RUN",
    "DANLU_ATTEMPT",
    "DANLU_ARRAY_INDEX",
    "DANLU_GPU_UUIDS",
    "DANLU_NODE",
    "DANLU_NODE_RANK",
    "DANLU_NODES",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "_",
];

/// `NAME=value` each. What is not UTF-8 cannot be sent, and is named.
pub(crate) fn environment() -> Vec<String> {
    let mut captured = Vec::new();
    let mut left_out = Vec::new();
    for (name, value) in env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => {
                if !NOT_CAPTURED.contains(&name.as_str()) && !name.is_empty() {
                    captured.push(format!("{name}={value}"));
                }
            }
            (Ok(name), Err(_)) => left_out.push(name),
            (Err(name), _) => left_out.push(name.to_string_lossy().into_owned()),
        }
    }
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        screen::note(&msg::variables_not_utf_8(&names));
    }
    captured
}

/// Which permissions new files of this process have not. `None` where the kernel does not tell: then the server's usual one is taken.
pub(crate) fn umask() -> Option<u32> {
    // There is no call that only asks, and to set it and back would be seen by other threads.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let given = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(given.trim(), 8).ok().filter(|mask| *mask <= 0o777)
}

/// As the shell names it, so that a path through a link stays one.
pub(crate) fn working_directory() -> Result<String, InputError> {
    let here = env::current_dir().map_err(|cause| {
        InputError::refused(msg::no_working_directory(&cause))
            .hint(msg::go_to_a_directory_that_exists_cd())
    })?;
    let shells = env::var("PWD").ok().filter(|pwd| {
        pwd.starts_with('/') && std::fs::canonicalize(pwd).is_ok_and(|real| real == here)
    });
    match shells {
        Some(directory) => Ok(directory),
        None => here.into_os_string().into_string().map_err(|_| not_utf8()),
    }
}

fn not_utf8() -> InputError {
    InputError::refused(msg::working_directory_not_utf_8()).hint(msg::give_another_with_dir())
}

/// Where the person is who typed this.
pub(crate) fn place() -> Place {
    Place { directory: working_directory(), home: env::var("HOME").unwrap_or_default() }
}

/// With absolute paths and ids; the server is asked only for what `@` stands for.
pub(crate) fn settled(client: &Client, mut patch: Patch) -> Result<Patch, Failure> {
    patch.settle(&place())?;
    patch.resolve_own(|back| own_task(client, back))?;
    Ok(patch)
}

pub(crate) fn own_task(client: &Client, back: u32) -> Result<u64, Failure> {
    resolve_one(client, TaskName::Mine(back))
}

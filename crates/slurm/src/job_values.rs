//! Values of options as Slurm writes them: numbers of nodes and GPUs, megabytes.

use danlu_messages::{slurm as msg, spec as spec_msg};
use danlu_spec::input_error::InputError;
use danlu_spec::parse::amount::parse_bytes_in;

use crate::getopt::Given;

pub(crate) fn invalid(given: &Given, reason: impl AsRef<str>) -> InputError {
    let value = given.value.as_deref().unwrap_or_default();
    let message =
        spec_msg::argument_cannot_be_value_reason(&given.written, &value, &reason.as_ref());
    InputError::usage(message)
}

/// `2`, `2-2`, and `1-4`, of which the least will do.
pub(crate) fn node_count(given: &Given) -> Result<u32, InputError> {
    let text = given.value.as_deref().unwrap_or_default();
    let least = text.split_once('-').map_or(text, |(least, _)| least);
    let least = least.parse().ok().filter(|count| *count > 0);
    least.ok_or_else(|| invalid(given, spec_msg::expected_whole_number()))
}

/// `2`, `a100:2`, `a100`.
pub(crate) fn gpu_count(text: &str) -> Option<(Option<String>, u32)> {
    match text.split_once(':') {
        Some((model, count)) if !model.is_empty() => {
            Some((Some(model.to_owned()), count.parse().ok()?))
        }
        Some(_) => None,
        None => match text.parse() {
            Ok(count) => Some((None, count)),
            Err(_) if text.is_empty() => None,
            Err(_) => Some((Some(text.to_owned()), 1)),
        },
    }
}

/// `gpu`, `gpu:2`, `gpu:a100:2`, with `(S:0)` after it; `none` is nothing.
pub(crate) fn gres(given: &Given, text: &str) -> Result<(Option<String>, u32), InputError> {
    let mut found = (None, 0);
    for part in text.split(',').filter(|part| !part.is_empty() && *part != "none") {
        let part = part.split('(').next().unwrap_or_default();
        let part = part.strip_prefix("gres:").unwrap_or(part);
        found = match part.strip_prefix("gpu") {
            Some("") => (None, 1),
            Some(rest) if rest.starts_with(':') => {
                gpu_count(&rest[1..]).ok_or_else(|| invalid(given, msg::expected_gpus()))?
            }
            Some(_) | None => {
                return Err(InputError::refused(msg::only_gpus_in_gres(&part))
                    .hint("--gres=gpu:2, --gres=gpu:a100:2"));
            }
        };
    }
    Ok(found)
}

/// A number without a unit is megabytes; `GB` is written for `G`.
pub(crate) fn megabytes(given: &Given) -> Result<u64, InputError> {
    let text = given.value.as_deref().unwrap_or_default();
    parse_bytes_in(text, 1 << 20).map_err(|reason| invalid(given, reason))
}

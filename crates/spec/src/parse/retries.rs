//! `--retries`: `3`, or `3:cuda_oom,nccl` for some failures only.

use std::collections::BTreeSet;

use danlu_core::FailureClass;
use danlu_messages::spec as msg;

use super::whole;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    pub times: u32,
    /// Empty: after any failure, as the server is set.
    pub on: BTreeSet<FailureClass>,
}

pub fn parse_retries(given: &str) -> Result<Retries, String> {
    let (times, classes) = given.split_once(':').unwrap_or((given, ""));
    let times = whole(times).ok_or_else(|| msg::bad_retry_count(&times))?;
    let named = classes.split(',').map(str::trim).filter(|name| !name.is_empty());
    let class = |name: &str| {
        FailureClass::from_name(name).ok_or_else(|| {
            let all: Vec<&str> = FailureClass::ALL.iter().map(|class| class.as_str()).collect();
            let all = all.join(" ");
            msg::unknown_failure_class(&name, &all)
        })
    };
    let on = named.map(class).collect::<Result<_, _>>()?;
    Ok(Retries { times, on })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_classes() {
        let on = |classes: &[FailureClass]| classes.iter().copied().collect();
        let some = on(&[FailureClass::CudaOom, FailureClass::Nccl]);
        assert_eq!(parse_retries("3"), Ok(Retries { times: 3, on: on(&[]) }));
        assert_eq!(parse_retries("2:nccl,cuda_oom"), Ok(Retries { times: 2, on: some }));
        for wrong in ["", "x", "-1", "+1", "2:oom", ":nccl", "1.5"] {
            assert!(parse_retries(wrong).is_err(), "{wrong} is accepted");
        }
    }
}

//! Parts that the specs of many tasks have in common are kept in memory once.
//!
//! Whoever submits tasks one by one starts them from one directory, in one environment, with one request: only a few
//! that were seen last are looked at.

use crate::model::resources::Request;
use crate::model::shared::Shared;
use crate::model::task::{LaunchSpec, TaskSpec};
use std::collections::VecDeque;

const LOOKED_AT: usize = 16;

/// How a state is kept, not what it is: any two are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedParts {
    launches: VecDeque<Shared<LaunchSpec>>,
    requests: VecDeque<Shared<Request>>,
}

impl SharedParts {
    pub(crate) fn share(&mut self, spec: &mut TaskSpec) {
        one_of(&mut self.launches, &mut spec.launch);
        one_of(&mut self.requests, &mut spec.request);
    }
}

/// The newest stands first.
fn one_of<T: Eq + Clone>(known: &mut VecDeque<Shared<T>>, part: &mut Shared<T>) {
    match known.iter().position(|it| *it == *part) {
        Some(0) => {}
        Some(place) => {
            let found = known.remove(place);
            found.into_iter().for_each(|it| known.push_front(it));
        }
        None => {
            known.truncate(LOOKED_AT - 1);
            known.push_front(part.clone());
        }
    }
    *part = known[0].clone();
}

impl PartialEq for SharedParts {
    fn eq(&self, _: &SharedParts) -> bool {
        true
    }
}

impl Eq for SharedParts {}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(gpus: u32, directory: &str) -> TaskSpec {
        let launch = LaunchSpec { directory: directory.to_owned(), ..LaunchSpec::default() };
        let (launch, request) = (launch.into(), Request::gpus(gpus).into());
        TaskSpec { launch, request, ..TaskSpec::default() }
    }

    #[test]
    fn equal_parts_are_kept_once() {
        let mut parts = SharedParts::default();
        let (mut first, mut other, mut again) = (spec(1, "/a"), spec(2, "/a"), spec(1, "/a"));
        for spec in [&mut first, &mut other, &mut again] {
            let before = spec.clone();
            parts.share(spec);
            assert_eq!(*spec, before);
        }
        assert!(first.launch.is_same(&other.launch));
        assert!(first.request.is_same(&again.request));
        assert!(!first.request.is_same(&other.request));
    }

    #[test]
    fn only_a_few_are_remembered() {
        let mut parts = SharedParts::default();
        for gpus in 0..100 {
            parts.share(&mut spec(gpus, "/"));
        }
        assert_eq!((parts.requests.len(), parts.launches.len()), (LOOKED_AT, 1));
    }
}

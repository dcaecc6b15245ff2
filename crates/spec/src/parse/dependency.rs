//! Parses `--after afterok:12,13,afterany:14`.

use danlu_core::TaskId;
use danlu_core::task::{Dependency, DependencyKind};
use danlu_messages::spec as msg;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error as _};

use super::task_ids::{TaskName, parse_task_name};

/// A dependency whose task may be written as `@`, which only the server can resolve. In JSON it is a `Dependency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnresolvedDependency {
    pub kind: DependencyKind,
    pub on: TaskName,
}

impl UnresolvedDependency {
    /// `None` for ranges, and for what is not resolved.
    pub fn dependency(self) -> Option<Dependency> {
        match self.on {
            TaskName::Id(id) => Some(Dependency { task: TaskId(id), kind: self.kind }),
            TaskName::Range(..) | TaskName::Mine(_) => None,
        }
    }

    /// One for each task of a range.
    pub fn each(self) -> impl Iterator<Item = UnresolvedDependency> {
        let (range, other) = match self.on {
            TaskName::Range(first, last) => (Some(first..=last), None),
            TaskName::Id(_) | TaskName::Mine(_) => (None, Some(self)),
        };
        let ids = range.into_iter().flatten();
        ids.map(move |id| UnresolvedDependency { on: TaskName::Id(id), ..self }).chain(other)
    }
}

impl From<Dependency> for UnresolvedDependency {
    fn from(Dependency { task, kind }: Dependency) -> UnresolvedDependency {
        UnresolvedDependency { kind, on: TaskName::Id(task.0) }
    }
}

impl Serialize for UnresolvedDependency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let resolved =
            self.dependency().ok_or_else(|| S::Error::custom("a task without its id"))?;
        resolved.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for UnresolvedDependency {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<UnresolvedDependency, D::Error> {
        Dependency::deserialize(deserializer).map(UnresolvedDependency::from)
    }
}

/// One word of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies(pub Vec<UnresolvedDependency>);

pub fn parse_dependencies(given: &str) -> Result<Dependencies, String> {
    let mut dependencies = Vec::new();
    // Ids without a word before them mean "after it succeeded", as people say it.
    let mut kind = DependencyKind::AfterOk;
    for part in given.split(',') {
        // Slurm separates ids by colons as well.
        let mut words = part.split(':');
        let first = words.next().unwrap_or_default();
        let starts_with_a_kind = first.starts_with(|c: char| c.is_ascii_alphabetic());
        if starts_with_a_kind {
            kind = parse_kind(first)?;
        } else {
            dependencies.push(UnresolvedDependency { kind, on: parse_on(first)? });
        }
        let before = dependencies.len();
        for word in words {
            dependencies.push(UnresolvedDependency { kind, on: parse_on(word)? });
        }
        if starts_with_a_kind && dependencies.len() == before {
            return Err(complaint());
        }
    }
    Ok(Dependencies(dependencies))
}

fn parse_kind(word: &str) -> Result<DependencyKind, String> {
    match word {
        "afterok" => Ok(DependencyKind::AfterOk),
        "afterany" => Ok(DependencyKind::AfterAny),
        "afternotok" => Ok(DependencyKind::AfterNotOk),
        _ => Err(complaint()),
    }
}

fn parse_on(word: &str) -> Result<TaskName, String> {
    if word.is_empty() { Err(complaint()) } else { parse_task_name(word) }
}

fn complaint() -> String {
    msg::expected_dependency().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyKind::{AfterAny, AfterNotOk, AfterOk};
    use TaskName::{Id, Mine, Range};

    #[test]
    fn a_kind_holds_until_the_next_one() {
        let check = |given, expect: &[(DependencyKind, TaskName)]| {
            let expect =
                expect.iter().map(|&(kind, on)| UnresolvedDependency { kind, on }).collect();
            assert_eq!(parse_dependencies(given), Ok(Dependencies(expect)), "{given}");
        };
        check("12", &[(AfterOk, Id(12))]);
        check("afterok:12", &[(AfterOk, Id(12))]);
        check(
            "afterok:12,13,afterany:14",
            &[(AfterOk, Id(12)), (AfterOk, Id(13)), (AfterAny, Id(14))],
        );
        check(
            "afterok:12:13,afternotok:14",
            &[(AfterOk, Id(12)), (AfterOk, Id(13)), (AfterNotOk, Id(14))],
        );
        check("afterany:@,3-5", &[(AfterAny, Mine(0)), (AfterAny, Range(3, 5))]);
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in [
            "",
            "afterok",
            "afterok:",
            "after:12",
            "singleton",
            "afterok:x",
            "12,",
            "afterok:1?afterok:2",
            "afterok,12",
        ] {
            assert!(parse_dependencies(wrong).is_err(), "{wrong} is accepted");
        }
    }
}

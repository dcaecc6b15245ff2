//! Who describes a task, and where: what `@`, `~` and relative paths stand for.

use crate::complaint::Complaint;
use crate::given::task_ids::TaskName;

/// A person at a shell, or one at the page.
pub trait Submitter {
    type Error: From<Complaint>;

    fn directory(&self) -> Result<String, Self::Error>;
    fn home(&self) -> String;
    fn task(&self, name: TaskName) -> Result<u64, Self::Error>;

    /// The same error, with words before its sentence that say where.
    fn at(place: &str, error: Self::Error) -> Self::Error;
}

#[cfg(test)]
pub(crate) mod at_home {
    use super::*;

    /// Somebody in `/home/ann`, whose last task is 7.
    pub(crate) struct AtHome;

    impl Submitter for AtHome {
        type Error = Complaint;

        fn directory(&self) -> Result<String, Complaint> {
            Ok(self.home())
        }

        fn home(&self) -> String {
            "/home/ann".to_owned()
        }

        fn task(&self, name: TaskName) -> Result<u64, Complaint> {
            match name {
                TaskName::Id(id) => Ok(id),
                TaskName::Mine(0) => Ok(7),
                _ => Err(Complaint::refused("there is no such task")),
            }
        }

        fn at(place: &str, error: Complaint) -> Complaint {
            error.at(place)
        }
    }
}

//! `#SBATCH --mail-type` and `--mail-user`: who is told of what, once all lines are read.

use crate::input_error::InputError;
use crate::patch::{Change, Patch};
use danlu_core::notify_rule::{NotifyMoment, NotifyRule};
use danlu_messages::spec as msg;
use std::collections::BTreeSet;

/// What the lines so far say; of what is repeated, the last one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mail {
    types: Option<BTreeSet<NotifyMoment>>,
    users: Vec<String>,
}

use NotifyMoment::{End, Expiring, Fail, Requeue, Start};

impl Mail {
    /// `END,FAIL`, `ALL`, `NONE` and so on.
    pub fn set_types(&mut self, list: &str) -> Result<(), InputError> {
        let mut moments = BTreeSet::new();
        for name in list.split(',').map(str::trim) {
            let of_name: &[NotifyMoment] = match name.to_ascii_uppercase().as_str() {
                "NONE" => &[],
                "BEGIN" => &[Start],
                "END" => &[End],
                "FAIL" | "INVALID_DEPEND" | "TIME_LIMIT" => &[Fail],
                "REQUEUE" => &[Requeue],
                "ALL" => &[Start, End, Requeue],
                // One message before the end, whichever part of the time is named.
                "TIME_LIMIT_90" | "TIME_LIMIT_80" | "TIME_LIMIT_50" => &[Expiring],
                // Many elements of an array are told of in one message anyway.
                "ARRAY_TASKS" => &[],
                _ => {
                    let message = msg::what_is_not_supported(&format!("--mail-type={name}"));
                    return Err(InputError::refused(message).hint(msg::known_mail_types()));
                }
            };
            moments.extend(of_name);
        }
        self.types = Some(moments);
        Ok(())
    }

    pub fn set_users(&mut self, list: &str) -> Result<(), InputError> {
        let users = list.split(',').map(str::trim).filter(|user| !user.is_empty());
        let users: Vec<String> = users.map(str::to_owned).collect();
        if let Some(name) = users.iter().find(|user| !user.contains('@')) {
            let message = msg::what_is_not_supported(&format!("--mail-user={name}"));
            return Err(InputError::refused(message).hint(msg::write_an_address()));
        }
        self.users = users;
        Ok(())
    }

    pub fn lay_over(&mut self, over: Mail) {
        if over.types.is_some() {
            self.types = over.types;
        }
        if !over.users.is_empty() {
            self.users = over.users;
        }
    }

    /// Without a type there is no mail, as with Slurm; a `#DANLU --notify` counts more.
    pub fn put_into(self, patch: &mut Patch) {
        let Some(on) = self.types.filter(|_| !patch.notify.is_change()) else { return };
        let to = |to| NotifyRule { on: on.clone(), to };
        patch.notify = Change::Set(match self.users.is_empty() || on.is_empty() {
            true => vec![to(None)],
            false => self.users.into_iter().map(|user| to(Some(user))).collect(),
        });
    }
}

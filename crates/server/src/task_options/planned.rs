//! Options of the contract that are not there yet. They are refused, never ignored.

use clap::Args;
use danlu_messages::spec as msg;

use crate::complaint::Complaint;

#[derive(Debug, Default, Args)]
pub(super) struct Planned {
    #[arg(long, hide = true)]
    notify: Vec<String>,
}

impl Planned {
    pub(super) fn refuse(&self) -> Result<(), Complaint> {
        let given = [("--notify", !self.notify.is_empty(), msg::leave_it_out())];
        match given.into_iter().find(|(_, is_given, _)| *is_given) {
            None => Ok(()),
            Some((flag, _, hint)) => {
                Err(Complaint::refused(msg::flag_is_not_there_yet(&flag)).hint(hint))
            }
        }
    }
}

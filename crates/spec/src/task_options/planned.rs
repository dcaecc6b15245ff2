//! Options of the contract that are not there yet. They are refused, never ignored.

use clap::Args;

use crate::{
    complaint::Complaint,
    language::{say, text},
};

#[derive(Debug, Default, Args)]
pub(super) struct Planned {
    #[arg(long, hide = true)]
    notify: Vec<String>,
}

impl Planned {
    pub(super) fn refuse(&self) -> Result<(), Complaint> {
        let given = [("--notify", !self.notify.is_empty(), LEAVE_OUT)];
        match given.into_iter().find(|(_, is_given, _)| *is_given) {
            None => Ok(()),
            Some((flag, _, (english, chinese))) => {
                Err(Complaint::refused(say!("`{flag}` is not there yet", "暂不支持 `{flag}`"))
                    .hint(text(english, chinese)))
            }
        }
    }
}

type Hint = (&'static str, &'static str);

const LEAVE_OUT: Hint = ("leave it out", "请去掉它");

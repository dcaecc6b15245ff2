//! Options of the contract that are not there yet. They are refused, never ignored.

use clap::Args;

use crate::{
    complaint::Complaint,
    language::{say, text},
};

#[derive(Debug, Default, Args)]
pub(super) struct Planned {
    #[arg(long, hide = true)]
    nodes: Option<String>,
    #[arg(long, hide = true)]
    notify: Vec<String>,
}

impl Planned {
    pub(super) fn refuse(&self) -> Result<(), Complaint> {
        let given = [
            ("--nodes", self.nodes.as_ref().is_some_and(|count| count != "1"), ONE_MACHINE),
            ("--notify", !self.notify.is_empty(), LEAVE_OUT),
        ];
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

const ONE_MACHINE: Hint =
    ("a task runs on one machine: leave it out", "任务只在一台机器上运行：请去掉它");
const LEAVE_OUT: Hint = ("leave it out", "请去掉它");

//! Changes of the output files: both streams, stdout and stderr can be changed independently.

use super::Change;
use danlu_core::task::{Output, Stream};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputPatch {
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub both: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub stdout: Change<Stream>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub stderr: Change<Stream>,
}

impl OutputPatch {
    pub fn whole(self) -> Output {
        Output {
            both: self.both.into_value(),
            stdout: self.stdout.into_value(),
            stderr: self.stderr.into_value(),
        }
    }

    pub(super) fn lay_over(&mut self, over: OutputPatch) {
        lay(&mut self.both, over.both);
        lay(&mut self.stdout, over.stdout);
        lay(&mut self.stderr, over.stderr);
    }

    pub(super) fn without_defaults(self) -> OutputPatch {
        OutputPatch {
            both: self.both.value_or_keep(),
            stdout: self.stdout.value_or_keep(),
            stderr: self.stderr.value_or_keep(),
        }
    }
}

impl From<Output> for OutputPatch {
    fn from(output: Output) -> OutputPatch {
        OutputPatch {
            both: output.both.into(),
            stdout: output.stdout.into(),
            stderr: output.stderr.into(),
        }
    }
}

fn lay<T>(under: &mut Change<T>, over: Change<T>) {
    if over.is_change() {
        *under = over;
    }
}

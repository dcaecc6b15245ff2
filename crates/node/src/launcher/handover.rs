//! Hands an order from the agent to a shim in a memory file: the environment of a user must be readable by no other process and never
//! reach a disk. The environment is large plain text, so it follows the JSON unencoded.

use danlu_wire::LaunchOrder;
use danlu_wire::frame::FRAME_BYTES;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

/// An order whose environment has not been taken apart.
#[derive(Debug)]
pub(crate) struct Handover {
    pub(crate) order: LaunchOrder,
    /// Variables, each with a zero byte after it.
    pub(crate) environment: String,
}

/// Takes the order for a moment, and gives it back as it was.
pub(super) fn write(order: &mut LaunchOrder) -> io::Result<File> {
    let environment = std::mem::take(&mut order.environment);
    let encoded = serde_json::to_vec(order);
    order.environment = environment;
    let mut content = encoded?;
    content.push(b'\n');
    for variable in &order.environment.0 {
        content.extend_from_slice(variable.as_bytes());
        content.push(0);
    }
    if content.len() > FRAME_BYTES {
        return Err(io::Error::other("the order is too large"));
    }
    let mut file = File::from(memfd_create(c"danlu order", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(&content)?;
    Ok(file)
}

pub(crate) fn read(file: &File) -> io::Result<Handover> {
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut content = vec![0; length.min(FRAME_BYTES)];
    file.read_exact_at(&mut content, 0)?;
    let content = String::from_utf8(content).map_err(io::Error::other)?;
    // JSON on one line has no line end in it.
    let (order, environment) = content.split_once('\n').unwrap_or((&content, ""));
    Ok(Handover { order: serde_json::from_str(order)?, environment: environment.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::{Epoch, RunId, TaskId};
    use danlu_wire::launch::{Command, Environment};

    #[test]
    fn order_arrives_whole() {
        let run = RunId { epoch: Epoch(1), number: 2 };
        let command = Command::Argv(vec!["a\nb".into(), String::new()]);
        let mut order = LaunchOrder::new(run, TaskId(3), command, "/tmp");
        order.environment = Environment(vec!["A=1\n2".into(), "B=".into()]);
        let before = order.clone();
        let handed = read(&write(&mut order).unwrap()).unwrap();
        assert_eq!(order, before);
        assert_eq!(handed.environment, "A=1\n2\0B=\0");
        assert_eq!(LaunchOrder { environment: before.environment.clone(), ..handed.order }, before);
    }
}

//! Which launch errors are trouble of the machine, and which are failures of the task.

use danlu_core::TroubleKind;
use danlu_wire::rundir::{LaunchFailure, LaunchStage};
use nix::errno::Errno;

/// `None` where it may be the task's own doing.
pub(crate) fn kind(failure: &LaunchFailure) -> Option<TroubleKind> {
    let ours = match failure.stage {
        LaunchStage::RunDirectory | LaunchStage::Process | LaunchStage::Cgroup => true,
        // With the limits, and on the disks, of the user.
        LaunchStage::User
        | LaunchStage::Directory
        | LaunchStage::Stdout
        | LaunchStage::Stderr
        | LaunchStage::Command
        | LaunchStage::Environment
        | LaunchStage::Interpreter => false,
    };
    match Errno::from_raw(failure.errno) {
        // Of all processes together.
        Errno::ENFILE => Some(TroubleKind::Descriptors),
        Errno::EMFILE | Errno::ETOOMANYREFS if ours => Some(TroubleKind::Descriptors),
        Errno::EAGAIN if ours => Some(TroubleKind::Processes),
        Errno::ENOMEM | Errno::ENOBUFS if ours => Some(TroubleKind::Memory),
        Errno::ENOSPC | Errno::EDQUOT if ours => Some(TroubleKind::DiskFull),
        Errno::EROFS | Errno::EIO if ours => Some(TroubleKind::Disk),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_the_machines_and_a_full_quota_the_users() {
        let kind = |stage, errno: Errno| kind(&LaunchFailure { stage, errno: errno as i32 });
        use LaunchStage::{Command, Process, RunDirectory, Stdout};
        assert_eq!(kind(RunDirectory, Errno::ENOSPC), Some(TroubleKind::DiskFull));
        assert_eq!(kind(Stdout, Errno::EDQUOT), None);
        assert_eq!(kind(Process, Errno::EMFILE), Some(TroubleKind::Descriptors));
        assert_eq!(kind(Command, Errno::ENFILE), Some(TroubleKind::Descriptors));
        assert_eq!(kind(Command, Errno::EAGAIN), None);
        assert_eq!(kind(Process, Errno::EPERM), None);
    }
}

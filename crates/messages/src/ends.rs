//! How a run has ended, and what proves it.

use danlu_core::failure::{Failure, FailureClass};
use danlu_core::run::{Exit, RunUsage};

pub fn exit(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => exit_code(code),
        Exit::Signal(signal) => killed_by_signal(signal),
        Exit::TimedOut => timed_out().to_owned(),
        Exit::Launch { message } => message.clone(),
        Exit::NeverStarted => never_started().to_owned(),
        Exit::Vanished { rebooted: true } => rebooted().to_owned(),
        Exit::Vanished { rebooted: false } => vanished().to_owned(),
        Exit::Abandoned => abandoned().to_owned(),
        Exit::Trouble(trouble) => machine_could_not_start_it(&trouble.detail),
        Exit::NoRecord => no_record().to_owned(),
    }
}

/// What the run or the kernel has printed stays as it is; the rest is said by its exit and by what it has used.
pub fn evidence(failure: &Failure, how: &Exit, used: &RunUsage) -> String {
    let printed = printed(&failure.evidence, how);
    match failure.class {
        FailureClass::Preempted => preempted().to_owned(),
        FailureClass::Idle => idle().to_owned(),
        FailureClass::HostOom if printed.is_empty() => match used.oom_kills {
            Some(1) => oom_killed_one().to_owned(),
            Some(kills @ 2..) => oom_killed(&kills),
            Some(0) | None => exit(how),
        },
        // The last line is not what happened, but may tell.
        FailureClass::Other | FailureClass::Killed | FailureClass::CommandNotFound
            if !printed.is_empty() =>
        {
            format!("{}: {printed}", exit(how))
        }
        FailureClass::Other
        | FailureClass::Killed
        | FailureClass::CommandNotFound
        | FailureClass::Launch
        | FailureClass::CudaOom
        | FailureClass::HostOom
        | FailureClass::Nccl
        | FailureClass::GpuHardware
        | FailureClass::Timeout
        | FailureClass::PythonException
        | FailureClass::EnvMissing
        | FailureClass::DiskFull
        | FailureClass::NodeLost => match printed {
            "" => exit(how),
            printed => printed.to_owned(),
        },
    }
}

/// What was printed, without the words that 0.1.0 has stored before it and that its agents send.
fn printed<'a>(stored: &'a str, how: &Exit) -> &'a str {
    let words = match how {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
        Exit::TimedOut => "the time limit was reached".to_owned(),
        Exit::Launch { message } => message.clone(),
        Exit::NeverStarted => "never started".to_owned(),
        Exit::Vanished { rebooted: true } => "its machine was rebooted".to_owned(),
        Exit::Vanished { rebooted: false } => "it vanished without a result".to_owned(),
        Exit::Abandoned => "given up while its node was away".to_owned(),
        Exit::Trouble(trouble) => format!("the machine could not start it: {}", trouble.detail),
        Exit::NoRecord => "its record on the machine is gone".to_owned(),
    };
    match stored.strip_prefix(&words) {
        Some("") => "",
        Some(rest) => rest.strip_prefix(": ").unwrap_or(stored),
        None => stored,
    }
}

messages! {
    exit_code(code) = "exit code {code}", "退出码 {code}";
    killed_by_signal(signal) = "killed by signal {signal}", "被信号 {signal} 终止";
    timed_out = "time limit reached", "已达到时限";
    never_started = "never started", "未曾启动";
    rebooted = "its machine was rebooted", "所在机器已重启";
    vanished = "its processes disappeared without an exit code", "进程消失，没有退出码";
    abandoned = "abandoned while its machine was unreachable", "在机器失联期间被放弃";
    machine_could_not_start_it(detail) = "the machine could not start it: {detail}", "机器无法启动它：{detail}";
    no_record = "its record on the machine is missing", "机器上的运行记录已丢失";
    idle = "stopped because it held GPUs and did not use them", "因占用 GPU 却不使用而被停止";
    preempted = "stopped to make room for other tasks", "为其他任务让出资源而停止";
    oom_killed_one = "the kernel killed 1 of its processes: out of memory", "内核因内存不足终止了它的 1 个进程";
    oom_killed(kills) = "the kernel killed {kills} of its processes: out of memory", "内核因内存不足终止了它的 {kills} 个进程";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language::{Chinese, English};

    #[track_caller]
    fn check(class: FailureClass, stored: &str, how: &Exit, english: &str, chinese: &str) {
        let failure = Failure::new(class, stored);
        let used = RunUsage { oom_kills: Some(2), ..RunUsage::default() };
        let told = || evidence(&failure, how, &used);
        assert_eq!(English.within(told), english);
        assert_eq!(Chinese.within(told), chinese);
    }

    #[test]
    fn what_was_printed_is_quoted_and_the_exit_is_worded() {
        let (other, oom) = (FailureClass::Other, FailureClass::HostOom);
        check(other, "", &Exit::Code(3), "exit code 3", "退出码 3");
        check(other, "why", &Exit::Code(3), "exit code 3: why", "退出码 3: why");
        let killed = "the kernel killed 2 of its processes: out of memory";
        check(oom, "", &Exit::Signal(9), killed, "内核因内存不足终止了它的 2 个进程");
        let kernel = "Out of memory: Killed process 4711 (python)";
        check(oom, kernel, &Exit::Signal(9), kernel, kernel);
        let preempted = "stopped to make room for other tasks";
        let gone = FailureClass::Preempted;
        check(gone, "", &Exit::Signal(15), preempted, "为其他任务让出资源而停止");
        let message = || "no such file".to_owned();
        let launch = Exit::Launch { message: message() };
        check(FailureClass::Launch, &message(), &launch, "no such file", "no such file");
    }

    #[test]
    fn what_0_1_0_has_stored_is_not_said_twice() {
        let (other, killed) = (FailureClass::Other, FailureClass::Killed);
        check(other, "exit code 3: why", &Exit::Code(3), "exit code 3: why", "退出码 3: why");
        check(other, "exit code 3", &Exit::Code(3), "exit code 3", "退出码 3");
        let signal = Exit::Signal(9);
        check(killed, "ended by signal 9", &signal, "killed by signal 9", "被信号 9 终止");
        let gone = Exit::Vanished { rebooted: true };
        let english = "its machine was rebooted";
        check(killed, english, &gone, english, "所在机器已重启");
        let preempted = "stopped to make room for other tasks";
        let class = FailureClass::Preempted;
        check(class, "stopped for others", &signal, preempted, "为其他任务让出资源而停止");
    }
}

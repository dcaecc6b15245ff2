//! Ends of real logs and the class that each must get.

use super::{Clues, diagnose};
use crate::model::failure::{Failure, FailureClass};
use crate::model::run::Exit;

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn check(exit: Exit, log: &str, class: FailureClass, evidence: &str) {
    let found = diagnose(&exit, &Clues { log, ..Clues::default() }).expect("it has failed");
    assert_eq!(found.class, class, "{found:?}");
    assert!(found.evidence.contains(evidence), "{found:?}");
}

#[track_caller]
fn line(log: &str, class: FailureClass) {
    check(Exit::Code(1), log, class, log.trim());
}

fn traceback(last: &str) -> String {
    format!(
        "epoch 3: 100%|##########| 391/391 [00:41<00:00]\r\n\
         Traceback (most recent call last):\n  \
           File \"/home/ann/train.py\", line 88, in <module>\n    \
             main()\n  \
           File \"/home/ann/train.py\", line 61, in main\n    \
             loss.backward()\n    \
             ^^^^^^^^^^^^^^^\n\
         {last}\n"
    )
}

#[track_caller]
fn raised(last: &str, class: FailureClass) {
    check(Exit::Code(1), &traceback(last), class, last);
}

#[test]
fn gpu_memory_of_every_framework() {
    let class = FailureClass::CudaOom;
    raised(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.12 GiB is free.",
        class,
    );
    raised(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.71 GiB already allocated)",
        class,
    );
    raised(
        "RuntimeError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 1; 7.93 GiB total capacity)",
        class,
    );
    raised("RuntimeError: CUDA error: out of memory", class);
    raised(
        "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/THCGeneral.cpp:47",
        class,
    );
    raised("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 4.00 GiB.", class);
    raised(
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        class,
    );
    raised(
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[256,1024,14,14] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]",
        class,
    );
    raised(
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.",
        class,
    );
    raised(
        "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 0 bytes).",
        class,
    );
    line(
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8148.38 MiB on device 0: cudaMalloc failed: out of memory",
        class,
    );
    let aborted = "terminate called after throwing an instance of 'c10::OutOfMemoryError'\n  what():  CUDA out of memory. Tried to allocate 1.50 GiB.\n";
    check(Exit::Signal(6), aborted, class, "Tried to allocate 1.50 GiB");
}

#[test]
fn memory_of_the_machine() {
    let class = FailureClass::HostOom;
    raised("MemoryError", class);
    raised(
        "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 745. GiB for an array with shape (100000000000,) and data type float64",
        class,
    );
    raised(
        "RuntimeError: [enforce fail at alloc_cpu.cpp:83] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000 bytes.",
        class,
    );
    raised("OSError: [Errno 12] Cannot allocate memory", class);
    line("terminate called after throwing an instance of 'std::bad_alloc'", class);
    let clues = Clues { oom_kills: 1, log: &traceback("KeyError: 'x'"), kernel: None };
    assert_eq!(diagnose(&Exit::Code(1), &clues).map(|it| it.class), Some(class));
    let kernel = Failure::new(class, "Out of memory: Killed process 4711 (python)");
    let clues = Clues { kernel: Some(&kernel), ..Clues::default() };
    assert_eq!(diagnose(&Exit::Signal(9), &clues), Some(kernel));
}

#[test]
fn cards_that_break_and_cards_that_do_not_hear_each_other() {
    raised(
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        FailureClass::GpuHardware,
    );
    line(
        "Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost. Reboot the system to recover this GPU",
        FailureClass::GpuHardware,
    );
    raised(
        "torch.distributed.DistBackendError: NCCL error in: /opt/pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled system error, NCCL version 2.19.3",
        FailureClass::Nccl,
    );
    line(
        "[E ProcessGroupNCCL.cpp:475] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800203 milliseconds before timing out.",
        FailureClass::Nccl,
    );
    line("RuntimeError: NCCL communicator was aborted on rank 1.", FailureClass::Nccl);
}

#[test]
fn what_is_not_there() {
    raised("ModuleNotFoundError: No module named 'transformers'", FailureClass::EnvMissing);
    raised(
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        FailureClass::EnvMissing,
    );
    line("/usr/bin/python3: No module named torch.distributed.run", FailureClass::EnvMissing);
    line(
        "EnvironmentNameNotFound: Could not find conda environment: torch2",
        FailureClass::EnvMissing,
    );
    line(
        "./a.out: error while loading shared libraries: libcudnn.so.8: cannot open shared object file: No such file or directory",
        FailureClass::EnvMissing,
    );
    line("bash: /home/ann/venv/bin/activate: No such file or directory", FailureClass::EnvMissing);
    check(
        Exit::Code(127),
        "sh: 1: no-such-command: not found\n",
        FailureClass::CommandNotFound,
        "sh: 1: no-such-command: not found",
    );
    check(
        Exit::Code(2),
        "python: can't open file '/home/ann/trian.py': [Errno 2] No such file or directory\n",
        FailureClass::CommandNotFound,
        "trian.py",
    );
}

#[test]
fn a_full_disk() {
    raised(
        "OSError: [Errno 28] No space left on device: '/data/ckpt/step_100.pt'",
        FailureClass::DiskFull,
    );
    raised("OSError: [Errno 122] Disk quota exceeded", FailureClass::DiskFull);
    line("cp: error writing '/data/x': No space left on device", FailureClass::DiskFull);
}

#[test]
fn any_other_exception_is_named() {
    raised("KeyError: 'train'", FailureClass::PythonException);
    raised(
        "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
        FailureClass::PythonException,
    );
    raised("AssertionError", FailureClass::PythonException);
    raised("__main__.Diverged: loss is nan", FailureClass::PythonException);
}

#[test]
fn what_was_caught_is_not_the_cause() {
    let caught =
        traceback("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.");
    let log = format!("{caught}smaller batch: 16\n{}", traceback("KeyError: 'lr'"));
    check(Exit::Code(1), &log, FailureClass::PythonException, "KeyError: 'lr'");
    // Raised again by hand: both are of one failure, and the first tells more.
    let chained = format!(
        "{caught}\nDuring handling of the above exception, another exception occurred:\n\n{}",
        traceback("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.")
    );
    check(Exit::Code(1), &chained, FailureClass::CudaOom, "allocate 1.00 GiB");
}

#[test]
fn the_cause_of_several_processes_is_the_gravest() {
    let oom = "[rank1]: Traceback (most recent call last):\n\
               [rank1]:   File \"train.py\", line 9, in <module>\n\
               [rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
    let echo = "[rank0]: Traceback (most recent call last):\n\
                [rank0]:   File \"train.py\", line 12, in <module>\n\
                [rank0]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:219, remote process exited\n";
    let end = "Traceback (most recent call last):\n  File \"/usr/bin/torchrun\", line 8, in <module>\n\
               torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n";
    for log in [format!("{oom}{echo}{end}"), format!("{echo}{oom}{end}")] {
        check(Exit::Code(1), &log, FailureClass::CudaOom, "Tried to allocate 2.00 GiB");
    }
    check(Exit::Code(1), &format!("{echo}{end}"), FailureClass::Nccl, "remote process");
    check(Exit::Code(1), end, FailureClass::PythonException, "ChildFailedError");
}

#[test]
fn an_exit_alone_tells_something_too() {
    let check = |exit: Exit, log: &str, class, evidence: &str| {
        let found = diagnose(&exit, &Clues { log, ..Clues::default() });
        assert_eq!(found, Some(Failure::new(class, evidence)));
    };
    check(Exit::Code(3), "", FailureClass::Other, "");
    check(Exit::Code(3), "loss 0.3\nwhy\n\n", FailureClass::Other, "why");
    check(Exit::Signal(11), "loss 0.3\n", FailureClass::Killed, "loss 0.3");
    check(Exit::Signal(9), "CUDA out of memory", FailureClass::Killed, "");
    check(Exit::Code(137), "Killed\n", FailureClass::Killed, "");
    check(Exit::TimedOut, "CUDA out of memory", FailureClass::Timeout, "");
    assert_eq!(
        diagnose(&Exit::Code(0), &Clues { log: "No space left on device", ..Clues::default() }),
        None
    );
}

#[test]
fn evidence_is_one_short_line() {
    let long = format!("RuntimeError: \u{1b}[31mCUDA out of memory\u{7}. {}", "x".repeat(5000));
    let found =
        diagnose(&Exit::Code(1), &Clues { log: &long, ..Clues::default() }).expect("failed");
    assert_eq!(found.evidence.chars().count(), 300);
    assert!(!found.evidence.contains(char::is_control));
}

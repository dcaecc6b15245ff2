//! Patterns of error output, by failure class.

use crate::model::failure::FailureClass;

/// A line proves a class when it has all the pieces of one entry, in any case.
const PATTERNS: &[(FailureClass, &[&str])] = &[
    (FailureClass::GpuHardware, &["uncorrectable ecc error"]),
    (FailureClass::GpuHardware, &["uncorrectable nvlink error"]),
    (FailureClass::GpuHardware, &["fallen off the bus"]),
    (FailureClass::GpuHardware, &["gpu is lost"]),
    (FailureClass::GpuHardware, &["cudaerrordevicesunavailable"]),
    (FailureClass::CudaOom, &["cuda out of memory"]),
    (FailureClass::CudaOom, &["hip out of memory"]),
    (FailureClass::CudaOom, &["cuda error", "out of memory"]),
    (FailureClass::CudaOom, &["cuda runtime error", "out of memory"]),
    (FailureClass::CudaOom, &["hip error", "out of memory"]),
    (FailureClass::CudaOom, &["cuda_error_out_of_memory"]),
    (FailureClass::CudaOom, &["cudaerrormemoryallocation"]),
    (FailureClass::CudaOom, &["cudamalloc", "out of memory"]),
    (FailureClass::CudaOom, &["resource_exhausted", "out of memory"]),
    (FailureClass::CudaOom, &["resourceexhaustederror", "oom when allocating"]),
    (FailureClass::CudaOom, &["oom when allocating tensor", "device:gpu"]),
    (FailureClass::CudaOom, &["cupy", "outofmemoryerror"]),
    (FailureClass::CudaOom, &["cublas_status_alloc_failed"]),
    (FailureClass::CudaOom, &["cudnn_status_alloc_failed"]),
    (FailureClass::HostOom, &["defaultcpuallocator", "allocate memory"]),
    (FailureClass::HostOom, &["unable to allocate", "for an array with shape"]),
    (FailureClass::HostOom, &["std::bad_alloc"]),
    (FailureClass::HostOom, &["cannot allocate memory"]),
    (FailureClass::HostOom, &["java.lang.outofmemoryerror"]),
    (FailureClass::HostOom, &["out of shared memory"]),
    (FailureClass::HostOom, &["oom-kill"]),
    (FailureClass::DiskFull, &["no space left on device"]),
    (FailureClass::DiskFull, &["disk quota exceeded"]),
    (FailureClass::DiskFull, &["[errno 28]"]),
    (FailureClass::EnvMissing, &["error while loading shared libraries"]),
    (FailureClass::EnvMissing, &["environmentnamenotfound"]),
    (FailureClass::EnvMissing, &["environmentlocationnotfound"]),
    (FailureClass::EnvMissing, &["could not find conda environment"]),
    (FailureClass::EnvMissing, &["/bin/activate", "no such file"]),
    (FailureClass::EnvMissing, &["glibc", "not found (required by"]),
    (FailureClass::EnvMissing, &["no module named"]),
    (FailureClass::Nccl, &["ncclunhandledcudaerror"]),
    (FailureClass::Nccl, &["ncclsystemerror"]),
    (FailureClass::Nccl, &["ncclinternalerror"]),
    (FailureClass::Nccl, &["ncclremoteerror"]),
    (FailureClass::Nccl, &["ncclinvalidusage"]),
    (FailureClass::Nccl, &["nccl error"]),
    (FailureClass::Nccl, &["nccl failure"]),
    (FailureClass::Nccl, &["nccl communicator was aborted"]),
    (FailureClass::Nccl, &["watchdog caught collective operation timeout"]),
    (FailureClass::CommandNotFound, &[": command not found"]),
    (FailureClass::CommandNotFound, &["can't open file", "no such file or directory"]),
];

/// Python says these at the beginning of a line.
const BEGINNINGS: &[(FailureClass, &str)] = &[
    (FailureClass::EnvMissing, "modulenotfounderror"),
    (FailureClass::EnvMissing, "importerror"),
    (FailureClass::HostOom, "memoryerror"),
    (FailureClass::CudaOom, "torch.outofmemoryerror"),
    (FailureClass::CudaOom, "torch.cuda.outofmemoryerror"),
];

pub(super) fn class_of_line(line: &str) -> Option<FailureClass> {
    let line = line.to_ascii_lowercase();
    let begins = BEGINNINGS.iter().find(|(_, start)| line.starts_with(start));
    let has_all = |pieces: &[&str]| pieces.iter().all(|piece| line.contains(piece));
    let found = begins.map(|(class, _)| *class);
    found.or_else(|| PATTERNS.iter().find(|(_, it)| has_all(it)).map(|(class, _)| *class))
}

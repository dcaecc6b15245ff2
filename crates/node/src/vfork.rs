//! Starts a child in the memory of its parent, which is suspended until the child has executed a program or ended.
//!
//! A fork copies all page tables, and then every page that one of the two writes to, for a child that discards them a moment later:
//! half of the cost of starting a short task. C libraries start programs in this way too, but their interface lacks some of the steps
//! that a command needs before it begins.
#![allow(unsafe_code, reason = "a child in the memory of its parent, on a stack of its own")]

use nix::errno::Errno;
use nix::libc;
use nix::unistd::Pid;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr::NonNull;

use crate::fork::CLONE_INTO_CGROUP;

/// The stack of a child; reused by one child after the other.
#[derive(Debug)]
pub(crate) struct Stack(NonNull<libc::c_void>);

const PAGE: usize = 4096;
const SIZE: usize = 128 << 10;

impl Stack {
    pub(crate) fn new() -> io::Result<Stack> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, access, kind, -1, 0) };
        let start = NonNull::new(start).filter(|_| start != libc::MAP_FAILED);
        let stack = Stack(start.ok_or_else(io::Error::last_os_error)?);
        // SAFETY: the first page of our own mapping, which is unused: a child whose stack overflows into it is killed.
        match unsafe { libc::mprotect(stack.0.as_ptr(), PAGE, libc::PROT_NONE) } {
            0 => Ok(stack),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which no child uses any more: `vfork` returns after the child has left it.
        unsafe { libc::munmap(self.0.as_ptr(), SIZE) };
    }
}

/// A child runs `begin` on `data`, born in `cgroup` where there is one. This process goes on when the child has executed a program,
/// or has ended; the caller waits for its end. An error when this system cannot do it: nothing has begun.
///
/// # Safety
/// `begin` must make system calls and nothing else: no allocation, no lock, nothing that unwinds. What it changes it must leave so
/// that this process can go on wherever the child is killed.
pub(crate) unsafe fn vfork<T>(
    stack: &Stack,
    cgroup: Option<BorrowedFd<'_>>,
    begin: extern "C" fn(&T) -> !,
    data: &T,
) -> Result<Pid, Errno> {
    // SAFETY: the structure is plain numbers, for which zero is "not used".
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
    arguments.exit_signal = libc::SIGCHLD as u64;
    arguments.stack = stack.0.as_ptr() as u64;
    arguments.stack_size = SIZE as u64;
    if let Some(cgroup) = cgroup {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = u64::from(cgroup.as_raw_fd().unsigned_abs());
    }
    // SAFETY: arguments and data live through the call. A reference to a sized type is passed as an address. The stack is nobody
    // else's, because this thread waits.
    let result = unsafe { clone3(&arguments, begin as usize, std::ptr::from_ref(data) as usize) };
    if result < 0 {
        return Err(Errno::from_raw(i32::try_from(-result).unwrap_or(libc::EINVAL)));
    }
    Ok(Pid::from_raw(i32::try_from(result).expect("a process id is a pid_t")))
}

/// The C library's own cannot put a child on a stack and into a control group. A negative result is an error number.
///
/// # Safety
/// `arguments` must name a stack that is nobody else's, and `data` be what `child` takes.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3(arguments: &libc::clone_args, child: usize, data: usize) -> isize {
    let result: isize;
    // SAFETY: the kernel changes only the registers that are named, and the child, which has a stack of its own, goes where it
    // does not come back from. The top of the stack is aligned to a page, as a call wants it.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 as isize => result,
            in("rdi") std::ptr::from_ref(arguments),
            in("rsi") size_of::<libc::clone_args>(),
            in("r12") data,
            in("r13") child,
            out("rcx") _,
            out("r11") _,
        );
    }
    result
}

/// Elsewhere commands are started by a fork.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn clone3(_: &libc::clone_args, _: usize, _: usize) -> isize {
    -(libc::ENOSYS as isize)
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use crate::system_calls::exit_now;
    use nix::sys::wait::{WaitStatus, waitpid};
    use std::sync::atomic::{AtomicU64, Ordering};

    fn child<T>(begin: extern "C" fn(&T) -> !, data: &T) -> WaitStatus {
        let stack = Stack::new().unwrap();
        // SAFETY: those below make system calls, and write one number.
        let child = unsafe { vfork(&stack, None, begin, data) }.unwrap();
        waitpid(child, None).unwrap()
    }

    #[test]
    fn a_child_writes_where_its_parent_reads() {
        extern "C" fn tell(told: &AtomicU64) -> ! {
            told.store(7, Ordering::Relaxed);
            exit_now(127)
        }
        let told = AtomicU64::new(0);
        let status = child(tell, &told);
        assert!(matches!(status, WaitStatus::Exited(_, 127)), "{status:?}");
        assert_eq!(told.load(Ordering::Relaxed), 7);
    }

    #[test]
    fn a_child_that_executes_is_another_program() {
        extern "C" fn execute(_: &()) -> ! {
            let argv = [c"true".as_ptr(), std::ptr::null()];
            // SAFETY: both lists end with a null pointer.
            unsafe { libc::execve(c"/bin/true".as_ptr(), argv.as_ptr(), argv[1..].as_ptr()) };
            exit_now(127)
        }
        let status = child(execute, &());
        assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}");
    }
}

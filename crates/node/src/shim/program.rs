//! The program of a command: where it may be, and how it is executed.

use nix::errno::Errno;
use nix::libc;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, NulError};

/// Words as the system takes them: pointers to texts that end with a zero byte, and a null pointer at the end. Put together before
/// there is a child, which must not allocate what it does not give back.
#[derive(Debug)]
pub(super) struct Words {
    pointers: Vec<*const libc::c_char>,
    /// What they point to.
    _texts: Vec<u8>,
}

impl Words {
    pub(super) fn of_argv(argv: &[String]) -> Option<Words> {
        Words::new(argv.iter().map(|word| [word.as_bytes(), b"", b""]))
    }

    pub(super) fn of_environment(variables: &BTreeMap<&str, Cow<'_, str>>) -> Option<Words> {
        Words::new(variables.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()]))
    }

    /// `None` when there is a zero byte inside.
    fn new<'a>(words: impl Iterator<Item = [&'a [u8]; 3]> + Clone) -> Option<Words> {
        let length = words.clone().flatten().map(<[u8]>::len).sum::<usize>();
        let count = words.clone().count();
        let mut texts = Vec::with_capacity(length + count);
        let mut starts = Vec::with_capacity(count);
        for word in words {
            starts.push(texts.len());
            for part in word {
                texts.extend_from_slice(part);
            }
            texts.push(0);
        }
        let zeros = texts.iter().filter(|&&byte| byte == 0).count();
        // The texts stay where they are, wherever the list of them goes.
        let pointers = starts.into_iter().map(|start| texts[start..].as_ptr().cast());
        let pointers = pointers.chain([std::ptr::null()]).collect();
        (zeros == count).then_some(Words { pointers, _texts: texts })
    }
}

/// Where it may be, in the order of the search path.
pub(super) fn places(program: &str, path: &str) -> Result<Vec<CString>, NulError> {
    if program.contains('/') {
        return Ok(vec![CString::new(program)?]);
    }
    path.split(':')
        .map(|place| if place.is_empty() { "." } else { place })
        .map(|place| CString::new(format!("{place}/{program}")))
        .collect()
}

/// Comes back only if it could not.
pub(super) fn execute(program: &CStr, argv: &Words, environment: &Words) -> Errno {
    execute_pointers(program, &argv.pointers, environment)
}

/// A script without a first line.
pub(super) fn execute_by_shell(script: &CStr, argv: &Words, environment: &Words) -> Errno {
    let shell = [c"/bin/sh".as_ptr(), script.as_ptr()];
    let argv: Vec<_> = shell.into_iter().chain(argv.pointers.iter().skip(1).copied()).collect();
    execute_pointers(c"/bin/sh", &argv, environment)
}

fn execute_pointers(program: &CStr, argv: &[*const libc::c_char], environment: &Words) -> Errno {
    // SAFETY: both lists end with a null pointer, and what they point to has zero bytes at its ends and lives on.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), environment.pointers.as_ptr()) };
    Errno::last()
}

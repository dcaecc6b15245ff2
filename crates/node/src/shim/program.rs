//! The program of a command: the paths where it may be, its arguments and environment in the form that `execve` takes.

use super::steps::SHELL;
use nix::libc;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, NulError};

/// Words as the system takes them: pointers to texts that end with a zero byte, and a null pointer at the end. Put together before
/// there is a child, which must not allocate what it does not give back.
#[derive(Debug)]
pub(super) struct Words {
    pointers: Vec<Cell<*const libc::c_char>>,
    /// The first word is the program that is tried, whichever that is.
    pub(super) begins_with_program: bool,
    /// The same for a shell that is to run a script; its second place is kept for the child.
    for_shell: Vec<Cell<*const libc::c_char>>,
    /// What they point to.
    _texts: Vec<u8>,
}

impl Words {
    pub(super) fn of_argv(argv: &[String]) -> Option<Words> {
        let mut words = Words::new(argv.iter().map(|word| [word.as_bytes(), b"", b""]))?;
        let arguments = words.pointers.iter().skip(1).map(Cell::get);
        let for_shell = [SHELL.as_ptr(), std::ptr::null()].into_iter().chain(arguments);
        words.for_shell = for_shell.map(Cell::new).collect();
        Some(words)
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
        let pointers = pointers.chain([std::ptr::null()]).map(Cell::new).collect();
        let (begins_with_program, for_shell) = (false, Vec::new());
        (zeros == count).then_some(Words {
            pointers,
            begins_with_program,
            for_shell,
            _texts: texts,
        })
    }

    pub(super) fn pointers(&self) -> *const *const libc::c_char {
        self.pointers.as_ptr().cast()
    }

    /// For this program. `sh` as the first word would make bash or zsh behave like one.
    pub(super) fn for_program(&self, program: &CStr) -> *const *const libc::c_char {
        if let Some(first) = self.pointers.first().filter(|_| self.begins_with_program) {
            first.set(program.as_ptr());
        }
        self.pointers()
    }

    /// A script without a first line.
    pub(super) fn for_shell(&self, script: &CStr) -> *const *const libc::c_char {
        if let Some(place) = self.for_shell.get(1) {
            place.set(script.as_ptr());
        }
        self.for_shell.as_ptr().cast()
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

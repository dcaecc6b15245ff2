//! Checks the password of an OS user with PAM.
//!
//! libpam is loaded at run time, so that the program also starts where it is not installed. PAM modules may take long.
#![allow(unsafe_code, reason = "PAM is a C library")]

use libloading::Library;
use nix::libc;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use thiserror::Error;

const NAMES: [&str; 2] = ["libpam.so.0", "libpam.so"];
const SUCCESS: c_int = 0;
const CONVERSATION_FAILED: c_int = 19;
const ASKS_SILENTLY: c_int = 1;
const ASKS: c_int = 2;
/// An empty password is refused, even if PAM would accept it.
const DISALLOW_NULL_AUTHTOK: c_int = 1;
/// Of one conversation, as libpam has it.
const MOST_MESSAGES: c_int = 32;

#[derive(Debug, Error)]
pub enum PamError {
    #[error("libpam cannot be loaded: {0}")]
    Missing(libloading::Error),
    #[error("the name or the password is wrong, or the rules of this machine say no")]
    Refused,
}

#[repr(C)]
struct Message {
    style: c_int,
    text: *const c_char,
}

#[repr(C)]
struct Response {
    text: *mut c_char,
    unused: c_int,
}

type Converse =
    unsafe extern "C" fn(c_int, *const *const Message, *mut *mut Response, *mut c_void) -> c_int;

#[repr(C)]
struct Conversation {
    converse: Converse,
    password: *mut c_void,
}

type Start = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const Conversation,
    *mut *mut c_void,
) -> c_int;
type Step = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// Waits for the modules: not on a thread that others wait for.
pub fn check(service: &str, user: &str, password: &str) -> Result<(), PamError> {
    let text = |text: &str| CString::new(text).map_err(|_| PamError::Refused);
    let (service, user, password) = (text(service)?, text(user)?, text(password)?);
    let library = load()?;
    // SAFETY: these are libpam's functions, with the types that its headers give them.
    let (start, authenticate, account, end) = unsafe {
        (
            library.get::<Start>(b"pam_start\0").map_err(PamError::Missing)?,
            library.get::<Step>(b"pam_authenticate\0").map_err(PamError::Missing)?,
            library.get::<Step>(b"pam_acct_mgmt\0").map_err(PamError::Missing)?,
            library.get::<Step>(b"pam_end\0").map_err(PamError::Missing)?,
        )
    };
    let conversation =
        Conversation { converse: answer, password: password.as_ptr().cast_mut().cast() };
    let mut handle = ptr::null_mut();
    // SAFETY: the texts and the conversation live until `pam_end` below; the handle is written before it is used.
    unsafe {
        if start(service.as_ptr(), user.as_ptr(), &raw const conversation, &raw mut handle)
            != SUCCESS
        {
            return Err(PamError::Refused);
        }
        let mut result = authenticate(handle, DISALLOW_NULL_AUTHTOK);
        if result == SUCCESS {
            // Expired, locked or not at this hour.
            result = account(handle, DISALLOW_NULL_AUTHTOK);
        }
        end(handle, result);
        if result == SUCCESS { Ok(()) } else { Err(PamError::Refused) }
    }
}

/// Once: its modules do not all survive being unloaded.
fn load() -> Result<&'static Library, PamError> {
    static LOADED: std::sync::OnceLock<Library> = std::sync::OnceLock::new();
    if let Some(library) = LOADED.get() {
        return Ok(library);
    }
    // SAFETY: libpam has no initialisers that depend on us.
    let mut tried = NAMES.iter().map(|name| unsafe { Library::new(*name) });
    let library = match (tried.next(), tried.next()) {
        (Some(Ok(library)), _) | (_, Some(Ok(library))) => library,
        (Some(Err(error)), _) | (_, Some(Err(error))) => return Err(PamError::Missing(error)),
        (None, None) => return Err(PamError::Refused),
    };
    Ok(LOADED.get_or_init(|| library))
}

/// Answers every prompt with the password; libpam frees the answers.
unsafe extern "C" fn answer(
    count: c_int,
    messages: *const *const Message,
    responses: *mut *mut Response,
    password: *mut c_void,
) -> c_int {
    if !(1..=MOST_MESSAGES).contains(&count) || messages.is_null() || responses.is_null() {
        return CONVERSATION_FAILED;
    }
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: libpam hands over `count` messages and takes as many answers, from the allocator that it frees with;
    // `password` is the text that `check` keeps alive.
    unsafe {
        let answers: *mut Response = libc::calloc(count, size_of::<Response>()).cast();
        if answers.is_null() {
            return CONVERSATION_FAILED;
        }
        let password = CStr::from_ptr(password.cast::<c_char>());
        for place in 0..count {
            let message = *messages.add(place);
            if !message.is_null() && [ASKS_SILENTLY, ASKS].contains(&(*message).style) {
                (*answers.add(place)).text = libc::strdup(password.as_ptr());
            }
        }
        *responses = answers;
    }
    SUCCESS
}

//! Reads the JSON file of the fake, and keeps what has to last between calls: sessions, handles and events.
#![allow(unsafe_code, reason = "asks the dynamic loader where this library is")]

use crate::code::{INVALID_ARGUMENT, SUCCESS, UNINITIALIZED, UNKNOWN};
use crate::world::{FakeGpu, FakeMig, World};
use std::ffi::{CStr, OsStr, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Fake {
    world: World,
    /// Inode, size, and time of the file that was read.
    read: Option<(u64, u64, i64, i64)>,
    path: Option<PathBuf>,
    /// The generation of the world at the last initialisation.
    session: Option<u32>,
    pub(crate) initialisations: u32,
    /// UUIDs; a handle is a position in here, plus one: stable whatever a GPU's number is.
    handles: Vec<String>,
    /// How many Xids of each handle were told.
    pub(crate) xids_told: Vec<(usize, usize)>,
}

/// What a handle stands for.
pub(crate) enum Device<'a> {
    Whole(&'a FakeGpu),
    Part(&'a FakeMig),
}

static FAKE: Mutex<Option<Fake>> = Mutex::new(None);

/// Runs one NVML call: against the file as it is now, inside a session, unless the file says that it fails.
pub(crate) fn call(function: &str, answer: impl FnOnce(&mut Fake) -> c_int) -> c_int {
    let mut guard = lock();
    let fake = guard.get_or_insert_with(Fake::default);
    fake.reload();
    if let Some(code) = fake.world.fail.get(function).filter(|code| **code != SUCCESS) {
        return *code;
    }
    if fake.session != Some(fake.world.generation) {
        return UNINITIALIZED;
    }
    answer(fake)
}

pub(crate) fn begin_session(function: &str) -> c_int {
    let mut guard = lock();
    let fake = guard.get_or_insert_with(Fake::default);
    fake.reload();
    if let Some(code) = fake.world.fail.get(function) {
        return *code;
    }
    fake.session = Some(fake.world.generation);
    fake.initialisations += 1;
    SUCCESS
}

pub(crate) fn end_session() -> c_int {
    match lock().as_mut().and_then(|fake| fake.session.take()) {
        Some(_) => SUCCESS,
        None => UNINITIALIZED,
    }
}

pub(crate) fn initialisations() -> u32 {
    lock().as_ref().map_or(0, |fake| fake.initialisations)
}

fn lock() -> MutexGuard<'static, Option<Fake>> {
    FAKE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fake {
    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn handle(&mut self, uuid: &str) -> usize {
        let position = self.handles.iter().position(|known| known == uuid).unwrap_or_else(|| {
            self.handles.push(uuid.to_owned());
            self.handles.len() - 1
        });
        position + 1
    }

    /// The device behind a handle, or the code that the file wants `function` to answer for it.
    pub(crate) fn device(&self, function: &str, handle: usize) -> Result<Device<'_>, c_int> {
        let uuid =
            handle.checked_sub(1).and_then(|at| self.handles.get(at)).ok_or(INVALID_ARGUMENT)?;
        let mut parts = self.world.gpus.iter().flat_map(|gpu| {
            gpu.mig.iter().flatten().map(move |part| (gpu, part)).filter(|(_, p)| &p.uuid == uuid)
        });
        let (gpu, device) = match self.world.gpus.iter().find(|gpu| &gpu.uuid == uuid) {
            Some(gpu) => (gpu, Device::Whole(gpu)),
            None => {
                let (gpu, part) = parts.next().ok_or(INVALID_ARGUMENT)?;
                (gpu, Device::Part(part))
            }
        };
        match gpu.fail.get(function).copied().unwrap_or(gpu.error) {
            SUCCESS => Ok(device),
            code => Err(code),
        }
    }

    /// A file that cannot be read shows as a driver that answers `UNKNOWN` to everything.
    fn reload(&mut self) {
        let path = self.path.get_or_insert_with(file).clone();
        let Ok(status) = fs::metadata(&path) else {
            self.world = broken();
            self.read = None;
            return;
        };
        let seen = (status.ino(), status.size(), status.mtime(), status.mtime_nsec());
        if self.read == Some(seen) {
            return;
        }
        self.read = Some(seen);
        let text = fs::read(&path).unwrap_or_default();
        self.world = serde_json::from_slice(&text).unwrap_or_else(|error| {
            eprintln!("fakenvml: {}: {error}", path.display());
            broken()
        });
    }
}

fn broken() -> World {
    let mut world = World::default();
    for function in ["nvmlInit_v2", "nvmlInit", "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"] {
        world.fail.insert(function.to_owned(), UNKNOWN);
    }
    world
}

fn file() -> PathBuf {
    match std::env::var_os("DANLU_FAKE_NVML") {
        Some(path) => path.into(),
        None => {
            let mut path = own_path().into_os_string();
            path.push(".json");
            path.into()
        }
    }
}

/// The path that this library was loaded from.
fn own_path() -> PathBuf {
    // SAFETY: `Dl_info` is a struct of pointers, for which all zeros is a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about; `found` outlives the call.
    let known = unsafe { libc::dladdr((&raw const FAKE).cast(), &raw mut found) };
    if known == 0 || found.dli_fname.is_null() {
        return PathBuf::from("fakenvml");
    }
    // SAFETY: `dladdr` succeeded, so this is the loader's own, NUL-ended name of the library.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    OsStr::from_bytes(name.to_bytes()).into()
}

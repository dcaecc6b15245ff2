//! A copy of the fake NVML library with its own JSON file, so that tests do not share GPUs.

use danlu_core::ids::{Epoch, RunId};
use danlu_node::gpu::{Baselines, Monitor, Nvml, Probe, Sampled};
use fakenvml::{FakeProcess, World};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct FakeDriver {
    directory: TempDir,
    pub(crate) world: World,
}

impl FakeDriver {
    pub(crate) fn new(world: World) -> Self {
        Self::without(&[], world)
    }

    /// A library that lacks these functions, as an old driver's does.
    pub(crate) fn without(functions: &[&str], world: World) -> Self {
        let mut library = fs::read(built()).expect("cargo builds libfakenvml.so next to the tests");
        if !functions.is_empty() {
            hide(&mut library, functions);
        }
        let driver = FakeDriver { directory: tempfile::tempdir().unwrap(), world };
        fs::write(driver.library(), library).unwrap();
        driver.publish();
        driver
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.directory.path().join("libnvidia-ml.so.1")
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(&mut World)) {
        change(&mut self.world);
        self.publish();
    }

    pub(crate) fn nvml(&self) -> Nvml {
        Nvml::load(Some(&self.library())).unwrap()
    }

    /// Who processes are is asked of `proc`.
    pub(crate) fn monitor(&self, proc: &Path) -> Monitor {
        let probe = Probe::Nvml(Box::new(self.nvml()));
        Monitor::new(probe, proc.to_owned(), Baselines::default())
    }

    /// How often the library in use was initialised.
    #[expect(unsafe_code, reason = "the fake is a C library")]
    pub(crate) fn initialisations(&self) -> u32 {
        // SAFETY: the project's own library, which is loaded already.
        let library = unsafe { libloading::Library::new(self.library()) }.unwrap();
        // SAFETY: this is its signature.
        let count = unsafe {
            library.get::<unsafe extern "C" fn() -> u32>("fakenvmlInitialisations").unwrap()
        };
        // SAFETY: it may be called at any time.
        unsafe { count() }
    }

    fn publish(&self) {
        let path = self.directory.path().join("libnvidia-ml.so.1.json");
        let draft = path.with_extension("new");
        fs::write(&draft, serde_json::to_vec(&self.world).unwrap()).unwrap();
        fs::rename(draft, path).unwrap();
    }
}

pub(crate) fn process(pid: u32, used: u64) -> FakeProcess {
    FakeProcess { pid, used: Some(used), utilization: None }
}

pub(crate) fn nobody(_pid: u32) -> Option<RunId> {
    None
}

/// Every process that this says yes to is of one run.
pub(crate) fn run_if(is_own: impl Fn(u32) -> bool) -> impl Fn(u32) -> Option<RunId> {
    let run = RunId { epoch: Epoch(1), number: 7 };
    move |pid| is_own(pid).then_some(run)
}

/// `0 idle, 1 foreign 4711/alice, 2 unknown`, with the last four digits of the UUID in between.
pub(crate) fn summary(sampled: &Sampled) -> Vec<String> {
    use danlu_core::gpu::GpuCondition::{Dirty, Foreign, Idle, Missing, Unknown};
    let one = |report: &danlu_core::gpu::GpuReport| {
        let id = &report.id.0[report.id.0.len() - 4..];
        let condition = match &report.condition {
            Idle => "idle".to_owned(),
            Unknown => "unknown".to_owned(),
            Dirty => "dirty".to_owned(),
            Missing => "missing".to_owned(),
            Foreign { processes } => {
                let who =
                    processes.iter().map(|process| format!("{}/{}", process.pid, process.user));
                format!("foreign {}", who.collect::<Vec<_>>().join(" "))
            }
        };
        format!("{} {id} {condition}", report.index)
    };
    sampled.reports.iter().map(one).collect()
}

fn built() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().join("libfakenvml.so")
}

/// Gives the functions other names in the library's table of names. The table of hashes still has the old ones, so
/// that the loader finds them under neither.
fn hide(library: &mut [u8], functions: &[&str]) {
    let names: Vec<Vec<u8>> =
        functions.iter().map(|name| format!("\0{name}\0").into_bytes()).collect();
    let starts: Vec<usize> =
        (1..library.len()).filter(|at| library[*at] == b'n' && library[at - 1] == 0).collect();
    for (name, function) in names.iter().zip(functions) {
        let places = starts.iter().filter(|at| library[*at - 1..].starts_with(name));
        let places: Vec<usize> = places.copied().collect();
        assert!(!places.is_empty(), "the library has no {function}");
        for at in places {
            library[at] = b'x';
        }
    }
}

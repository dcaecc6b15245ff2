//! Two GPUs that a test controls: NVIDIA ones of the fake driver, or simulated ones.

use std::{
    fs,
    path::{Path, PathBuf},
};

use fakenvml::{FakeGpu, FakeProcess, World};
use serde_json::json;

use crate::support::daemon::{Daemon, Setup};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GpuSource {
    Nvml,
    Simulated,
}

/// What is seen of one GPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct GpuReading {
    /// Each uses a gigabyte.
    pub(crate) pids: Vec<u32>,
    /// Memory that no process explains.
    pub(crate) unexplained: u64,
    /// It does not answer.
    pub(crate) broken: bool,
}

pub(crate) struct TwoGpus {
    pub(crate) daemon: Daemon,
    kind: GpuSource,
    file: PathBuf,
    cards: [GpuReading; 2],
}

pub(crate) const GIGABYTE: u64 = 1 << 30;

impl TwoGpus {
    pub(crate) fn new(kind: GpuSource) -> TwoGpus {
        TwoGpus::found_as(kind, [GpuReading::default(), GpuReading::default()])
    }

    /// With a configuration file.
    pub(crate) fn configured(kind: GpuSource, config: &str) -> TwoGpus {
        TwoGpus::start(kind, [GpuReading::default(), GpuReading::default()], Some(config))
    }

    /// As the server finds them when it starts.
    pub(crate) fn found_as(kind: GpuSource, cards: [GpuReading; 2]) -> TwoGpus {
        TwoGpus::start(kind, cards, None)
    }

    fn start(kind: GpuSource, cards: [GpuReading; 2], config: Option<&str>) -> TwoGpus {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (mut setup, file) = match kind {
            GpuSource::Nvml => {
                let file = directory.path().join("gpus.json");
                let library = built_library().display().to_string();
                let fake = ("DANLU_FAKE_NVML".to_owned(), file.display().to_string());
                let variables = vec![("DANLU_NVML_PATH".to_owned(), library), fake];
                (Setup { arguments: Vec::new(), variables, ..Setup::simulated(2) }, file)
            }
            GpuSource::Simulated => {
                let file = directory.path().join("data/simulated/gpus.json");
                fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
                (Setup::simulated(2), file)
            }
        };
        if let Some(text) = config {
            let path = directory.path().join("danlu.toml");
            fs::write(&path, text).expect("it can be written");
            setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
        }
        publish(kind, &file, &cards);
        let daemon = Daemon::start_in(directory, setup);
        TwoGpus { daemon, kind, file, cards }
    }

    pub(crate) fn change(&mut self, index: usize, change: impl FnOnce(&mut GpuReading)) {
        change(&mut self.cards[index]);
        publish(self.kind, &self.file, &self.cards);
    }

    pub(crate) fn state(&self, index: usize) -> String {
        let gpus = self.daemon.json(&["gpus", "--json"]);
        gpus["gpus"][index]["state"].as_str().expect("a state").to_owned()
    }
}

/// Two free GPUs, as the fake driver shows them.
pub(crate) fn publish_nvidia(file: &Path) {
    publish(GpuSource::Nvml, file, &[GpuReading::default(), GpuReading::default()]);
}

/// Whole or not at all, whenever somebody reads it.
fn publish(kind: GpuSource, file: &Path, cards: &[GpuReading; 2]) {
    let text = match kind {
        GpuSource::Nvml => serde_json::to_vec(&World {
            gpus: (0..).zip(cards).map(|(number, card)| nvidia(number, card)).collect(),
            ..World::default()
        }),
        GpuSource::Simulated => {
            let [first, second] = cards.each_ref().map(simulated);
            serde_json::to_vec(&json!({ "gpus": { "0": first, "1": second } }))
        }
    };
    let draft = file.with_extension("new");
    fs::write(&draft, text.expect("it is JSON")).expect("it can be written");
    fs::rename(draft, file).expect("it can be replaced");
}

fn nvidia(number: u32, card: &GpuReading) -> FakeGpu {
    let process = |pid: &u32| FakeProcess { pid: *pid, used: Some(GIGABYTE), utilization: None };
    FakeGpu {
        compute: card.pids.iter().map(process).collect(),
        used: card.pids.len() as u64 * GIGABYTE + card.unexplained,
        // "Unknown", as a card says that has fallen off the bus.
        error: if card.broken { 999 } else { 0 },
        ..FakeGpu::number(number)
    }
}

fn simulated(card: &GpuReading) -> serde_json::Value {
    let process = |pid: &u32| json!({ "pid": pid, "memory": GIGABYTE });
    json!({
        "processes": card.pids.iter().map(process).collect::<Vec<_>>(),
        "memory_used": card.unexplained,
        "error": card.broken.then_some("it does not answer"),
    })
}

/// Cargo builds it next to the tests.
pub(crate) fn built_library() -> PathBuf {
    std::env::current_exe().expect("this program").with_file_name("libfakenvml.so")
}

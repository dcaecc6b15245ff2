//! The script of simulated GPUs: a JSON file with everything that differs from an idle GPU.
//!
//! ```json
//! {"gpus": {"0": {"processes": [{"pid": 4711, "user": "alice", "memory": 8589934592}]},
//!           "1": {"absent": true}},
//!  "nvlink": [[2, 3]]}
//! ```

use crate::gpu::bounded_read::start_of;
use crate::gpu::error::ProbeError;
use crate::private;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

const LONGEST: u64 = 4 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// By the number that the GPU was made with; others are idle. A number beyond the count adds a GPU.
    pub gpus: BTreeMap<u32, ScriptGpu>,
    /// Numbers of GPUs that NVLink connects.
    pub nvlink: Vec<[u32; 2]>,
    /// The whole probe fails with this message.
    pub error: Option<String>,
    /// Seconds that a task takes until it uses the memory that it asked for with `--vram`.
    pub growth: f64,
    /// Free memory of the machine in bytes; default: not reported.
    pub free_memory: Option<u64>,
    /// Tasks put a load on their GPUs, unless that is off altogether.
    pub load: bool,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            gpus: BTreeMap::new(),
            nvlink: Vec::new(),
            error: None,
            growth: 0.0,
            free_memory: None,
            load: true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptGpu {
    /// Its identity, where it is to be that of a GPU elsewhere.
    pub id: Option<String>,
    pub model: String,
    /// Bytes.
    pub memory: u64,
    /// Bytes besides what the processes use.
    pub memory_used: u64,
    pub utilization: u8,
    pub temperature: i32,
    pub power: f32,
    /// The PCI bus, by which GPUs are numbered; its own number unless told.
    pub bus: Option<u8>,
    pub processes: Vec<ScriptProcess>,
    /// The GPU is gone.
    pub absent: bool,
    /// The probe of this GPU fails with this message.
    pub error: Option<String>,
    pub xid: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptProcess {
    pub pid: u32,
    /// Left out for a real process, which may also be one of a run.
    #[serde(default)]
    pub user: Option<String>,
    /// Bytes.
    #[serde(default)]
    pub memory: Option<u64>,
    #[serde(default)]
    pub command: String,
    #[serde(default)]
    pub container: Option<String>,
    #[serde(default)]
    pub stopped: bool,
}

impl Default for ScriptGpu {
    fn default() -> Self {
        ScriptGpu {
            id: None,
            model: "Simulated GPU".to_owned(),
            memory: 24 << 30,
            memory_used: 0,
            utilization: 0,
            temperature: 30,
            power: 20.0,
            bus: None,
            processes: Vec::new(),
            absent: false,
            error: None,
            xid: None,
        }
    }
}

impl ScriptProcess {
    /// A process that does not exist.
    pub fn invented(pid: u32, user: &str, memory: u64) -> Self {
        ScriptProcess { user: Some(user.to_owned()), ..ScriptProcess::real(pid, memory) }
    }

    /// One that does, or that a run will start.
    pub fn real(pid: u32, memory: u64) -> Self {
        let (user, command, container) = (None, String::new(), None);
        ScriptProcess { pid, user, memory: Some(memory), command, container, stopped: false }
    }
}

impl Script {
    /// No file is an empty script.
    pub fn load(path: &Path) -> Result<Script, ProbeError> {
        let bytes = match start_of(path, LONGEST + 1) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Script::default()),
            Err(error) => return Err(ProbeError::file("read", path, &error)),
        };
        let mistake = |line, column, reason| ProbeError::Script {
            path: path.to_owned(),
            line,
            column,
            reason,
        };
        if bytes.len() as u64 > LONGEST {
            return Err(mistake(1, 1, format!("it is longer than {LONGEST} bytes")));
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            let text = error.to_string();
            let (reason, _) = text.split_once(" at line ").unwrap_or((&text, ""));
            mistake(error.line(), error.column(), reason.to_owned())
        })
    }

    /// Replaces the file atomically.
    pub fn save(&self, path: &Path) -> Result<(), ProbeError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| ProbeError::File {
            action: "describe the GPUs in",
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        private::replace(path, &text).map_err(|error| ProbeError::file("replace", path, &error))
    }

    /// The GPU of that number, to be changed.
    pub fn gpu(&mut self, number: u32) -> &mut ScriptGpu {
        self.gpus.entry(number).or_default()
    }

    pub(super) fn neighbours(&self, number: u32) -> impl Iterator<Item = u32> {
        self.nvlink.iter().filter_map(move |[one, other]| match () {
            () if *one == number => Some(*other),
            () if *other == number => Some(*one),
            () => None,
        })
    }
}

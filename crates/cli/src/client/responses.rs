//! Responses of the API that only the command line reads.

use danlu_core::Request;
use danlu_wire::api::{Document, OneTask, TaskView};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Client, Problem};

#[derive(Debug, Deserialize)]
pub(crate) struct WhoAmI {
    pub(crate) user: String,
    pub(crate) admin: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Why {
    pub(crate) why: WhyTask,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WhyTask {
    pub(crate) task: TaskView,
    pub(crate) expected_start_at: Option<String>,
    /// What it asks for. `None` where it does not wait, and from an older server.
    #[serde(default)]
    pub(crate) needs: Option<Request>,
    #[serde(flatten)]
    pub(crate) details: danlu_core::explain::why::Why,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SettingsAnswer {
    pub(crate) settings: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ConfigAnswer {
    pub(crate) config: Vec<ConfigEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ConfigEntry {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) origin: String,
}

impl Client {
    pub(crate) fn who_am_i(&self) -> Result<WhoAmI, Problem> {
        self.get("/whoami")
    }

    /// Returns when it runs or has ended, after a while at the latest.
    pub(crate) fn wait_until_running(&self, id: u64) {
        // Whatever went wrong shows again when the task is looked at.
        let _ = self.get_document(&format!("/wait?ids={id}&until=running,paused,stopping,lost"));
    }

    pub(crate) fn task(&self, id: u64) -> Result<TaskView, Problem> {
        let document: Document<OneTask> = self.get(&format!("/tasks/{id}"))?;
        Ok(document.content.task)
    }
}

//! Messages that people are sent: channels, deliveries, alerts for free GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /notify/channels`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ChannelList {
    pub channels: Vec<ChannelView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelView {
    /// For `--notify …:NAME`; `email` is the address of one's account.
    pub name: String,
    /// `email`, `webhook`, `slack`, `feishu`, `dingtalk`, `wecom`, `ntfy` or `command`.
    pub kind: String,
    /// The last attempts in a row that failed; admins see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<u32>,
    /// What the other side said to the last of them; admins see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// `POST /notify/test`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotifyTest {
    /// A channel or an e-mail address; left out: where I am told usually.
    pub to: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NotifyTested {
    pub tests: Vec<TestedTarget>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedTarget {
    pub to: String,
    pub delivered: bool,
    /// What the other side said.
    pub answer: String,
}

/// `GET /notify/messages`: newest first; one's own, or everybody's for admins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MessageList {
    pub messages: Vec<MessageView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    /// The one that receivers get with it.
    pub id: String,
    pub to: String,
    /// Whose settings it is because of; none: it is for administrators.
    pub user: Option<String>,
    /// `start`, `end`, `digest`, `node_lost` and so on.
    pub kind: String,
    /// Of one task.
    pub task: Option<u64>,
    /// `waiting`, `sent`, `failed` or `dropped`.
    pub state: String,
    pub created_at: String,
    /// When it was sent or given up, or is tried next.
    pub at: String,
    pub attempts: u32,
    /// What the other side said last.
    pub answer: String,
}

/// `GET /notify/watches`: my alerts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Watches {
    pub watches: Vec<WatchView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchView {
    pub id: i64,
    pub user: String,
    pub gpus: u32,
    pub model: Option<String>,
    pub node: Option<String>,
    /// Each time; else once.
    pub always: bool,
}

/// `POST /notify/watches`: tell me when so many GPUs are free on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWatch {
    #[schemars(range(min = 1, max = 128))]
    pub gpus: u32,
    /// A part of its name, such as `A100`.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub node: Option<String>,
    #[serde(default)]
    pub always: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedWatch {
    pub watch: WatchView,
}

//! Example request bodies, which the API description does not have.

use serde_json::{Value, json};

/// For what has no required field, or one that says little by itself.
pub(super) fn body(method: &str, path: &str) -> Option<Value> {
    Some(match (method, path) {
        ("post", "/tasks") => {
            json!({ "command": ["python", "train.py"], "directory": "/home/ann", "gpus": 2, "time_limit": 7200 })
        }
        ("post", "/tasks/act") => json!({ "act": "cancel", "ids": [12, 13] }),
        ("patch", "/tasks/{id}") => json!({ "gpus": 1 }),
        ("post", "/tasks/{id}/{act}") => json!({}),
        ("patch", "/settings") => json!({ "key": "order", "value": "fair" }),
        ("patch", "/users/{name}") => json!({ "priority": 2, "running_gpus": 4 }),
        ("patch", "/me") => json!({ "email": "ann@lab.example", "language": "zh" }),
        ("put", "/me/nodes/{name}") => {
            json!({ "ssh_user": "asmith", "key": "-----BEGIN OPENSSH PRIVATE KEY-----…" })
        }
        ("put", "/me/template") => json!({ "template": { "gpus": 1, "time_limit": 86_400 } }),
        ("post", "/tokens") => json!({ "name": "board", "scope": "read", "expires": "30d" }),
        ("post", "/nodes") => json!({ "name": "gpu2", "ssh": "gpu2.lab.example" }),
        ("post", "/gpus/act") => json!({ "disable": [3] }),
        ("post", "/archive" | "/archive/lines") => json!({ "older_than": 2_592_000 }),
        ("post", "/command") => json!({ "line": "schedule balance" }),
        ("post", "/users") => json!({ "name": "ann", "one_time_password": true }),
        _ => return None,
    })
}

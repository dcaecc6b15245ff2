//! JSON schemas of fields whose types are defined in core, which does not depend on schemars.

use danlu_core::FailureClass;
use danlu_core::notify_rule::NotifyMoment;
use schemars::{Schema, SchemaGenerator, json_schema};

pub(super) fn failure_classes(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = FailureClass::ALL.iter().map(|class| class.as_str()).collect();
    json_schema!({ "type": ["array", "null"], "items": { "enum": names } })
}

pub(super) fn dependencies(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["array", "null"], "items": {
        "type": "object",
        "properties": {
            "task": { "type": "integer", "format": "uint64", "minimum": 0 },
            "kind": { "enum": ["after_ok", "after_any", "after_not_ok"] },
        },
        "required": ["task", "kind"],
    } })
}

pub(super) fn notify_rules(_: &mut SchemaGenerator) -> Schema {
    let moments: Vec<&str> = NotifyMoment::ALL.iter().map(|moment| moment.as_str()).collect();
    json_schema!({ "type": ["array", "null"], "items": {
        "type": "object",
        "properties": {
            "on": { "type": "array", "items": { "enum": moments } },
            "to": { "type": ["string", "null"], "description": "A channel or an e-mail address; left out: where the owner is told usually." },
        },
        "required": ["on"],
        "additionalProperties": false,
    } })
}

pub(super) fn output(_: &mut SchemaGenerator) -> Schema {
    let path = |how: &str| {
        let file = json_schema!({
            "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
        });
        json_schema!({ "type": "object", "properties": { how: file }, "required": [how], "additionalProperties": false })
    };
    let stream = json_schema!({ "anyOf": [
        { "type": "null" }, { "const": "discard" }, path("append"), path("truncate"),
    ] });
    json_schema!({
        "type": ["object", "null"],
        "properties": { "both": { "type": ["string", "null"] }, "stdout": stream, "stderr": stream },
        "additionalProperties": false,
    })
}

pub(super) fn python(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "null" }, one_of("conda"), one_of("venv")] })
}

pub(super) fn node(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "null" }, one_of("name"), {
        "type": "object",
        "properties": { "label": {
            "type": "object",
            "properties": { "key": { "type": "string" }, "value": { "type": "string" } },
            "required": ["key", "value"],
        } },
        "required": ["label"],
        "additionalProperties": false,
    }] })
}

/// `{"name": "text"}`.
fn one_of(name: &str) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { name: { "type": "string" } },
        "required": [name],
        "additionalProperties": false,
    })
}

//! The OpenAPI description, generated from the list of endpoints.

use super::routes::{Access, Endpoint, ResponseKind, all};
use axum::http::header;
use axum::response::IntoResponse;
use danlu_wire::api::ErrorDocument;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}

/// As it is served, and as the project keeps it to see what changes.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&whole()).unwrap_or_default();
    text.push('\n');
    text
});

fn whole() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let error = generator.subschema_for::<ErrorDocument>();
    let mut paths = Map::new();
    for route in all() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(&route, &mut generator);
    }
    let content = json!({ "application/json": { "schema": error } });
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Danlu",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "GPU tasks for labs. Times are RFC 3339, lengths of time seconds, sizes bytes. Fields may be added; none changes or goes away within a version.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/api/v1" }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": { "Error": { "description": "No, with what to do about it", "content": content } },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": super::caller::PLAIN_COOKIE },
            },
        },
    });
    say_what_holds(&mut document);
    document
}

/// Adds the bounds of integers, and removes `uniqueItems`, which is not enforced.
fn say_what_holds(part: &mut Value) {
    match part {
        Value::Array(parts) => parts.iter_mut().for_each(say_what_holds),
        Value::Object(fields) => {
            fields.remove("uniqueItems");
            // Keys that are GPU numbers.
            let numbers = fields.get_mut("patternProperties").and_then(Value::as_object_mut);
            if let Some(numbers) = numbers
                && let Some(schema) = numbers.remove(r"^\d+$")
            {
                numbers.insert(r"^(0|[1-9]\d{0,8})$".to_owned(), schema);
            }
            let most = match fields.get("format").and_then(Value::as_str) {
                Some("uint32") => Some(u64::from(u32::MAX)),
                Some("int32") => Some(i32::MAX as u64),
                Some("uint" | "uint64") => Some(u64::MAX),
                Some("int64") => Some(i64::MAX as u64),
                _ => None,
            };
            if let Some(most) = most {
                fields.entry("maximum").or_insert(json!(most));
            }
            if matches!(fields.get("format").and_then(Value::as_str), Some("int32")) {
                fields.entry("minimum").or_insert(json!(i32::MIN));
            }
            fields.values_mut().for_each(say_what_holds);
        }
        _ => {}
    }
}

fn operation(route: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = path_parameters(route.path);
    if let Some(query) = route.query {
        let schema = resolved(query(generator).to_value(), generator);
        parameters.extend(query_parameters(&schema));
    }
    let description = "Done";
    let success = match &route.answer {
        ResponseKind::Json(schema) => {
            let schema = schema(generator);
            json!({ "description": description, "content": { "application/json": { "schema": schema } } })
        }
        ResponseKind::Log => json!({ "description": "The bytes as they were printed", "content": {
            "text/plain": {}, "text/event-stream": {},
        } }),
        ResponseKind::Events => {
            json!({ "description": "Events as they happen", "content": { "text/event-stream": {} } })
        }
        ResponseKind::Metrics => {
            json!({ "description": "The text format of Prometheus", "content": { "text/plain": {} } })
        }
        ResponseKind::Csv => json!({ "description": "Lines", "content": { "text/csv": {} } }),
        ResponseKind::Svg => {
            json!({ "description": "A picture", "content": { "image/svg+xml": {} } })
        }
        ResponseKind::Archive => {
            json!({ "description": "A tar archive", "content": { "application/x-tar": {} } })
        }
    };
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "x-who": route.who.name(),
        "parameters": parameters,
        "responses": {
            route.status.to_string(): success,
            "default": { "$ref": "#/components/responses/Error" },
        },
        "security": match route.who {
            Access::Anybody => json!([]),
            Access::Reader | Access::Submitter | Access::Person | Access::Admin | Access::Scraper => {
                json!([{ "token": [] }, { "session": [] }])
            }
        },
    });
    if route.path == "/tasks" && route.method == "post" {
        operation["responses"]["200"] = json!({ "description": "Where and when it would start", "content": {
            "application/json": { "schema": generator.subschema_for::<danlu_wire::api::Document<danlu_wire::api::DryRun>>() },
        } });
        operation["parameters"] = json!([{
            "name": "Idempotency-Key", "in": "header", "required": false, "schema": { "type": "string" },
            "description": "The same key with the same task queues it once, however often it is sent",
        }]);
    }
    if let Some(body) = route.body {
        let schema = body(generator);
        let content = json!({ "application/json": { "schema": schema } });
        // Most actions need no body.
        let required = !route.path.ends_with("/{act}");
        operation["requestBody"] = json!({ "required": required, "content": content });
    }
    operation
}

fn operation_id(route: &Endpoint) -> String {
    let words = route.path.split('/').filter(|word| !word.is_empty());
    let words: Vec<String> =
        words.map(|word| word.trim_matches(['{', '}']).replace(['.', '-'], "_")).collect();
    format!("{}_{}", route.method, words.join("_"))
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'));
    let one = |name: &str| {
        let is_number = path.starts_with("/tasks") || path.starts_with("/notify/watches");
        let schema = match (name, is_number) {
            ("id", true) => json!({ "type": "integer", "format": "uint64", "minimum": 0 }),
            ("act", false) => {
                json!({ "type": "string", "enum": ["drain", "undrain", "accept", "check"] })
            }
            ("act", true) => json!({ "type": "string", "enum": [
                "cancel", "hold", "release", "pause", "resume", "retry", "start", "move", "extend", "keep", "requeue",
                "remove",
            ] }),
            _ => json!({ "type": "string", "minLength": 1 }),
        };
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    };
    names.map(one).collect()
}

/// The fields of the schema, each as a parameter.
fn query_parameters(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let one = |(name, schema): (&String, &Value)| {
        json!({
            "name": name,
            "in": "query",
            "required": required.contains(&name.as_str()),
            "description": schema["description"],
            "schema": without_null(schema.clone()),
        })
    };
    fields.map(one).map(without_empty_description).collect()
}

/// In an address there is no `null`: a parameter is there or not.
fn without_null(mut schema: Value) -> Value {
    if let Some(kinds) = schema["type"].as_array() {
        let kinds: Vec<Value> = kinds.iter().filter(|kind| **kind != "null").cloned().collect();
        schema["type"] = if kinds.len() == 1 { kinds[0].clone() } else { Value::Array(kinds) };
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let kept: Vec<Value> =
            choices.iter().filter(|choice| choice["type"] != "null").cloned().collect();
        schema["anyOf"] = Value::Array(kept);
    }
    let fields = schema.as_object_mut().into_iter();
    fields.for_each(|fields| fields.retain(|name, value| name != "default" && !value.is_null()));
    schema
}

fn without_empty_description(mut parameter: Value) -> Value {
    if let Some(fields) = parameter.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    parameter
}

fn resolved(schema: Value, generator: &SchemaGenerator) -> Value {
    let name = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let found = name.and_then(|name| generator.definitions().get(name));
    found.cloned().unwrap_or(schema)
}

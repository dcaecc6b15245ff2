//! The API reference for people: every endpoint with its access, request, response and an example, from the OpenAPI
//! description.

mod examples;

use super::page::{HTML, page};
use super::page_context::{PageContext, Visit};
use crate::api::routes::Access;
use crate::api::{Api, openapi};
use askama::Template;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::response::{IntoResponse as _, Response};
use danlu_messages::addresses;
use danlu_messages::web::{manual as msg, pages};
use serde_json::{Value, json};
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&openapi::TEXT).unwrap_or_default());

#[derive(Template)]
#[template(path = "manual.html")]
struct ManualPage<'a> {
    context: &'a PageContext,
    groups: Vec<Group>,
}

/// Addresses that begin alike.
struct Group {
    name: String,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    who: &'static str,
    parameters: Vec<Field>,
    body: Vec<Field>,
    answer: Vec<Field>,
    status: String,
    example: String,
}

struct Field {
    name: String,
    kind: String,
    required: bool,
    about: String,
}

/// Readable without an account, as the API description itself.
pub(super) async fn manual(State(api): State<Api>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let context = match Visit::from_request_parts(&mut parts, &api).await {
        Ok(visit) => visit.context,
        Err(_) => PageContext::new(&api, &parts.headers, &parts.uri, None),
    };
    let groups = groups();
    let shown = page(&ManualPage { context: &context, groups });
    (HTML, shown).into_response()
}

fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (path, methods) in DOCUMENT["paths"].as_object().into_iter().flatten() {
        let name = path.split('/').nth(1).unwrap_or_default().to_owned();
        let at = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
            groups.push(Group { name, operations: Vec::new() });
            groups.len() - 1
        });
        let all = methods.as_object().into_iter().flatten();
        groups[at].operations.extend(all.map(|(method, it)| operation(path, method, it)));
    }
    // What people ask for most has most addresses.
    groups.sort_by_key(|group| std::cmp::Reverse(group.operations.len()));
    groups
}

fn operation(path: &str, method: &str, it: &Value) -> Operation {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parameters = it["parameters"].as_array().into_iter().flatten().map(|parameter| Field {
        name: text(&parameter["name"]),
        kind: kind(&parameter["schema"]),
        required: parameter["required"] == true,
        about: text(&parameter["description"]),
    });
    let body = &it["requestBody"]["content"]["application/json"]["schema"];
    let mut answers = it["responses"].as_object().into_iter().flatten();
    let (status, answer) =
        answers.rfind(|(status, _)| *status != "default").unwrap_or((&NONE, &Value::Null));
    Operation {
        id: text(&it["operationId"]),
        method: method.to_uppercase(),
        path: format!("/api/v1{path}"),
        summary: addresses::summary(method, path, it["summary"].as_str().unwrap_or_default())
            .to_owned(),
        who: Access::named(&text(&it["x-who"])).map_or("", who),
        parameters: parameters.collect(),
        body: fields(body),
        answer: fields(&answer["content"]["application/json"]["schema"]),
        status: status.clone(),
        example: example(method, path, body),
    }
}

static NONE: String = String::new();

fn who(access: Access) -> &'static str {
    match access {
        Access::Anybody => msg::anybody(),
        Access::Reader => msg::any_account_any_token(),
        Access::Submitter => msg::accounts_and_submit_tokens(),
        Access::Person => msg::oneself_and_admin_tokens(),
        Access::Admin => msg::administrators(),
        Access::Scraper => msg::administrators_and_metrics_readers(),
    }
}

/// Of an object, as far as its first level.
fn fields(schema: &Value) -> Vec<Field> {
    let schema = resolved(schema);
    let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(name, property): (&String, &Value)| Field {
        name: name.clone(),
        kind: kind(property),
        required: required.iter().any(|it| *it == name),
        about: property["description"].as_str().unwrap_or_default().to_owned(),
    };
    properties.map(field).collect()
}

fn resolved(schema: &Value) -> &Value {
    let name = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    name.map_or(schema, |name| &DOCUMENT["components"]["schemas"][name])
}

/// In a few words: `integer`, `string or null`, `list of string`.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        let inner = resolved(schema);
        let named = inner["type"] == "object" || inner["oneOf"].is_array();
        return if named { name.to_owned() } else { kind(inner) };
    }
    let words = |list: &[Value], word: &dyn Fn(&Value) -> String| {
        list.iter().map(word).collect::<Vec<_>>().join(" | ")
    };
    if let Some(choices) = schema["enum"].as_array() {
        return words(choices, &|choice| choice.to_string());
    }
    if !schema["const"].is_null() {
        return schema["const"].to_string();
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return words(choices, &kind);
    }
    match &schema["type"] {
        Value::String(kind_name) if kind_name == "array" => format!("[{}]", kind(&schema["items"])),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => words(kinds, &|kind| kind.as_str().unwrap_or_default().to_owned()),
        _ => String::from("any"),
    }
}

fn example(method: &str, path: &str, body: &Value) -> String {
    let method_words =
        if method == "get" { String::new() } else { format!("-X {} ", method.to_uppercase()) };
    let address = path
        .replace("{id}", "12")
        .replace("{name}", "ann")
        .replace("{act}", if path.starts_with("/nodes") { "drain" } else { "cancel" });
    let mut lines = vec![format!("curl {method_words}-H \"Authorization: Bearer $DANLU_TOKEN\"")];
    if body.is_object() {
        lines.push(String::from("-H 'Content-Type: application/json'"));
        lines.push(format!("-d '{}'", examples::body(method, path).unwrap_or_else(|| least(body))));
    }
    lines.push(format!("\"$DANLU_SERVER/api/v1{address}\""));
    lines.join(" \\\n     ")
}

/// What has to be there, with values of the right kind.
fn least(schema: &Value) -> Value {
    let fields = fields(schema).into_iter().filter(|field| field.required);
    let value = |kind: &str| match kind {
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        kind if kind.starts_with('[') => json!([]),
        kind if kind.starts_with('"') => {
            json!(kind.split(" | ").next().unwrap_or_default().trim_matches('"'))
        }
        _ => json!("…"),
    };
    Value::Object(fields.map(|field| (field.name, value(&field.kind))).collect())
}

impl ManualPage<'_> {
    fn heading(&self, group: &Group) -> String {
        let count = group.operations.len();
        msg::name_count(&group.name, &count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::Language;

    #[test]
    fn every_address_is_there_in_both_languages_with_who_may_ask_and_how() {
        let (english, chinese) =
            (Language::English.within(groups), Language::Chinese.within(groups));
        let all: Vec<&Operation> = chinese.iter().flat_map(|group| &group.operations).collect();
        assert!(all.len() > 40, "{}", all.len());
        for operation in &all {
            let place = format!("{} {}", operation.method, operation.path);
            assert!(!operation.summary.is_ascii(), "{place} has no Chinese words");
            assert!(operation.example.contains("curl"), "{place}");
            assert!(!operation.who.is_empty() && !operation.status.is_empty(), "{place}");
        }
        let submit = english.iter().flat_map(|group| &group.operations);
        let submit = submit.into_iter().find(|it| it.id == "post_tasks").expect("it is there");
        assert!(submit.body.iter().any(|field| field.name == "command"));
        assert!(submit.example.contains("command"), "{}", submit.example);
    }
}

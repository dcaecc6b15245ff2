//! Shows generated passwords and tokens, once.

use super::page::page;
use super::page_context::PageContext;
use askama::Template;
use axum::response::Response;
use danlu_messages::web::pages;

#[derive(Template)]
#[template(path = "secrets.html")]
struct SecretsPage<'a> {
    context: &'a PageContext,
    title: &'a str,
    explanation: &'a str,
    secrets: Vec<(String, String)>,
    problems: Vec<(String, String)>,
    back: &'a str,
}

/// Who or what each is for, and what could not be made.
pub(super) fn shown_once(
    context: &PageContext,
    (title, explanation): (&str, &str),
    secrets: Vec<(String, String)>,
    problems: Vec<(String, String)>,
    back: &str,
) -> Response {
    page(&SecretsPage { context, title, explanation, secrets, problems, back })
}

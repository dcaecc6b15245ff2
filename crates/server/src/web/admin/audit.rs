//! The audit log page.

use crate::api::{Api, audit};
use crate::web::moment::Moment;
use crate::web::page::{PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use askama::Template;
use axum::extract::{Query, State};
use danlu_messages::{acts, web::pages};
use danlu_wire::api::AuditView;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "admin_audit.html")]
struct AuditPage<'a> {
    context: &'a PageContext,
    entries: Vec<AuditView>,
    next: Option<i64>,
    target: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct AuditPageQuery {
    cursor: Option<i64>,
    target: String,
}

pub(in crate::web) async fn list(
    State(api): State<Api>,
    visit: Visit,
    Query(AuditPageQuery { cursor, target }): Query<AuditPageQuery>,
) -> PageResult {
    let only = Some(target.trim().to_owned()).filter(|target| !target.is_empty());
    let query = audit::AuditQuery { cursor, limit: None, target: only };
    let audit = audit::read(&api, &visit.caller, query).await.map_err(visit.no())?;
    Ok(page(&AuditPage {
        context: &visit.context,
        entries: audit.entries,
        next: audit.next_cursor,
        target,
    }))
}

impl AuditPage<'_> {
    fn act<'a>(&self, act: &'a str) -> &'a str {
        acts::act(act)
    }

    fn time(&self, text: &str) -> Moment {
        Moment::read(text, self.context.now)
            .unwrap_or(Moment::new(self.context.now, self.context.now))
    }
}
